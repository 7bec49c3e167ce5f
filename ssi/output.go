package ssi

import (
	"io"
	"slices"
)

const (
	writeSize  = 64 << 10 // what WriteTo gathers for one Write
	gatherFrom = 32 << 10 // number of pieces from which on small ones are joined
	gatherSize = 4 << 10  // of the joined piece
)

// print adds b, which is kept, to what the document prints.
func (d *document) print(b []byte) {
	n := int64(len(b))
	if n == 0 {
		return
	}
	if d.capture != nil {
		if d.capture.n.Add(n) > maxExpanded {
			return
		}
	} else if d.run.printed.Add(n) > d.run.env.MaxPage {
		d.run.overflow()
		return
	}
	if len(d.pieces) >= gatherFrom && n < gatherSize/2 {
		d.join(b)
		return
	}
	d.pieces = append(d.pieces, piece{b: b})
}

// join copies b behind the last piece, so that a document of a million tiny parts does not take a piece for each.
func (d *document) join(b []byte) {
	n := len(d.pieces)
	if d.gather == n && n > len(d.shown) && len(d.pieces[n-1].b)+len(b) <= gatherSize {
		d.pieces[n-1].b = append(d.pieces[n-1].b, b...)
		return
	}
	d.pieces = append(d.pieces, piece{b: append(make([]byte, 0, gatherSize), b...)})
	d.gather = n + 1
}

// Len is the number of bytes printed; for a complete run.
func (r *Run) Len() int { return r.page.size() }

// AppendTo appends what was printed; for a complete run.
func (r *Run) AppendTo(dst []byte) []byte {
	return r.page.appendTo(slices.Grow(dst, r.page.size()))
}

func (d *document) size() int {
	n := 0
	for i := range d.pieces {
		p := &d.pieces[i]
		if n += len(p.b); p.sub != nil {
			n += p.sub.size()
		}
	}
	return n
}

func (d *document) appendTo(dst []byte) []byte {
	for i := range d.pieces {
		p := &d.pieces[i]
		if dst = append(dst, p.b...); p.sub != nil {
			dst = p.sub.appendTo(dst)
		}
	}
	return dst
}

// Ready says whether WriteTo has something to write before it has to wait.
func (r *Run) Ready() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := cursor{stack: []place{{d: &r.page}}}
	_, s := c.next()
	return s == more
}

// WriteTo prints in order: what is ready is gathered into one Write, up to some 64 KiB, then it waits for what is
// pending. No lock is held in Write. Over Env.MaxPage the error is ErrTooLarge, after no more than that was written.
func (r *Run) WriteTo(w io.Writer) (int64, error) {
	g := gatherer{w: w}
	c := cursor{stack: []place{{d: &r.page}}}
	var ready [][]byte
	for {
		next, err := r.collect(&c, &ready, len(g.buf) == 0)
		if err != nil {
			return g.written, err
		}
		if g.buf == nil {
			g.buf = make([]byte, 0, total(ready))
		}
		for _, b := range ready {
			if err := g.put(b); err != nil {
				return g.written, err
			}
		}
		if next == more {
			continue
		}
		if err := g.flush(); err != nil || next == end {
			return g.written, err
		}
	}
}

// total is the room that a first batch wants in the buffer.
func total(ready [][]byte) int {
	n := 0
	for _, b := range ready {
		n += len(b)
	}
	return min(n, writeSize)
}

// What follows at a reader's place.
type state int

const (
	more    state = iota // more that is ready
	pending              // something that is not
	end                  // nothing
)

// collect puts what is ready at c, some writeSize of it, into ready; it waits for something if block is set.
func (r *Run) collect(c *cursor, ready *[][]byte, block bool) (state, error) {
	*ready = (*ready)[:0]
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 0; n < writeSize; {
		if r.tooLarge.Load() {
			return end, ErrTooLarge // also keeps what was dropped from leaving a gap
		}
		b, s := c.next()
		switch {
		case s == more:
			*ready = append(*ready, b)
			n += len(b)
		case s == end || !block || n > 0:
			return s, nil
		case r.closed:
			return s, ErrClosed
		case r.done == nil:
			return s, ErrPending
		default:
			r.changed.Wait()
		}
	}
	return more, nil
}

// cursor is a reader's place in the tree of documents. Its methods want Run.mu.
type cursor struct{ stack []place }

type place struct {
	d *document
	i int
}

func (c *cursor) next() ([]byte, state) {
	for len(c.stack) > 0 {
		top := &c.stack[len(c.stack)-1]
		if top.i < len(top.d.shown) {
			p := top.d.shown[top.i]
			top.i++
			if p.sub == nil {
				return p.b, more
			}
			c.stack = append(c.stack, place{d: p.sub})
			continue
		}
		if !top.d.ended {
			return nil, pending
		}
		c.stack = c.stack[:len(c.stack)-1]
	}
	return nil, end
}

// gatherer joins small pieces into writes; large ones are written as they are.
type gatherer struct {
	w       io.Writer
	buf     []byte
	written int64
}

func (g *gatherer) put(b []byte) error {
	if len(g.buf)+len(b) > writeSize {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if len(b) >= writeSize {
		return g.write(b)
	}
	g.buf = append(g.buf, b...)
	return nil
}

func (g *gatherer) flush() error {
	if len(g.buf) == 0 {
		return nil
	}
	err := g.write(g.buf)
	g.buf = g.buf[:0]
	return err
}

func (g *gatherer) write(b []byte) error {
	n, err := g.w.Write(b)
	g.written += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
