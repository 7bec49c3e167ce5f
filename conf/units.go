package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// timeUnits from the longest; a year is 365 days, as in nginx.
var timeUnits = []struct {
	name string
	unit time.Duration
}{
	{"y", 365 * day}, {"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

// sizeUnits from the largest.
var sizeUnits = []struct {
	name string
	unit int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// parseSize reads "64MiB", or bytes without a unit.
func parseSize(s string) (int64, *mistake) {
	digits := leadingDigits(s)
	unit := strings.ToUpper(strings.TrimSpace(s[len(digits):]))
	if digits == "" || strings.HasPrefix(unit, ".") {
		return 0, &mistake{fmt.Sprintf("%q is no size", s), `write a whole number and KiB, MiB or GiB, such as "64MiB"; bytes have no unit`}
	}
	factor, name := int64(1), ""
	for _, u := range sizeUnits {
		if upper := strings.ToUpper(u.name); unit == upper || unit == upper[:1] || unit == upper[:1]+"B" {
			factor, name = u.unit, u.name
		}
	}
	if name == "" && unit != "" && unit != "B" {
		return 0, &mistake{fmt.Sprintf("%q has an unknown unit", s), `use KiB, MiB or GiB, such as "64MiB"; bytes have no unit`}
	}
	if s != digits+name {
		return 0, &mistake{fmt.Sprintf("%q has a unit that is not used here", s), fmt.Sprintf("write %q; units are KiB, MiB and GiB, bytes have none", digits+name)}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, &mistake{fmt.Sprintf("%q is too large", s), "use at most 8000000000GiB"}
	}
	return n * factor, nil
}

// parseDuration reads "30s", "1h30m", "10y" or "0": whole numbers with units, the
// longer ones first.
func parseDuration(s string) (time.Duration, *mistake) {
	if s == "0" {
		return 0, nil
	}
	if s == leadingDigits(s) && s != "" {
		return 0, &mistake{fmt.Sprintf("%q has no unit", s), fmt.Sprintf("write %q if seconds are meant", s+"s")}
	}
	if strings.HasPrefix(s, "-") {
		return 0, &mistake{fmt.Sprintf("%q is negative", s), `use "0s" or more`}
	}
	var total time.Duration
	left := timeUnits
	for rest := s; rest != "" || s == ""; {
		digits := leadingDigits(rest)
		name := leadingLetters(rest[len(digits):])
		rest = rest[len(digits)+len(name):]
		i := 0
		for i < len(left) && left[i].name != name {
			i++
		}
		if digits == "" || i == len(left) {
			return 0, &mistake{fmt.Sprintf("%q is no time", s), `write whole numbers with ms, s, m, h, d, w or y, the longer ones first, such as "30s" or "1h30m"`}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > int64((math.MaxInt64-total)/left[i].unit) {
			return 0, &mistake{fmt.Sprintf("%q is too long", s), `use at most "290y"`}
		}
		total += time.Duration(n) * left[i].unit
		left = left[i+1:]
	}
	return total, nil
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

func leadingLetters(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyz"))]
}

// sizeText is a size as the file would say it.
func sizeText(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.unit && n%u.unit == 0 {
			return strconv.FormatInt(n/u.unit, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// durationText is a time as the file would say it.
func durationText(d time.Duration) string {
	for _, u := range timeUnits {
		if d >= u.unit && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return "0s"
}
