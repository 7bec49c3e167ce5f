package edge

import (
	"bytes"
	"errors"
	"io"
	"mime"
	stdmultipart "mime/multipart"
	"strings"
	"testing"
	"testing/iotest"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// An independent reader must find the parts, in order, with their fields.
func TestMultipart(t *testing.T) {
	ranges := []byteRange{{20, 6}, {0, 1}, {3, 4}}
	for _, typ := range []string{"text/html; charset=utf-8", ""} {
		m := newMultipart(strings.NewReader(alphabet), ranges, int64(len(alphabet)), typ)
		size := m.size()
		body, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(body)) != size {
			t.Errorf("%d bytes, promised %d", len(body), size)
		}
		media, params, err := mime.ParseMediaType(m.contentType())
		if err != nil || media != "multipart/byteranges" {
			t.Fatalf("content type %q: %v", m.contentType(), err)
		}
		r := stdmultipart.NewReader(bytes.NewReader(body), params["boundary"])
		for i, want := range []struct{ body, contentRange string }{
			{"uvwxyz", "bytes 20-25/26"}, {"a", "bytes 0-0/26"}, {"defg", "bytes 3-6/26"},
		} {
			p, err := r.NextPart()
			if err != nil {
				t.Fatalf("part %d: %v", i, err)
			}
			got, err := io.ReadAll(p)
			if err != nil || string(got) != want.body {
				t.Errorf("part %d is %q (%v), want %q", i, got, err, want.body)
			}
			if got := p.Header.Get("Content-Range"); got != want.contentRange {
				t.Errorf("part %d: Content-Range %q, want %q", i, got, want.contentRange)
			}
			if got := p.Header.Get("Content-Type"); got != typ {
				t.Errorf("part %d: Content-Type %q, want %q", i, got, typ)
			}
		}
		if _, err := r.NextPart(); err != io.EOF {
			t.Errorf("after the last part: %v, want EOF", err)
		}
	}
}

// However it is read, the bytes are the same.
func TestMultipartReads(t *testing.T) {
	read := func(wrap func(io.Reader) io.Reader) (string, *multipart) {
		m := newMultipart(strings.NewReader(alphabet), []byteRange{{1, 3}, {10, 5}}, 26, "a/b")
		body, err := io.ReadAll(wrap(m))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(body), m.boundary, "fixed"), m
	}
	want := "\r\n--fixed\r\nContent-Type: a/b\r\nContent-Range: bytes 1-3/26\r\n\r\nbcd" +
		"\r\n--fixed\r\nContent-Type: a/b\r\nContent-Range: bytes 10-14/26\r\n\r\nklmno\r\n--fixed--\r\n"
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":    func(r io.Reader) io.Reader { return r },
		"one byte": iotest.OneByteReader,
		"halves":   iotest.HalfReader,
	} {
		got, m := read(wrap)
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if m.size() != 0 {
			t.Errorf("%s: %d bytes left at the end", name, m.size())
		}
		if n, err := m.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%s: read after the end: %d, %v", name, n, err)
		}
	}
}

func TestMultipartSizeCountsDown(t *testing.T) {
	m := newMultipart(strings.NewReader(alphabet), []byteRange{{1, 3}, {10, 5}}, 26, "a/b")
	for size := m.size(); size > 0; size-- {
		if got := m.size(); got != size {
			t.Fatalf("size %d, want %d", got, size)
		}
		if n, err := m.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatalf("read: %d, %v", n, err)
		}
	}
}

// A file that was cut short must not look complete.
func TestMultipartShortSource(t *testing.T) {
	m := newMultipart(strings.NewReader("abc"), []byteRange{{0, 2}, {2, 20}}, 26, "")
	if _, err := io.ReadAll(m); err != io.ErrUnexpectedEOF {
		t.Errorf("error %v, want unexpected EOF", err)
	}
	failing := errors.New("disk")
	m = newMultipart(brokenSource{failing}, []byteRange{{0, 2}, {2, 20}}, 26, "")
	if _, err := io.ReadAll(m); err != failing {
		t.Errorf("error %v, want the source's", err)
	}
}

// A source may tell of its end together with its last bytes.
func TestMultipartEagerEnd(t *testing.T) {
	m := newMultipart(eagerSource{strings.NewReader(alphabet)}, []byteRange{{24, 2}, {0, 2}}, 26, "")
	size := m.size()
	body, err := io.ReadAll(m)
	if err != nil || int64(len(body)) != size {
		t.Errorf("%d bytes, %v, want %d", len(body), err, size)
	}
}

type eagerSource struct{ *strings.Reader }

func (e eagerSource) ReadAt(p []byte, at int64) (int, error) {
	n, err := e.Reader.ReadAt(p, at)
	if at+int64(n) == e.Size() {
		err = io.EOF
	}
	return n, err
}

type brokenSource struct{ err error }

func (b brokenSource) ReadAt([]byte, int64) (int, error) { return 0, b.err }

func TestMultipartBoundaryIsRandom(t *testing.T) {
	a := newMultipart(strings.NewReader(""), nil, 0, "").contentType()
	if b := newMultipart(strings.NewReader(""), nil, 0, "").contentType(); a == b {
		t.Errorf("twice %q", a)
	}
}
