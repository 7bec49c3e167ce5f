package accesslog

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func full() *Record {
	return &Record{
		Time:     time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.FixedZone("", -(3*3600+1800))),
		Duration: 1234567 * time.Microsecond, Client: netip.MustParseAddr("2001:db8::1"),
		Method: []byte("POST"), Target: []byte("/a?b=c"), Protocol: "HTTP/1.0", Host: []byte("example.com"), Status: 404, Bytes: 1 << 40,
		Referer: []byte("http://example.com/"), UserAgent: []byte("curl/8"), RequestID: []byte("r1"), Cache: []byte("ssiedge; hit"),
	}
}

func TestCombined(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *Record)
		want   string
	}{
		{"full", func(r *Record) {},
			`2001:db8::1 - - [03/Feb/2026:04:05:06 -0330] "POST /a?b=c HTTP/1.0" 404 1099511627776 "http://example.com/" "curl/8"`},
		{"empty", func(r *Record) { *r = Record{Time: time.Unix(0, 0).UTC()} },
			`- - - [01/Jan/1970:00:00:00 +0000] "-" 000 0 "-" "-"`},
		{"escapes", func(r *Record) {
			r.Target, r.Referer, r.UserAgent = []byte("/\"\\ a"), []byte("\x00\x1f\x7f\xff~"), []byte("é\n\t-")
		}, `2001:db8::1 - - [03/Feb/2026:04:05:06 -0330] "POST /\x22\x5C a HTTP/1.0" 404 1099511627776 "\x00\x1F\x7F\xFF~" "\xC3\xA9\x0A\x09-"`},
		{"method escaped", func(r *Record) { r.Method = []byte(`A"B`) },
			`2001:db8::1 - - [03/Feb/2026:04:05:06 -0330] "A\x22B /a?b=c HTTP/1.0" 404 1099511627776 "http://example.com/" "curl/8"`},
		{"IPv4, short status", func(r *Record) { r.Client, r.Status = netip.MustParseAddr("192.0.2.1"), 7 },
			`192.0.2.1 - - [03/Feb/2026:04:05:06 -0330] "POST /a?b=c HTTP/1.0" 007 1099511627776 "http://example.com/" "curl/8"`},
	}
	var s shard
	for _, tt := range tests {
		r := full()
		tt.change(r)
		if s.combined(r); string(s.line) != tt.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, s.line, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *Record)
		want   string
	}{
		{"full", func(r *Record) {},
			`{"time":"2026-02-03T04:05:06.007-03:30","client":"2001:db8::1","method":"POST","target":"/a?b=c","protocol":"HTTP/1.0",` +
				`"host":"example.com","status":404,"bytes":1099511627776,"duration":1.234567,"referer":"http://example.com/",` +
				`"user_agent":"curl/8","request_id":"r1","cache":"ssiedge; hit"}`},
		{"empty", func(r *Record) { *r = Record{Time: time.Unix(0, 0).UTC(), Duration: -1} },
			`{"time":"1970-01-01T00:00:00.000Z","client":"","method":"","target":"","protocol":"","host":"","status":0,"bytes":0,` +
				`"duration":0.000000,"referer":"","user_agent":"","request_id":"","cache":""}`},
		{"escapes", func(r *Record) {
			*r = Record{Time: time.Unix(0, 999_999_999).UTC(), Duration: 9 * time.Microsecond,
				Target: []byte("/\"\\<é\xff\xe2\x82"), Referer: []byte("\n\r\t\x01\x1f\x7f"), UserAgent: []byte("\u2028\ufffd")}
		},
			`{"time":"1970-01-01T00:00:00.999Z","client":"","method":"","target":"/\"\\<é` + "\ufffd\ufffd\ufffd" + `","protocol":"","host":"","status":0,` +
				`"bytes":0,"duration":0.000009,"referer":"\n\r\t\u0001\u001f` + "\x7f" + `","user_agent":"` + "\u2028\ufffd" + `","request_id":"","cache":""}`},
	}
	var s shard
	for _, tt := range tests {
		r := full()
		tt.change(r)
		s.json(r)
		if string(s.line) != tt.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, s.line, tt.want)
		}
		if !json.Valid(s.line) {
			t.Errorf("%s: not valid: %s", tt.name, s.line)
		}
	}
}

// The printed second must follow the time and its zone.
func TestClock(t *testing.T) {
	var s shard
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		at   time.Time
		want string
	}{
		{at, "[01/Jan/2026:00:00:00 +0000]"},
		{at.Add(999 * time.Millisecond), "[01/Jan/2026:00:00:00 +0000]"},
		{at.Add(time.Second), "[01/Jan/2026:00:00:01 +0000]"},
		{at.Add(time.Second).In(time.FixedZone("", 3600)), "[01/Jan/2026:01:00:01 +0100]"},
		{at.Add(-time.Second), "[31/Dec/2025:23:59:59 +0000]"},
	} {
		r := full()
		r.Time = step.at
		if s.combined(r); !strings.Contains(string(s.line), step.want) {
			t.Errorf("%v: %s, want %s", step.at, s.line, step.want)
		}
	}
}

// Whatever the fields hold, a line is one line; of JSON, an object from which
// encoding/json reads what it would have written itself.
func FuzzFormat(f *testing.F) {
	for _, b := range []string{"", "plain", "\"\\\x00\n\x7f", "é\xff\xe2\x82", "\u2028"} {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s shard
		r := &Record{Method: []byte("GET"), Target: b, Protocol: "HTTP/1.1", Referer: b, UserAgent: b, Host: b, RequestID: b, Cache: b}
		s.combined(r)
		for _, c := range s.line[:len(s.line)-1] {
			if c < ' ' || c > '~' {
				t.Fatalf("byte %#x in %q", c, s.line)
			}
		}
		if n := strings.Count(string(s.line), `"`); n != 6 {
			t.Fatalf("%d quotes in %q", n, s.line)
		}
		s.json(r)
		if strings.Count(string(s.line), "\n") != 1 || !utf8.Valid(s.line) {
			t.Fatalf("line %q", s.line)
		}
		var got map[string]any
		if err := json.Unmarshal(s.line, &got); err != nil {
			t.Fatalf("line %q: %v", s.line, err)
		}
		marshalled, err := json.Marshal(string(b))
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(marshalled, &want); err != nil {
			t.Fatal(err)
		}
		if got["target"] != want || got["cache"] != want {
			t.Fatalf("%q is read as %q, want %q", b, got["target"], want)
		}
	})
}

// Every byte is told apart at every place among plain ones.
func TestPlainRun(t *testing.T) {
	for c := range 256 {
		plain := c >= ' ' && c < 0x7f && c != '"' && c != '\\'
		for at := range 16 {
			b := []byte("plain, ~ !#[] text")
			b[at] = byte(c)
			want := 16
			if !plain {
				want = at / 8 * 8
			}
			if got := plainRun(b); got != want {
				t.Errorf("%#x at %d: %d, want %d", c, at, got, want)
			}
		}
	}
}
