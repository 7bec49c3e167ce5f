package ssi

import (
	"testing"
	"time"
)

// The wanted values are those of date(1) of GNU coreutils in the C locale.
func TestAppendTime(t *testing.T) {
	zone := time.FixedZone("MSK", 3*3600)
	sunday := time.Date(2024, 3, 10, 15, 4, 5, 0, zone)
	newYear := time.Date(2021, 1, 1, 0, 0, 0, 0, zone) // a Friday, in week 53 of 2020
	for _, tt := range []struct {
		t            time.Time
		format, want string
	}{
		{sunday, DefaultTimeFormat, "Sunday, 10-Mar-2024 15:04:05 MSK"},
		{sunday, "%a %A %b %B %h", "Sun Sunday Mar March Mar"},
		{sunday, "%c|%D|%F|%r|%R|%T|%x|%X", "Sun Mar 10 15:04:05 2024|03/10/24|2024-03-10|03:04:05 PM|15:04|15:04:05|03/10/24|15:04:05"},
		{sunday, "%C %y %Y %G %g", "20 24 2024 2024 24"},
		{sunday, "%d %e %H %I %k %l %M %S %j %m", "10 10 15 03 15  3 04 05 070 03"},
		{sunday, "%p %P %z %Z %s", "PM pm +0300 MSK 1710072245"},
		{sunday, "%u %w %U %V %W", "7 0 10 10 10"},
		{newYear, "%u %w %U %V %W %G %g %j %e %I %l %p", "5 5 00 53 00 2020 20 001  1 12 12 AM"},
		{sunday, "%%|%n|%t|%", "%|\n|\t|%"},
		{sunday, "%-m %_m %0e %-I %-j %-y", "3  3 10 3 70 24"},
		{sunday, "%^a %^B %#Z %#p %#b %^c", "SUN MARCH msk pm MAR SUN MAR 10 15:04:05 2024"},
		{sunday, "%EY %Od", "2024 10"},
		{sunday, "%Q %E %", "%Q %E %"},
		{sunday, "", ""},
	} {
		if got := string(appendTime(nil, tt.format, tt.t)); got != tt.want {
			t.Errorf("%q gave %q, wanted %q", tt.format, got, tt.want)
		}
	}
}
