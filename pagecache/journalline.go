package pagecache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

// A journal's file is lines of text. The first says whose it is, each other one
// is a record; left is how many more records were appended with it, after it:
//
//	ssiedge-journal 1 name=e5ab41d9f5e5b8a2 file=1835021.1764522300.5 floor=0 head=0 records=0 #8c7f1d02
//	1 0 2026-11-30T17:05:00.123456789Z url hard "" "www.example.com/towns" #1b9d3a40
//	seq left time kind hard|soft site pattern #checksum
//
// The checksum is CRC-32C of what stands before the blank before it.
const (
	journalMagic   = "ssiedge-journal"
	journalVersion = "1"
	checksumSize   = len(" #00000000\n")
	// maxLine has room for any line: a quoted byte takes four at most.
	maxLine = 4*(maxPattern+maxSite) + 256
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journalHeader is the first line of a journal's file.
type journalHeader struct {
	name  string
	birth string // of the file that it was written to: fileBirth
	floor uint64
	head  uint64 // up to here numbers may be missing; after it none may
	count uint64 // of the records that were written with it, all of them up to head
}

// sealed appends the checksum of line, which starts at from, and ends it.
func sealed(dst []byte, from int) []byte {
	return fmt.Appendf(dst, " #%08x\n", crc32.Checksum(dst[from:], castagnoli))
}

// unsealed gives a whole line without its checksum, if that is right.
func unsealed(line []byte) (string, error) {
	n := len(line) - checksumSize
	if n < 0 {
		return "", errors.New("line too short")
	}
	if want := fmt.Sprintf(" #%08x\n", crc32.Checksum(line[:n], castagnoli)); string(line[n:]) != want {
		return "", errors.New("wrong checksum")
	}
	return string(line[:n]), nil
}

func appendHeader(dst []byte, h journalHeader) []byte {
	from := len(dst)
	dst = fmt.Appendf(dst, "%s %s name=%s file=%s floor=%d head=%d records=%d", journalMagic, journalVersion, h.name, h.birth, h.floor, h.head, h.count)
	return sealed(dst, from)
}

func parseHeader(line []byte) (h journalHeader, err error) {
	text, err := unsealed(line)
	if err != nil {
		return h, err
	}
	words := strings.Split(text, " ")
	if len(words) != 7 || words[0] != journalMagic {
		return h, errors.New("no journal")
	}
	if words[1] != journalVersion {
		return h, fmt.Errorf("version %q, want %s", words[1], journalVersion)
	}
	if h.name, err = headerField(words[2], "name="); err != nil {
		return h, err
	}
	if h.birth, err = headerField(words[3], "file="); err != nil {
		return h, err
	}
	if h.floor, err = headerNumber(words[4], "floor="); err != nil {
		return h, err
	}
	if h.head, err = headerNumber(words[5], "head="); err != nil {
		return h, err
	}
	if h.count, err = headerNumber(words[6], "records="); err != nil {
		return h, err
	}
	if h.floor > h.head {
		return h, fmt.Errorf("floor %d is above head %d", h.floor, h.head)
	}
	return h, nil
}

func headerField(word, name string) (string, error) {
	value, ok := strings.CutPrefix(word, name)
	if !ok || value == "" {
		return "", fmt.Errorf("header has %q, want %s and a value", word, name)
	}
	return value, nil
}

func headerNumber(word, name string) (uint64, error) {
	value, err := headerField(word, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(value, 10, 64)
}

// appendRecord appends the line of a record, after which left more follow that
// were appended with it.
func appendRecord(dst []byte, r *Record, left int) []byte {
	from := len(dst)
	mode := "hard"
	if r.Soft {
		mode = "soft"
	}
	dst = fmt.Appendf(dst, "%d %d ", r.Seq, left)
	dst = r.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = fmt.Appendf(dst, " %s %s %+q %+q", r.Kind, mode, r.Site, r.Pattern)
	return sealed(dst, from)
}

// parseRecord reads a record's line. Where only the record makes no sense, a
// kind that is not known say, its number is given all the same.
func parseRecord(line []byte) (r Record, left uint64, err error) {
	text, err := unsealed(line)
	if err != nil {
		return r, 0, err
	}
	words := strings.SplitN(text, " ", 6)
	if len(words) != 6 {
		return r, 0, errors.New("fields are missing")
	}
	if r.Seq, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return r, 0, err
	}
	if left, err = strconv.ParseUint(words[1], 10, 64); err != nil {
		return r, 0, err
	}
	if r.Time, err = time.Parse(time.RFC3339Nano, words[2]); err != nil {
		return r, 0, err
	}
	r.Time = r.Time.UTC()
	var ok bool
	if r.Kind, ok = parseKind(words[3]); !ok {
		return r, 0, fmt.Errorf("kind %q is not known", words[3])
	}
	if r.Soft = words[4] == "soft"; !r.Soft && words[4] != "hard" {
		return r, 0, fmt.Errorf("mode %q, want hard or soft", words[4])
	}
	if r.Site, r.Pattern, err = unquotePair(words[5]); err != nil {
		return r, 0, err
	}
	return r, left, r.validate()
}

// unquotePair reads two quoted strings with a blank between.
func unquotePair(text string) (a, b string, err error) {
	first, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", err
	}
	rest, ok := strings.CutPrefix(text[len(first):], " ")
	if !ok {
		return "", "", errors.New("one string, want two")
	}
	if a, err = strconv.Unquote(first); err == nil {
		b, err = strconv.Unquote(rest)
	}
	return a, b, err
}
