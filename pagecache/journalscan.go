package pagecache

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// journalScan is what was found in a journal's file.
type journalScan struct {
	header  journalHeader
	head    uint64 // the highest number found, also beyond what is lost
	records int    // in whole Appends
	size    int64  // bytes up to the end of the last whole Append
	torn    bool   // an Append follows that was not finished, hence not acknowledged
	lost    error  // what is wrong at size; what follows there is lost; nil: nothing is
}

// scanner reads a journal's file line by line.
type scanner struct {
	journalScan
	in    *bufio.Reader
	use   func(Record) error
	line  int      // number of the line last read
	at    int64    // bytes read
	last  uint64   // number of the record last read
	batch []Record // records of an Append whose last one was not read yet
	left  uint64   // how many of it are to come
}

// scanJournal reads a journal's file and calls use for the records of each
// Append that is there whole. The error is r's, or use's, and is not about what
// the file says: that is in lost.
func scanJournal(r io.Reader, use func(Record) error) (journalScan, error) {
	s := &scanner{in: bufio.NewReaderSize(r, maxLine), use: use}
	for {
		line, err := s.next()
		if err == io.EOF {
			return s.journalScan, nil
		}
		if err == nil && s.lost == nil {
			err = s.take(line)
		}
		if err == nil && s.lost != nil {
			return s.journalScan, s.salvage(line)
		}
		if err != nil {
			return s.journalScan, err
		}
	}
}

// next reads a line; io.EOF: there is none that is whole. What is wrong with the
// line is in s.lost.
func (s *scanner) next() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	s.line++
	s.at += int64(len(line))
	switch {
	case err == bufio.ErrBufferFull:
		s.lose(fmt.Errorf("longer than %d bytes", maxLine))
	case err == io.EOF && s.line == 1:
		s.lose(errors.New("no header"))
	case err == io.EOF && bytes.IndexByte(line, 0) >= 0:
		// A write that was cut off leaves the beginning of what was written.
		// NULs are written by nobody: a disk has lost something.
		s.lose(errors.New("NUL bytes"))
	case err == io.EOF && endsWrong(line):
		s.lose(errors.New("the line's end is another byte"))
	case err == io.EOF && uint64(s.records) < s.header.count:
		s.lose(fmt.Errorf("%d records, want %d or more", s.records, s.header.count))
	case err == io.EOF:
		s.torn = len(line) > 0 || len(s.batch) > 0
		return nil, io.EOF
	default:
		return line, err
	}
	return line, nil
}

// endsWrong says whether a line would be whole but for its last byte: it was
// written to its end, so it may have been acknowledged.
func endsWrong(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	_, err := unsealed(append(bytes.Clone(line[:len(line)-1]), '\n'))
	return err == nil
}

func (s *scanner) lose(err error) {
	s.lost = fmt.Errorf("line %d: %w", s.line, err)
}

// take uses a line. What is wrong with it is in s.lost; the error is use's.
func (s *scanner) take(line []byte) error {
	if s.line == 1 {
		h, err := parseHeader(line)
		if err != nil {
			s.lose(err)
			return nil
		}
		s.header, s.head, s.size = h, h.head, s.at
		return nil
	}
	r, left, err := parseRecord(line)
	if err == nil {
		err = s.follows(&r, left)
	}
	if err != nil {
		s.lose(err)
		return nil
	}
	s.last, s.left = r.Seq, left
	s.batch = append(s.batch, r)
	if left > 0 {
		return nil
	}
	return s.finish()
}

// follows says whether a record may come here. Only before the header's head
// may numbers be missing: those were compacted away.
func (s *scanner) follows(r *Record, left uint64) error {
	if r.Seq <= s.last {
		return fmt.Errorf("record %d after %d", r.Seq, s.last)
	}
	if before := max(s.last, s.header.head); r.Seq > s.header.head && r.Seq != before+1 {
		return fmt.Errorf("record %d, want %d", r.Seq, before+1)
	}
	if len(s.batch) > 0 && left != s.left-1 {
		return fmt.Errorf("record %d has %d after it, want %d", r.Seq, left, s.left-1)
	}
	return nil
}

// finish uses the records of one Append.
func (s *scanner) finish() error {
	for _, r := range s.batch {
		if err := s.use(r); err != nil {
			return err
		}
	}
	s.records += len(s.batch)
	s.batch = s.batch[:0]
	s.head, s.size = max(s.head, s.last), s.at
	return nil
}

// salvage reads what is lost, from line on, for its numbers only: none of them
// may be given again.
func (s *scanner) salvage(line []byte) error {
	s.head = max(s.head, s.last)
	for {
		r, _, _ := parseRecord(line)
		s.head = max(s.head, r.Seq)
		var err error
		line, err = s.in.ReadSlice('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
	}
}
