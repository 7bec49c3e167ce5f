package pagecache

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// preamble is what the lines of an envelope say, in their order, one a line:
//
//	journal: "e5ab41d9f5e5b8a2"                        quoted as Go does
//	key: "p0\x00http\x00www.example.com\x00/towns?\x00"
//	status: 200                                        0: a list of the variants of one
//	seq: 42
//	measured: 1764522300123 2025-11-30T17:05:00.123Z   Unix milliseconds; the date is for people
//	age: 0                                             seconds, as are the next three
//	lifetime: 3600
//	stale-while: 0
//	stale-error: 600
//	flags: no-cache must-revalidate
//	head: 213                                          bytes, as are those of the next
//	body: 10240
//	inflated: 0                                        bytes of the body before it was compressed with deflate; 0: it is as it was
//
// and an empty line. There is one way to write a preamble: one that says the
// same otherwise is none.
type preamble struct {
	journal    string
	key        string
	status     int
	seq        uint64
	freshness  Freshness
	head, body uint32
	inflated   uint32
}

// flagWords are the names of FreshnessFlags, by bit.
var flagWords = [...]string{"no-cache", "must-revalidate", "s-maxage"}

func preambleOf(key []byte, journal string, p *Page, body int) preamble {
	return preamble{
		journal: journal, key: string(key), status: p.Status, seq: p.Seq, freshness: p.Freshness,
		head: uint32(len(p.Head)), body: uint32(body),
	}
}

// length is the bytes of what follows the preamble.
func (m *preamble) length() uint64 { return uint64(m.head) + uint64(m.body) }

func (m *preamble) append(dst []byte) []byte {
	f := &m.freshness
	dst = strconv.AppendQuoteToASCII(append(dst, "journal: "...), m.journal)
	dst = strconv.AppendQuoteToASCII(append(dst, "\nkey: "...), m.key)
	dst = strconv.AppendUint(append(dst, "\nstatus: "...), uint64(m.status), 10)
	dst = strconv.AppendUint(append(dst, "\nseq: "...), m.seq, 10)
	dst = strconv.AppendInt(append(dst, "\nmeasured: "...), f.Measured, 10)
	dst = time.UnixMilli(f.Measured).UTC().AppendFormat(append(dst, ' '), "2006-01-02T15:04:05.000Z")
	dst = appendNumber(dst, "age", f.InitialAge)
	dst = appendNumber(dst, "lifetime", f.Lifetime)
	dst = appendNumber(dst, "stale-while", f.StaleWhile())
	dst = appendNumber(dst, "stale-error", f.StaleError)
	dst = append(dst, "\nflags:"...)
	for bit, word := range flagWords {
		if f.Flags()&(1<<bit) != 0 {
			dst = append(append(dst, ' '), word...)
		}
	}
	dst = appendNumber(dst, "head", m.head)
	dst = appendNumber(dst, "body", m.body)
	dst = appendNumber(dst, "inflated", m.inflated)
	return append(dst, "\n\n"...)
}

func appendNumber(dst []byte, name string, n uint32) []byte {
	dst = append(append(append(dst, '\n'), name...), ": "...)
	return strconv.AppendUint(dst, uint64(n), 10)
}

// readPreamble reads the preamble that b starts with; rest is what follows.
// Nothing of b is kept.
func readPreamble(b []byte) (m preamble, rest []byte, ok bool) {
	end := bytes.Index(b, []byte("\n\n"))
	if end < 0 {
		return m, nil, false
	}
	l := preambleLines{text: string(b[:end+1])}
	m.journal, m.key = l.quoted("journal"), l.quoted("key")
	m.status, m.seq = int(l.number("status", math.MaxUint16)), l.number("seq", math.MaxUint64)
	m.freshness.Measured = l.time("measured")
	m.freshness.InitialAge = uint32(l.number("age", math.MaxUint32))
	m.freshness.Lifetime = uint32(l.number("lifetime", math.MaxUint32))
	while := uint32(l.number("stale-while", flagged-1))
	staleError := uint32(l.number("stale-error", math.MaxUint32))
	m.freshness.while = l.flags("flags") | while
	m.freshness.StaleError = staleError
	m.head = uint32(l.number("head", math.MaxUint32))
	m.body = uint32(l.number("body", math.MaxUint32))
	m.inflated = uint32(l.number("inflated", math.MaxUint32))
	var space [512]byte
	if l.bad || !bytes.Equal(m.append(space[:0]), b[:end+2]) {
		return m, nil, false
	}
	return m, b[end+2:], true
}

// preambleLines are the lines of a preamble, read from the first to the last.
type preambleLines struct {
	text string
	bad  bool // something was not as wanted
}

// value gives the value of the next line, which has to be of that name.
func (l *preambleLines) value(name string) string {
	line, rest, _ := strings.Cut(l.text, "\n")
	value, ok := strings.CutPrefix(line, name)
	l.text = rest
	l.bad = l.bad || !ok || !strings.HasPrefix(value, ":")
	return strings.TrimLeft(value, ": ")
}

func (l *preambleLines) quoted(name string) string {
	s, err := strconv.Unquote(l.value(name))
	l.bad = l.bad || err != nil
	return s
}

func (l *preambleLines) number(name string, most uint64) uint64 {
	n, err := strconv.ParseUint(l.value(name), 10, 64)
	l.bad = l.bad || err != nil || n > most
	return n
}

func (l *preambleLines) time(name string) int64 {
	text, _, _ := strings.Cut(l.value(name), " ")
	n, err := strconv.ParseInt(text, 10, 64)
	l.bad = l.bad || err != nil
	return n
}

func (l *preambleLines) flags(name string) (while uint32) {
	for word := range strings.FieldsSeq(l.value(name)) {
		for bit, known := range flagWords {
			if word == known {
				while |= flagged | 1<<bit
			}
		}
	}
	return while
}
