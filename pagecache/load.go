package pagecache

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// A file that is being written is looked at again after writePause, at
	// most writeLooks times; then it counts as absent.
	writeLooks = 3
	writePause = 10 * time.Millisecond

	// unkeptRead is the size up to which a body is read where there is no
	// memory to keep it in; larger ones are handed out open.
	unkeptRead = 64 << 10
)

// load makes a page of the file of a name: with a leading slash, and with a
// NUL at its end. coding is that of a precompressed copy, else "".
func (f *Files) load(h *handle, name, coding string) (Hit, outcome) {
	cname := name[1:]
	file, err := f.root.open(h, cname[:len(cname)-1])
	if errors.Is(err, os.ErrClosed) {
		return Hit{}, unsettled // the site is being closed
	}
	if err != nil {
		return Hit{}, f.failed(err, []byte(cname))
	}
	hit, out, err := f.settle(file, name, coding)
	if err != nil {
		out = f.failed(err, []byte(cname))
	}
	if hit.File == nil {
		file.Close()
	}
	if out == found {
		f.reads.Add(1)
	}
	return hit, out
}

// settle reads an open file until nobody writes to it meanwhile: never a torn
// page. Page caching writes in place, so the bytes of a young file count only
// if it is the same a little later. An empty one must stay so for all looks,
// however old it seems: the kernel cuts a file off first and sets its times
// afterwards (ext4 was seen to), and that is how each rewriting begins.
func (f *Files) settle(file *os.File, name, coding string) (Hit, outcome, error) {
	var body []byte
	for look := range writeLooks {
		st, err := fstat(int(file.Fd()))
		if err != nil {
			return Hit{}, trouble, err
		}
		if !st.regular() {
			return Hit{}, missing, nil
		}
		// The time is taken between the look and the read. So a process that
		// was held up here takes a file for older than it was, and rightly so:
		// it reads it that much later.
		young := st.young(f.clock.now())
		if st.id.size == 0 && (young || coding != "") {
			return Hit{}, unsettled, nil
		}
		p := newFilePage(name, coding, &st, f.clock.now())
		p.Kept = !young
		large := st.id.size > f.largest(p.Type)
		if !large {
			if body, err = readBody(file, body, st.id.size); err != nil {
				return Hit{}, trouble, err
			}
			p.Body = body
		}
		if young || st.id.size == 0 {
			f.clock.sleep(writePause)
		}
		after, err := fstat(int(file.Fd()))
		switch {
		case err != nil:
			return Hit{}, trouble, err
		case !st.untouched(&after) || !large && int64(len(body)) != st.id.size:
			continue
		case st.id.size == 0 && look < writeLooks-1:
			continue
		case large:
			return Hit{Page: p, File: file}, found, nil
		}
		return Hit{Page: p}, found, nil
	}
	return Hit{}, unsettled, nil
}

// readBody reads size bytes from the start of the file, or fewer if it has
// become shorter. It uses the space of an earlier try if that fits.
func readBody(file *os.File, space []byte, size int64) ([]byte, error) {
	if int64(cap(space)) != size || space == nil {
		space = make([]byte, size)
	}
	n, err := file.ReadAt(space[:size], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return space[:n], nil
}

// largest returns the bytes of the largest file of a type that is read. HTML
// always is: it may hold directives.
func (f *Files) largest(mediaType string) int64 {
	switch {
	case strings.HasPrefix(mediaType, "text/html"):
		return f.maxKeep
	case f.memory.largest() > 0:
		return min(f.maxKeep, f.memory.largest())
	}
	return min(f.maxKeep, unkeptRead)
}
