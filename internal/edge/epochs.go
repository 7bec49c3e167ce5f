package edge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const (
	epochCount    = 1 << 14
	epochFileName = "epochs"
)

// epochs count how often a URL was invalidated, for keys that hold more than
// the URL: nobody could list them, so their epoch moves on and leaves them
// behind. Several URLs may share a counter; that costs a fill.
//
// Beside the journal they are in a file, so that pages of such keys are found
// again after a restart, and after kill -9 none that was left behind. It begins
// with a line that says whose it is; the counters follow, 4 bytes each. Where
// there is none, or one of another journal, they start anywhere, and nothing of
// before is found.
type epochs struct {
	seed     uint64
	counters [epochCount]atomic.Uint32

	mu   sync.Mutex // one counter at a time is written
	file *os.File   // nil: they are in memory only
	path string
	head int64 // bytes before the counters
	log  *slog.Logger
}

// newEpochs makes some that are gone with the process.
func newEpochs() *epochs {
	e := &epochs{seed: rand.Uint64()}
	for i := range e.counters {
		e.counters[i].Store(rand.Uint32())
	}
	return e
}

// openEpochs opens those of a journal in the folder dir, or makes them there.
// Trouble is said in the log: they are in memory then.
func openEpochs(dir, journal string, log *slog.Logger) *epochs {
	path := filepath.Join(dir, epochFileName)
	e, err := readEpochs(path, journal)
	if err != nil || e == nil {
		e = newEpochs()
		err = e.create(path, journal)
	}
	e.path, e.log = path, log
	if err != nil {
		e.giveUp(err)
	}
	return e
}

// epochHead is the line that the file of a journal begins with.
func epochHead(seed uint64, journal string) []byte {
	return fmt.Appendf(nil, "ssiedge-epochs 1 %016x %q\n", seed, journal)
}

// readEpochs reads the file of a journal; nil: there is none that is whole.
func readEpochs(path, journal string) (*epochs, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := new(epochs)
	head, counters, _ := bytes.Cut(b, []byte{'\n'})
	if n, _ := fmt.Sscanf(string(head), "ssiedge-epochs 1 %016x", &e.seed); n != 1 || len(counters) != 4*epochCount {
		return nil, nil
	}
	if want := epochHead(e.seed, journal); string(want) != string(head)+"\n" {
		return nil, nil
	}
	for i := range e.counters {
		e.counters[i].Store(binary.LittleEndian.Uint32(counters[4*i:]))
	}
	e.head = int64(len(head)) + 1
	e.file, err = os.OpenFile(path, os.O_WRONLY, 0)
	return e, err
}

// create writes the file aside and puts it in its place.
func (e *epochs) create(path, journal string) error {
	b := epochHead(e.seed, journal)
	e.head = int64(len(b))
	for i := range e.counters {
		b = binary.LittleEndian.AppendUint32(b, e.counters[i].Load())
	}
	aside := path + ".new"
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		f.Close()
		os.Remove(aside)
		return err
	}
	e.file = f
	return nil
}

// giveUp goes on in memory. The file must not be read again: it is older.
func (e *epochs) giveUp(err error) {
	if e.file != nil {
		e.file.Close()
		e.file = nil
	}
	if gone := os.Remove(e.path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	e.log.Warn("pages that a rule keys by cookies or headers are filled again after the next start", "file", e.path, "error", err)
}

// of gives the place of a URL's counter.
func (e *epochs) of(url []byte) *atomic.Uint32 { return &e.counters[e.index(url)] }

// index is FNV-1a, from a start that nobody outside knows.
func (e *epochs) index(url []byte) int {
	h := e.seed
	for _, c := range url {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return int((h ^ h>>32) % epochCount)
}

func (e *epochs) append(dst, url []byte) []byte {
	return binary.BigEndian.AppendUint32(dst, e.of(url).Load())
}

// next leaves the pages of a URL behind: when it returns, for a process that
// comes after kill -9, too.
func (e *epochs) next(url []byte) {
	i := e.index(url)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.counters[i].Add(1)
	if e.file == nil {
		return
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	if _, err := e.file.WriteAt(b[:], e.head+4*int64(i)); err != nil {
		e.giveUp(err)
	}
}

// close waits until the disk has the counters.
func (e *epochs) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		return nil
	}
	err := errors.Join(e.file.Sync(), e.file.Close())
	e.file = nil
	return err
}
