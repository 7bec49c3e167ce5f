package edge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseRanges(t *testing.T) {
	const size = 1000
	tests := []struct {
		value string
		want  []byteRange
	}{
		// RFC 9110, section 14.1.2.
		{"bytes=0-499", []byteRange{{0, 500}}},
		{"bytes=500-999", []byteRange{{500, 500}}},
		{"bytes=0-0", []byteRange{{0, 1}}},
		{"bytes=999-", []byteRange{{999, 1}}},
		{"bytes=-1", []byteRange{{999, 1}}},
		{"bytes=-500", []byteRange{{500, 500}}},
		{"bytes=0-", []byteRange{{0, 1000}}},
		{"bytes=0-0,-1", []byteRange{{0, 1}, {999, 1}}},
		{"bytes=500-600,601-999", []byteRange{{500, 101}, {601, 399}}},
		{"bytes=500-9999", []byteRange{{500, 500}}}, // cut at the end
		{"bytes=-9999", []byteRange{{0, 1000}}},     // all
		{"Bytes=0-1", []byteRange{{0, 2}}},          // units are of any case
		{"bytes= 0-1 ,\t5-6", []byteRange{{0, 2}, {5, 2}}},
		{"bytes=,,0-1,,", []byteRange{{0, 2}}},
		{"bytes=000-001", []byteRange{{0, 2}}},
		// In the order asked for.
		{"bytes=900-,0-9,400-409", []byteRange{{900, 100}, {0, 10}, {400, 10}}},
		// One that no byte answers does not matter beside others.
		{"bytes=0-1,1000-,2000-3000,-0", []byteRange{{0, 2}}},
		// Numbers beyond 64 bits.
		{"bytes=0-99999999999999999999999", []byteRange{{0, 1000}}},
		{"bytes=-99999999999999999999999", []byteRange{{0, 1000}}},
		{"bytes=5-9223372036854775807", []byteRange{{5, 995}}},
		{"bytes=5-18446744073709551621", []byteRange{{5, 995}}}, // 5 + 2^64
		// Overlapping ones become one in the place of the first.
		{"bytes=0-9,5-19", []byteRange{{0, 20}}},
		{"bytes=5-19,0-9", []byteRange{{0, 20}}},
		{"bytes=0-99,10-19", []byteRange{{0, 100}}},
		{"bytes=100-199,300-399,150-160", []byteRange{{100, 100}, {300, 100}}},
		{"bytes=300-399,100-199,150-349", []byteRange{{100, 300}}},
		{"bytes=0-9,500-509,5-14,700-", []byteRange{{0, 15}, {500, 10}, {700, 300}}},
		{"bytes=0-,-1", []byteRange{{0, 1000}}},
		{"bytes=0-9,10-19", []byteRange{{0, 10}, {10, 10}}}, // these only touch
	}
	for _, tt := range tests {
		got, res := parseRanges(nil, []byte(tt.value), size, 8)
		if res != rangeSatisfiable || !slices.Equal(got, tt.want) {
			t.Errorf("parseRanges(%q) = %v, %d, want %v", tt.value, got, res, tt.want)
		}
	}
}

func TestParseRangesRefuses(t *testing.T) {
	tests := []struct {
		value string
		size  int64
		want  rangeResult
	}{
		// Other units.
		{"items=0-5", 1000, rangeIgnored},
		{"bytes", 1000, rangeIgnored},
		{"bytes 0-5", 1000, rangeIgnored},
		{"bytes =0-5", 1000, rangeIgnored},
		{"", 1000, rangeIgnored},
		// Malformed.
		{"bytes=", 1000, rangeIgnored},
		{"bytes=,", 1000, rangeIgnored},
		{"bytes=-", 1000, rangeIgnored},
		{"bytes=5", 1000, rangeIgnored},
		{"bytes=5-4", 1000, rangeIgnored},
		{"bytes=a-b", 1000, rangeIgnored},
		{"bytes=0x1-5", 1000, rangeIgnored},
		{"bytes=+1-5", 1000, rangeIgnored},
		{"bytes=1--5", 1000, rangeIgnored},
		{"bytes=--5", 1000, rangeIgnored},
		{"bytes=1 -5", 1000, rangeIgnored},
		{"bytes=1-5;6-7", 1000, rangeIgnored},
		{"bytes=0-1,x", 1000, rangeIgnored},
		{"bytes=0-1,5-4", 1000, rangeIgnored},
		{"bytes=2000-1500", 1000, rangeIgnored},
		// Nothing there.
		{"bytes=1000-", 1000, rangeUnsatisfiable},
		{"bytes=1000-1001", 1000, rangeUnsatisfiable},
		{"bytes=-0", 1000, rangeUnsatisfiable},
		{"bytes=1000-,-0", 1000, rangeUnsatisfiable},
		{"bytes=99999999999999999999-", 1000, rangeUnsatisfiable},
		{"bytes=18446744073709551616-", 1000, rangeUnsatisfiable}, // 2^64
		{"bytes=0-", 0, rangeUnsatisfiable},
		{"bytes=-5", 0, rangeUnsatisfiable},
		// Limits.
		{"bytes=0-0,2-2,4-4,6-6,8-8", 1000, rangeIgnored},
		{"bytes=2000-,2001-,2002-,2003-,2004-", 1000, rangeIgnored},
		{"bytes=0-,0-,0-,0-", 1000, rangeIgnored},
		{"bytes=0-9,20-29,40-49,0-", 1000, rangeIgnored},
	}
	for _, tt := range tests {
		if got, res := parseRanges(nil, []byte(tt.value), tt.size, 4); res != tt.want || len(got) != 0 {
			t.Errorf("parseRanges(%q) of %d = %v, %d, want none, %d", tt.value, tt.size, got, res, tt.want)
		}
	}
}

func TestParseRangesAppends(t *testing.T) {
	dst := []byteRange{{0, 100}}
	got, res := parseRanges(dst, []byte("bytes=10-19"), 100, 4)
	if want := []byteRange{{0, 100}, {10, 10}}; res != rangeSatisfiable || !slices.Equal(got, want) {
		t.Errorf("got %v, %d, want %v", got, res, want)
	}
}

func FuzzParseRanges(f *testing.F) {
	for _, s := range []string{"bytes=0-9,5-19,-3", "bytes=99999999999999999999-", "bytes=-0", "items=1-2", "bytes=300-399,100-199,150-349"} {
		f.Add(s, int64(1000))
	}
	f.Fuzz(func(t *testing.T, value string, size int64) {
		size = max(0, size)
		got, res := parseRanges(nil, []byte(value), size, 16)
		if (res == rangeSatisfiable) != (len(got) > 0) || len(got) > 16 {
			t.Fatalf("parseRanges(%q) of %d = %v, %d", value, size, got, res)
		}
		slices.SortFunc(got, func(a, b byteRange) int { return int(max(-1, min(1, a.start-b.start))) })
		end := int64(0)
		for _, r := range got {
			if r.start < end || r.length <= 0 || r.start > size-r.length {
				t.Fatalf("parseRanges(%q) of %d = %v: outside, or overlapping", value, size, got)
			}
			end = r.start + r.length
		}
	})
}

// The bytes asked for are the bytes given, however the ranges lie.
func TestParseRangesCoverWhatWasAsked(t *testing.T) {
	const size = 8
	spec := func(code int) (string, int, int) {
		return fmt.Sprintf("%d-%d", code/size, code%size), code / size, code % size
	}
	for a := range size * size {
		for b := range size * size {
			for _, c := range []int{3*size + 4, 1*size + 6} {
				var want [size]bool
				var texts []string
				valid := true
				for _, code := range []int{a, b, c} {
					text, from, to := spec(code)
					texts = append(texts, text)
					valid = valid && from <= to
					for i := from; i <= to; i++ {
						want[i] = true
					}
				}
				value := "bytes=" + strings.Join(texts, ",")
				ranges, res := parseRanges(nil, []byte(value), size, 4)
				if !valid {
					continue
				}
				var got [size]bool
				for _, r := range ranges {
					for i := r.start; i < r.start+r.length; i++ {
						if got[i] {
							t.Fatalf("parseRanges(%q) = %v: byte %d twice", value, ranges, i)
						}
						got[i] = true
					}
				}
				if res != rangeSatisfiable || got != want {
					t.Fatalf("parseRanges(%q) = %v, %d", value, ranges, res)
				}
			}
		}
	}
}

func TestContentRange(t *testing.T) {
	got := string(appendContentRange(nil, byteRange{math.MaxInt64 - 2, 2}, math.MaxInt64))
	if want := "bytes 9223372036854775805-9223372036854775806/9223372036854775807"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
