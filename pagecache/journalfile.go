package pagecache

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names in the journal's directory, beside that of the lock.
const (
	journalFileName  = "journal"
	journalAsideName = "journal.new"
)

// fileJournal is a Journal in a file.
type fileJournal struct {
	dir  string
	log  *slog.Logger
	lock *os.File
	name string // does not change once it is open

	mu      sync.Mutex
	file    *os.File // nil: closed
	size    int64    // bytes up to the end of what counts
	head    uint64
	floor   uint64
	damaged bool // the file may hold more than what counts, or the disk less: it is written anew before it is used
}

var _ Journal = (*fileJournal)(nil)

// OpenFileJournal opens the journal in the directory dir, or begins one there.
// It makes dir if that is missing and its parent is there. The directory is for
// one process: the error that a second one gets names the first.
//
// What a process that was killed had not finished appending is cut off. Where
// the file is damaged otherwise, or is a copy (a backup that was restored), it
// is not known what else was purged: the journal goes on from its head with the
// floor there and under another name, so that everything is filled again. The
// log says so; nil: nowhere.
func OpenFileJournal(dir string, log *slog.Logger) (Journal, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(dir) // it holds when the process goes elsewhere
	if err != nil {
		return nil, err
	}
	if err := makeState(dir); err != nil {
		return nil, err
	}
	lock, err := lockState(dir)
	if err != nil {
		return nil, err
	}
	j := &fileJournal{dir: dir, log: log, lock: lock}
	if err := j.open(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// makeState makes the directory, and makes sure that it stays.
func makeState(dir string) error {
	err := os.Mkdir(dir, 0o750)
	if errors.Is(err, os.ErrExist) {
		return nil // what else may be there, opening the lock tells
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (j *fileJournal) path() string { return filepath.Join(j.dir, journalFileName) }

// open reads the file, or makes one.
func (j *fileJournal) open() error {
	os.Remove(filepath.Join(j.dir, journalAsideName)) // of a rewrite that was cut off
	f, err := os.OpenFile(j.path(), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		j.name = newJournalName()
		return j.rewrite(nil, 0)
	}
	if err != nil {
		return err
	}
	j.file = f
	scan, err := scanJournal(f, func(Record) error { return nil })
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.path(), err)
	}
	birth, err := fileBirth(f)
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.path(), err)
	}
	if scan.lost == nil && scan.header.birth != birth {
		scan.lost = errors.New("the file is a copy of the journal, as from a backup")
	}
	j.name, j.head, j.floor, j.size = scan.header.name, scan.head, scan.header.floor, scan.size
	switch {
	case scan.lost != nil:
		return j.restart(scan)
	case scan.torn:
		j.log.Info("the journal's last record was not finished, and is cut off", "file", j.path())
		return j.cut()
	}
	return nil
}

// restart goes on without the records there were: under another name, and as
// if everything had been purged.
func (j *fileJournal) restart(scan journalScan) error {
	j.log.Warn("records of the journal are lost: everything is filled again",
		"file", j.path(), "problem", scan.lost, "whole", scan.records, "head", scan.head)
	j.name = newJournalName()
	return j.rewrite(nil, j.head)
}

// cut ends the file after what counts.
func (j *fileJournal) cut() error {
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *fileJournal) Name() string { return j.name }

func (j *fileJournal) Head() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head
}

func (j *fileJournal) Floor() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.floor
}

func (j *fileJournal) Append(records []Record) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return 0, errJournalClosed
	}
	numbered, err := number(records, j.head)
	if err != nil || len(numbered) == 0 {
		return j.head, err
	}
	if err := j.repair(); err != nil {
		return 0, err
	}
	var b []byte
	for i := range numbered {
		b = appendRecord(b, &numbered[i], len(numbered)-1-i)
	}
	if err := j.write(b); err != nil {
		return 0, fmt.Errorf("journal %s: %w", j.path(), err)
	}
	j.head += uint64(len(numbered))
	return j.head, nil
}

// write appends b and waits until the disk has it. After an error nobody knows
// what the disk has, and a later sync would not tell: what was dropped once is
// not written again. So the file is then written anew before it is used.
func (j *fileJournal) write(b []byte) error {
	_, err := j.file.WriteAt(b, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.damaged = true
		j.cut() // so that a refused purge does not come back; rewrite has the last word
		return err
	}
	j.size += int64(len(b))
	return nil
}

// repair writes a damaged file anew.
func (j *fileJournal) repair() error {
	if !j.damaged {
		return nil
	}
	records, err := j.read()
	if err != nil {
		return err
	}
	return j.rewrite(records, j.floor)
}

func (j *fileJournal) Replay(from uint64, f func(Record) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errJournalClosed
	}
	return j.replay(func(r Record) error {
		if r.Seq <= from {
			return nil
		}
		return f(r)
	})
}

// replay calls f for every record that counts.
func (j *fileJournal) replay(f func(Record) error) error {
	scan, err := scanJournal(io.NewSectionReader(j.file, 0, j.size), f)
	if err != nil {
		return err
	}
	if scan.lost == nil && scan.size != j.size {
		scan.lost = fmt.Errorf("%d bytes, want %d", scan.size, j.size)
	}
	if scan.lost != nil {
		return fmt.Errorf("journal %s: changed by somebody else: %w", j.path(), scan.lost)
	}
	return nil
}

func (j *fileJournal) read() (records []Record, err error) {
	err = j.replay(func(r Record) error {
		records = append(records, r)
		return nil
	})
	return records, err
}

func (j *fileJournal) Compact(keep int, since time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return errJournalClosed
	}
	records, err := j.read()
	if err != nil {
		return err
	}
	live, dropped := compact(records, keep, since)
	if err := j.rewrite(live, max(j.floor, dropped)); err != nil {
		j.log.Warn("the journal cannot be compacted: it grows", "file", j.path(), "error", err)
		return err
	}
	return nil
}

// rewrite puts a file with these records and this floor in the journal's place.
// A crash leaves the old one or the new one, whole. An error leaves the old one,
// or the new one marked as damaged.
func (j *fileJournal) rewrite(records []Record, floor uint64) error {
	aside := filepath.Join(j.dir, journalAsideName)
	f, err := os.OpenFile(aside, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	size, err := j.fill(f, records, floor)
	if err == nil {
		err = os.Rename(aside, j.path())
	}
	if err != nil {
		f.Close()
		os.Remove(aside)
		return fmt.Errorf("journal %s: %w", j.path(), err)
	}
	if j.file != nil {
		j.file.Close()
	}
	// Until the directory is on disk, a crash may bring the old file back, which
	// lacks what would be appended to this one.
	j.file, j.size, j.floor, j.damaged = f, size, floor, true
	if err := syncDir(j.dir); err != nil {
		return fmt.Errorf("journal %s: %w", j.path(), err)
	}
	j.damaged = false
	return nil
}

// fill writes a whole journal to f and waits until the disk has it.
func (j *fileJournal) fill(f *os.File, records []Record, floor uint64) (size int64, err error) {
	birth, err := fileBirth(f)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(f)
	line := appendHeader(nil, journalHeader{name: j.name, birth: birth, floor: floor, head: j.head, count: uint64(len(records))})
	for i := range records {
		w.Write(line) // its error is Flush's
		size += int64(len(line))
		line = appendRecord(line[:0], &records[i], 0)
	}
	w.Write(line)
	size += int64(len(line))
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return size, f.Sync()
}

// Close unlocks the directory.
func (j *fileJournal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	j.file = nil
	return errors.Join(err, j.lock.Close())
}
