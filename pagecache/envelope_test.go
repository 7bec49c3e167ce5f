package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// pulledPage makes a page that the origin gave, fresh for an hour from came.
func pulledPage(body string) *Page {
	head := "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\nContent-Type: text/html; charset=utf-8\r\n" +
		"ETag: \"abc\"\r\nLast-Modified: Mon, 30 Nov 2026 11:00:00 GMT\r\nX-Other: 1\r\n\r\n"
	f := Freshness{Measured: came.UnixMilli(), Lifetime: 3600, StaleError: 600}
	return NewPulledPage(200, exactCopy([]byte(head)), exactCopy([]byte(body)), f, 7)
}

// same says whether two pages are the same response.
func same(a, b *Page) bool {
	return a.Status == b.Status && bytes.Equal(a.Head, b.Head) && bytes.Equal(a.Body, b.Body) && a.Type == b.Type && a.ETag == b.ETag &&
		a.Modified == b.Modified && a.Length == b.Length && a.Kept == b.Kept && a.Freshness == b.Freshness && a.Seq == b.Seq &&
		fmt.Sprint(a.variants()) == fmt.Sprint(b.variants())
}

func TestNewPulledPage(t *testing.T) {
	p := pulledPage("body")
	if p.Type != "text/html; charset=utf-8" || p.ETag != `"abc"` || p.Modified != came.Unix()-3600 || p.Length != 4 || !p.Kept || p.Seq != 7 {
		t.Errorf("%+v", p)
	}
	bare := NewPulledPage(204, []byte("HTTP/1.1 204 No Content\r\n\r\n"), nil, Freshness{}, 0)
	if bare.Type != "" || bare.ETag != "" || bare.Modified != 0 || !bare.keepable() {
		t.Errorf("%+v", bare)
	}
}

func TestEnvelope(t *testing.T) {
	empty := NewPulledPage(301, []byte("HTTP/1.1 301 Moved Permanently\r\nLocation: /\r\n\r\n"), nil, Freshness{Measured: -5, while: flagged | uint32(MustRevalidate|NoCache)}, 1<<63)
	large := pulledPage(strings.Repeat("x", 3<<20))
	large.Freshness = Freshness{Measured: 1 << 60, InitialAge: 1<<32 - 1, Lifetime: 1<<32 - 2, while: flagged - 1, StaleError: 1<<32 - 4}
	variants := newVariantsPage(&variants{names: []string{"A"}, generation: 9, held: []string{"x"}}, Freshness{Lifetime: 5}, 3)
	for i, p := range []*Page{pulledPage("body"), pulledPage(""), empty, large, variants} {
		b := Encode([]byte("before"), []byte("key"), "journal", p)
		if !bytes.HasPrefix(b, []byte("before")) || len(b) > 6+EnvelopeSize([]byte("key"), "journal", p) {
			t.Errorf("page %d: %d bytes, %d announced", i, len(b)-6, EnvelopeSize([]byte("key"), "journal", p))
		}
		got, err := Decode(b[6:], []byte("key"), "journal")
		if err != nil || !same(got, p) {
			t.Fatalf("page %d: %v, %+v", i, err, got)
		}
		clear(b) // the page must keep nothing of it
		if !same(got, p) {
			t.Errorf("page %d keeps bytes of its envelope", i)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := Encode(nil, []byte("key"), "journal", pulledPage("body"))
	said := func(old, new string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("there is no %q", old)
		}
		return resum(bytes.Replace(good, []byte(old), []byte(new), 1))
	}
	for _, c := range []struct {
		name         string
		b            []byte
		key, journal string
		want         error
	}{
		{"other key", good, "kez", "journal", ErrForeignEnvelope},
		{"longer key", good, "keyy", "journal", ErrForeignEnvelope},
		{"other journal", good, "key", "journam", ErrForeignEnvelope},
		{"bounds moved", good, "lkey", "journa", ErrForeignEnvelope},
		{"nothing", nil, "key", "journal", ErrEnvelope},
		{"a raw body", []byte(strings.Repeat("<p>hello</p>", 20)), "key", "journal", ErrEnvelope},
		{"a byte more", append(bytes.Clone(good), 0), "key", "journal", ErrEnvelope},
		{"a byte more, summed", resum(append(bytes.Clone(good), 0)), "key", "journal", ErrEnvelope},
		{"other version", said("page 2", "page 3"), "key", "journal", ErrEnvelope},
		{"head without its end", said("\r\n\r\n", "\r\nxx"), "key", "journal", ErrEnvelope},
		{"head of something else", said("HTTP", "HTTQ"), "key", "journal", ErrEnvelope},
		{"no end of the lines", resum(bytes.Replace(good[:len(good)-4], []byte("\n\n"), []byte("\n "), 1)), "key", "journal", ErrEnvelope},
		{"another line", said("seq: 7\n", "seq: 7\nsex: 7\n"), "key", "journal", ErrEnvelope},
		{"a line missing", said("seq: 7\n", ""), "key", "journal", ErrEnvelope},
		{"lines in another order", said("status: 200\nseq: 7\n", "seq: 7\nstatus: 200\n"), "key", "journal", ErrEnvelope},
		{"a number with a zero before", said("seq: 7\n", "seq: 07\n"), "key", "journal", ErrEnvelope},
		{"a number below zero", said("seq: 7\n", "seq: -7\n"), "key", "journal", ErrEnvelope},
		{"a number over its limit", said("age: 0\n", "age: 4294967296\n"), "key", "journal", ErrEnvelope},
		{"a date that is not that of the number", said("12:00:00.000Z", "12:00:01.000Z"), "key", "journal", ErrEnvelope},
		{"a flag that nobody knows", said("flags:\n", "flags: x\n"), "key", "journal", ErrEnvelope},
		{"flags in another order", said("flags:\n", "flags: must-revalidate no-cache\n"), "key", "journal", ErrEnvelope},
		{"flags and a window", said("stale-while: 0\nstale-error: 600\nflags:\n", "stale-while: 1\nstale-error: 600\nflags: no-cache\n"), "key", "journal", ErrEnvelope},
		{"a key that is quoted otherwise", said(`key: "key"`, "key: `key`"), "key", "journal", ErrEnvelope},
		{"a body that is no deflate", said("inflated: 0\n", "inflated: 4\n"), "key", "journal", ErrEnvelope},
		{"more than deflate can be", said("inflated: 0\n", "inflated: 4294967295\n"), "key", "journal", ErrEnvelope},
		{"a sum in capitals", capitals(good), "key", "journal", ErrEnvelope},
	} {
		if p, err := Decode(c.b, []byte(c.key), c.journal); !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %v %v", c.name, p, err)
		}
	}
	for _, part := range []string{"head: 167\n", "body: 4\n"} { // lengths that are not those of the parts
		for _, n := range []uint32{0, 5, 1 << 10, 1<<32 - 1} {
			b := said(part, fmt.Sprintf("%s: %d\n", part[:4], n))
			if _, err := Decode(b, []byte("key"), "journal"); err == nil {
				t.Errorf("%.4s is %d bytes: no error", part, n)
			}
		}
	}
}

// resum puts the sum of an envelope right.
func resum(b []byte) []byte {
	putSum(b, crc32.Checksum(b[envelopeHead:], castagnoli))
	return b
}

// capitals writes the sum in capitals, of a page whose sum has a letter.
func capitals(b []byte) []byte {
	b = bytes.Clone(b)
	for i := 0; bytes.Equal(bytes.ToUpper(b[:envelopeHead-1])[len(envelopeMagic):], b[len(envelopeMagic):envelopeHead-1]); i++ {
		b = resum(append(b[:len(b)-1], byte('0'+i)))
	}
	copy(b[len(envelopeMagic):envelopeHead], bytes.ToUpper(b[len(envelopeMagic):envelopeHead]))
	return b
}

// A person can read it.
func TestEnvelopeText(t *testing.T) {
	p := pulledPage("<p>body</p>")
	p.Freshness.forbid(NoCache | MustRevalidate)
	got := string(Encode(nil, []byte("p0\x00http\x00www.example.com\x00/towns?\x00é\xff"), "e5ab41d9f5e5b8a2", p))
	want := "ssiedge-page 2 " + got[15:23] + `
journal: "e5ab41d9f5e5b8a2"
key: "p0\x00http\x00www.example.com\x00/towns?\x00\u00e9\xff"
status: 200
seq: 7
measured: 1796040000000 2026-11-30T12:00:00.000Z
age: 0
lifetime: 3600
stale-while: 0
stale-error: 0
flags: no-cache must-revalidate
head: 167
body: 11
inflated: 0

` + string(p.Head) + "<p>body</p>"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Each bit that flips, and each end that is missing, is noticed.
func TestDecodeNoticesDamage(t *testing.T) {
	good := Encode(nil, []byte("key"), "journal", pulledPage("body"))
	for i := range good {
		for bit := range 8 {
			b := bytes.Clone(good)
			b[i] ^= 1 << bit
			if _, err := Decode(b, []byte("key"), "journal"); err == nil {
				t.Fatalf("bit %d of byte %d flipped: no error", bit, i)
			}
		}
		if _, err := Decode(good[:i], []byte("key"), "journal"); err == nil {
			t.Fatalf("cut to %d bytes: no error", i)
		}
	}
}

// Whatever is read is what would be written. The sum is put right, so that the
// fuzzer gets past it.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(nil, []byte("key"), "journal", pulledPage("body")))
	f.Add(Encode(nil, []byte("key"), "journal", newVariantsPage(&variants{names: []string{"A"}, held: []string{"x"}}, Freshness{}, 3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		Decode(b, []byte("key"), "journal")
		if len(b) < envelopeHead {
			return
		}
		b = resum(bytes.Clone(b))
		p, err := Decode(b, []byte("key"), "journal")
		if m, _, _ := readPreamble(b[envelopeHead:]); m.inflated > 0 {
			return // there is more than one way to compress
		}
		if err == nil && !bytes.Equal(Encode(nil, []byte("key"), "journal", p), b) {
			t.Errorf("%q became %q", b, Encode(nil, []byte("key"), "journal", p))
		}
	})
}

func BenchmarkEnvelope(b *testing.B) {
	p := pulledPage(strings.Repeat("x", 10<<10))
	buf := Encode(nil, []byte("key"), "journal", p)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Encode(buf[:0], []byte("key"), "journal", p)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(buf, []byte("key"), "journal"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
