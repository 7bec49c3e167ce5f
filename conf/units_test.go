package conf

import (
	"math"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1024": 1024, "1KiB": 1 << 10, "64MiB": 64 << 20, "10GiB": 10 << 30, "0GiB": 0, "007": 7,
		"8589934591GiB": 8589934591 << 30, "9223372036854775807": math.MaxInt64,
	} {
		if got, m := parseSize(text); m != nil || got != want {
			t.Errorf("%q is %d, %+v; want %d", text, got, m, want)
		}
	}
	for text, cure := range map[string]string{
		"": "write a whole", "KiB": "write a whole", "-1": "write a whole", "1.5GiB": "write a whole", " 1": "write a whole",
		"1KB": `write "1KiB"`, "1kb": `write "1KiB"`, "1K": `write "1KiB"`, "1k": `write "1KiB"`, "1kib": `write "1KiB"`,
		"2MB": `write "2MiB"`, "2m": `write "2MiB"`, "3GB": `write "3GiB"`, "3 GiB": `write "3GiB"`, "4B": `write "4"`, "4 ": `write "4"`,
		"1TiB": "use KiB", "1KiBs": "use KiB", "1e3": "use KiB",
		"8589934592GiB": "use at most", "9223372036854775808": "use at most",
	} {
		got, m := parseSize(text)
		if m == nil || len(m.cure) < len(cure) || m.cure[:len(cure)] != cure {
			t.Errorf("%q is %d, %+v; want a mistake cured by %s", text, got, m, cure)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "1ms": time.Millisecond, "30s": 30 * time.Second, "1m": time.Minute, "1h30m": 90 * time.Minute, "10d": 10 * day,
		"2w": 14 * day, "10y": 3650 * day, "1y1w1d1h1m1s1ms": 373*day + time.Hour + time.Minute + time.Second + time.Millisecond, "90m": 90 * time.Minute,
		"292y": 292 * 365 * day,
	} {
		if got, m := parseDuration(text); m != nil || got != want {
			t.Errorf("%q is %v, %+v; want %v", text, got, m, want)
		}
	}
	for text, cure := range map[string]string{
		"": "write whole", "s": "write whole", "1.5s": "write whole", "1M": "write whole", "1us": "write whole", "1s ": "write whole", " 1s": "write whole",
		"1m1h": "write whole", "1s1s": "write whole", "1h30": "write whole", "1 h": "write whole", "+1s": "write whole",
		"10": `write "10s"`, "00": `write "00s"`, "-1s": `use "0s"`, "293y": "use at most", "99999999999999999999s": "use at most", "292y200d": "use at most",
	} {
		got, m := parseDuration(text)
		if m == nil || len(m.cure) < len(cure) || m.cure[:len(cure)] != cure {
			t.Errorf("%q is %v, %+v; want a mistake cured by %s", text, got, m, cure)
		}
	}
}

// TestUnitTexts read back as what they were made of.
func TestUnitTexts(t *testing.T) {
	for _, n := range []int64{0, 1, 1000, 1024, 1536, 1 << 20, 3 << 30, 1 << 40} {
		if got, m := parseSize(sizeText(n)); m != nil || got != n {
			t.Errorf("%d is written %q", n, sizeText(n))
		}
	}
	for _, d := range []time.Duration{0, time.Millisecond, 1500 * time.Millisecond, time.Minute, 36 * time.Hour, day, 7 * day, 365 * day} {
		if got, m := parseDuration(durationText(d)); m != nil || got != d {
			t.Errorf("%v is written %q", d, durationText(d))
		}
	}
}
