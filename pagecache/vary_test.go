package pagecache

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fieldsOf makes the fields of a request from "Name: value" lines.
func fieldsOf(text string) func(name string) []byte {
	fields := map[string][]byte{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields[name] = []byte(value)
		}
	}
	return func(name string) []byte { return fields[name] }
}

func TestVariantKey(t *testing.T) {
	names := []string{"A", "Accept-Encoding", "Accept-Language", "B"}
	key := func(fields string) string {
		return string(VariantKey([]byte("before"), []byte("primary"), names, fieldsOf(fields)))
	}
	for _, c := range []struct {
		id   string
		a, b string
		same bool
	}{
		{"VAR_1", "A: x", "A: x", true},
		{"VAR_1", "A: x", "A: y", false},
		{"VAR_1", "A: x\nB: y", "A: x\nB: z", false},
		{"VAR_1", "A: x\nC: y", "A: x\nC: z", true},
		{"VAR_1", "A: x", "B: x", false},
		{"VAR_1", "A: xy\nB: z", "A: x\nB: yz", false},
		{"VAR_3", "A: ", "", false},
		{"VAR_3", "A: \nB: x", "A: x\nB: ", false},
		{"VAR_5", "A: x, y", "A: x,y", true},
		{"VAR_5", "A: x,y", "A: y,x", false},
		{"VAR_6", "A:  x ,\ty ", "A: x,y", true},
		{"VAR_6", "A: x y", "A: xy", false},
		{"VAR_6", "A: x,,y", "A: x,y", false},
		{"VAR_9", "Accept-Encoding: gzip, br", "Accept-Encoding: BR;q=0.5,GZIP, foo", true},
		{"VAR_9", "Accept-Encoding: gzip", "Accept-Encoding: x-gzip", true},
		{"VAR_9", "Accept-Encoding: gzip;q=0", "Accept-Encoding: foo", true},
		{"VAR_9", "Accept-Encoding: gzip; q=0.0", "Accept-Encoding: gzip", false},
		{"VAR_9", "Accept-Encoding: *", "Accept-Encoding: gzip, br, zstd, deflate", true},
		{"VAR_9", "Accept-Encoding: gzip", "Accept-Encoding: br", false},
		{"VAR_9", "Accept-Encoding: identity", "Accept-Encoding: gzip;q=0", true},
		{"VAR_9", "Accept-Encoding: identity;q=0", "Accept-Encoding: identity", false},
		{"VAR_9", "Accept-Encoding: identity", "", false},
		{"VAR_9", "Accept-Encoding: *;q=0", "Accept-Encoding: identity;q=0", true},
		{"VAR_9", "Accept-Encoding: *;q=0, identity", "Accept-Encoding: ", true},
		{"VAR_9", "Accept-Encoding: *, br;q=0", "Accept-Encoding: br;q=0, br, gzip, deflate, zstd", true},
		{"VAR_7", "Accept-Language: en, de", "Accept-Language: DE ,  eN", true},
		{"VAR_7", "Accept-Language: fr;q=0.5, de, *;q=0", "Accept-Language: de;q=1.0,, *;q=0.000 , fr;q=0.500", true},
		{"VAR_7", "Accept-Language: en;q=0.8, de", "Accept-Language: en, de;q=0.8", false},
		{"VAR_7", "Accept-Language: en;q=0.8", "Accept-Language: en;q=0.9", false},
		{"VAR_7", "Accept-Language: en-GB", "Accept-Language: en", false},
		{"VAR_7", "Accept-Language: en, de;q=2", "Accept-Language: de;q=2, en", false},
		{"VAR_7", "Accept-Language: e n, de", "Accept-Language: de, e n", false},
		{"VAR_7", "Accept-Language: " + strings.Repeat("en, ", 32) + "de", "Accept-Language: de" + strings.Repeat(", en", 32), false},
		{"VAR_7", "Accept-Language: ", "", false},
		{"VAR_7", "A: en, de", "A: de, en", false},
		{"VAR_11", "A: Mozilla", "A: mozilla", false},
		{"long", "A: " + strings.Repeat("x", 5000), "A: " + strings.Repeat("x", 5000), true},
		{"long", "A: " + strings.Repeat("x", 5000), "A: " + strings.Repeat("x", 4999) + "y", false},
	} {
		if (key(c.a) == key(c.b)) != c.same {
			t.Errorf("%s: %q and %q share a page: %v", c.id, c.a, c.b, !c.same)
		}
		if !strings.HasPrefix(key(c.a), "beforeprimary") || len(key(c.a)) > len("beforeprimary")+longestVariant {
			t.Errorf("%s: key %q", c.id, key(c.a))
		}
	}
}

// Different values never give the same key: what tells a variant can be read
// back.
func FuzzVariantKey(f *testing.F) {
	f.Add("x", "y", "x\x01", "")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		key := func(x, y string) string {
			return string(appendVariant(nil, []string{"A", "B"}, fieldsOf2(x, y)))
		}
		norm := func(s string) string { return string(appendListed(nil, []byte(s))) }
		same := norm(a) == norm(c) && norm(b) == norm(d)
		if (key(a, b) == key(c, d)) != same {
			t.Errorf("%q %q and %q %q: %v", a, b, c, d, !same)
		}
	})
}

func fieldsOf2(a, b string) func(name string) []byte {
	return func(name string) []byte {
		if name == "A" {
			return append([]byte{}, a...)
		}
		return append([]byte{}, b...)
	}
}

func TestVariantKeyDoesNotAllocate(t *testing.T) {
	names := []string{"Accept-Encoding", "Accept-Language", "Cookie"}
	long := []byte(strings.Repeat("c=d; ", 200))
	get := func(name string) []byte { return long }
	dst := make([]byte, 0, 8<<10)
	if n := testing.AllocsPerRun(100, func() { VariantKey(dst, []byte("primary"), names, get) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestVariantsWith(t *testing.T) {
	names := []string{"A"}
	v, _ := (*variants)(nil).with("1", names, 3)
	for _, c := range []struct {
		own        string
		held, gone []string
	}{
		{"2", []string{"1", "2"}, nil},
		{"3", []string{"1", "2", "3"}, nil},
		{"1", []string{"2", "3", "1"}, nil}, // put again: it is the youngest
		{"4", []string{"3", "1", "4"}, []string{"2"}},
	} {
		next, gone := v.with(c.own, names, 3)
		if !slices.Equal(next.held, c.held) || !slices.Equal(gone, c.gone) || next.generation != v.generation {
			t.Errorf("%s: held %q, gone %q", c.own, next.held, gone)
		}
		v = next
	}
	other, gone := v.with("1", []string{"B"}, 3)
	if other.generation == v.generation || len(other.held) != 1 || gone != nil {
		t.Errorf("other names: %+v %q", other, gone)
	}
}

func TestVariantsBytes(t *testing.T) {
	v := &variants{names: []string{"A", "Accept-Encoding"}, generation: 42, held: []string{"", "x\x00y"}}
	b := v.append(nil)
	got, err := readVariants(b)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(v) {
		t.Errorf("%+v %v", got, err)
	}
	for i := range b {
		if _, err := readVariants(b[:i]); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
	}
	if _, err := readVariants(append(b, 0)); err == nil {
		t.Error("a byte too many: no error")
	}
}

func FuzzReadVariants(f *testing.F) {
	f.Add((&variants{names: []string{"A"}, generation: 1, held: []string{"x"}}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readVariants(b)
		if err == nil && string(v.append(nil)) != string(b) {
			t.Errorf("%q became %q", b, v.append(nil))
		}
	})
}
