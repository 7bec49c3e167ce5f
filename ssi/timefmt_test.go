package ssi

import (
	"strings"
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

// V7: what strftime of glibc 2.36 gives in the C locale for flags, widths and modifiers, and for what is no conversion.
func TestAppendTimeFlags(t *testing.T) {
	at := time.Date(2024, 3, 10, 15, 4, 5, 0, time.FixedZone("MSK", 3*3600))
	for format, want := range map[string]string{
		"%5%":             "    %",
		"%05%":            "0000%",
		"%5n|":            "    \n|",
		"%5t|":            "    \t|",
		"%-5d":            "   10",
		"%_5d":            "   10",
		"%05d":            "00010",
		"%5d":             "00010",
		"%5e":             "   10",
		"%05e":            "00010",
		"%-5e":            "   10",
		"%5k":             "   15",
		"%05k":            "00015",
		"%-k":             "15",
		"%0k":             "15",
		"%10z":            "         +0000000300",
		"%_10z":           "         +       300",
		"%-z":             "+300",
		"%-10z":           "         +       300",
		"%_z":             "+ 300",
		"%12s":            "  1710072245",
		"%012s":           "001710072245",
		"%_12s":           "  1710072245",
		"%10a":            "       Sun",
		"%010a":           "0000000Sun",
		"%2A":             "Sunday",
		"%10F":            "2024-03-10",
		"%12F":            "  2024-03-10",
		"%-F":             "2024-03-10",
		"%012D":           "000003/10/24",
		"%_12D":           "    03/10/24",
		"%6Y":             "002024",
		"%_6Y":            "  2024",
		"%-6Y":            "  2024",
		"%6C":             "000020",
		"%6G":             "002024",
		"%5y":             "00024",
		"%3j":             "070",
		"%5j":             "00070",
		"%-j":             "70",
		"%_j":             " 70",
		"%5w":             "00000",
		"%30c":            "      Sun Mar 10 15:04:05 2024",
		"%030c":           "000000Sun Mar 10 15:04:05 2024",
		"%#c":             "Sun Mar 10 15:04:05 2024",
		"%^c":             "SUN MAR 10 15:04:05 2024",
		"%#p":             "pm",
		"%^p":             "PM",
		"%#^p":            "pm",
		"%#P":             "pm",
		"%^P":             "pm",
		"%5p":             "   PM",
		"%^Z":             "MSK",
		"%#Z":             "msk",
		"%#a":             "SUN",
		"%^#a":            "SUN",
		"%#b":             "MAR",
		"%#Eh":            "%#EH",
		"%#x":             "03/10/24",
		"%#z":             "+0300",
		"%^Q":             "%^Q",
		"%5Q":             "  %5Q",
		"%5":              "   %5",
		"%E":              "%E",
		"%-":              "%-",
		"%10R":            "     15:04",
		"%14r":            "   03:04:05 PM",
		"%10Ed":           "     %10Ed",
		"%Oc":             "%Oc",
		"%EY%EC%Ey%Ex%EX": "2024202403/10/2415:04:05",
		"%Od%Oe%OH%OI%Om%OM%OS%Ou%OU%OV%Ow%OW%Oy%Ob": "101015030304057101001024Mar",
		"%EEY":     "%EEY",
		"%E5Y":     "%E5Y",
		"%5EY":     "02024",
		"%N %f %+": "%N %f %+",
		"%+d":      "%+d",
	} {
		if got := string(appendTime(nil, format, at)); got != want {
			t.Errorf("%q gave %q, wanted %q", format, got, want)
		}
	}
}

func TestAppendTimeIsBounded(t *testing.T) {
	for _, format := range []string{"%99999999999999999999d", "%2047d", strings.Repeat("%2047d", 1000), "%2047%%2047c" + strings.Repeat("x", 1<<20)} {
		if n := len(appendTime(nil, format, time.Now())); n < maxTime || n > 2*maxTime+2 {
			t.Errorf("%.40q gave %d bytes", format, n)
		}
	}
}
