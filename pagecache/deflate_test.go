package pagecache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// noise is bytes that nothing makes smaller.
func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b) // which never fails
	return string(b)
}

// A page that has room is as Encode gives it; one that has none is compressed,
// if that helps.
func TestEncodeWithin(t *testing.T) {
	key := []byte("key")
	rows := strings.Repeat("<tr><td>Hawaii</td></tr>\n", 1000)
	for _, c := range []struct {
		body              string
		limit             int
		compressed, whole bool
	}{
		{rows, 1 << 20, false, true},
		{rows, EnvelopeSize(key, "journal", pulledPage(rows)), false, true},
		{rows, EnvelopeSize(key, "journal", pulledPage(rows)) - 1, true, true},
		{rows, 2000, true, true},
		{rows, 100, false, false},
		{noise(10_000), 9000, false, false},
		{noise(10_000), 20_000, false, true},
		{"", 100, false, false},
		{"x", 0, false, false},
		{"x", -1, false, false},
	} {
		p := pulledPage(c.body)
		b := EncodeWithin(key, "journal", p, c.limit)
		if len(b) > max(c.limit, 0) || (b != nil) != c.whole {
			t.Errorf("%d bytes within %d: %d", len(c.body), c.limit, len(b))
			continue
		}
		if b == nil {
			continue
		}
		if m, _, ok := readPreamble(b[envelopeHead:]); !ok || (m.inflated > 0) != c.compressed {
			t.Errorf("%d bytes within %d: %+v", len(c.body), c.limit, m)
		}
		got, err := Decode(b, key, "journal")
		if err != nil || !bytes.Equal(got.Body, p.Body) || !bytes.Equal(got.Head, p.Head) || got.Length != p.Length || got.Seq != p.Seq {
			t.Errorf("%d bytes within %d: %v", len(c.body), c.limit, err)
		}
	}
	v := newVariantsPage(&variants{names: []string{"A"}, generation: 9, held: []string{strings.Repeat("x", 1000)}}, Freshness{Lifetime: 5}, 3)
	if EncodeWithin(key, "journal", v, 500) != nil || EncodeWithin(key, "journal", v, 5000) == nil {
		t.Error("a list of variants is kept as it is, or not at all")
	}
}

// What is no deflate of the bytes that are announced is no body.
func TestInflateRefuses(t *testing.T) {
	good := deflate([]byte("some bytes"), 100)
	if b, err := inflate(good, 10); err != nil || string(b) != "some bytes" {
		t.Fatalf("%q %v", b, err)
	}
	for name, c := range map[string]struct {
		b []byte
		n uint32
	}{
		"shorter":      {good, 9},
		"longer":       {good, 11},
		"more behind":  {append(bytes.Clone(good), 0), 10},
		"half of it":   {good[:len(good)/2], 10},
		"nothing":      {nil, 10},
		"a bomb":       {good, 1 << 31},
		"no deflate":   {[]byte("some bytes"), 10},
		"empty, but 1": {deflate(nil, 100), 1},
	} {
		if b, err := inflate(c.b, c.n); err == nil {
			t.Errorf("%s: %q", name, b)
		}
	}
}

func BenchmarkEncodeWithin(b *testing.B) {
	var body bytes.Buffer
	for i := 0; body.Len() < 4<<20; i++ {
		fmt.Fprintf(&body, "<tr><td>%d</td><td>Hawaii</td></tr>\n", i)
	}
	p := pulledPage(body.String())
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		if EncodeWithin([]byte("key"), "journal", p, 2<<20) == nil {
			b.Fatal("too large")
		}
	}
}
