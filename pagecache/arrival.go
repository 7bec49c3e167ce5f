package pagecache

import (
	"errors"
	"io"
	"sync"
)

// Errors of Arrival.Gather. What has come is with the caller; the rest is not
// read.
var (
	// ErrOverLimit is that of a body that is larger than may be kept.
	ErrOverLimit = errors.New("pagecache: body over the limit")

	// ErrOverBudget is that of a body of an unknown length for which the Budget
	// has no room.
	ErrOverBudget = errors.New("pagecache: no room in the budget for a body")
)

// firstRoom is the room that a body gets at first.
const firstRoom = 16 << 10

// GrowBody makes room behind b, which is full, for more of a body of size bytes
// (-1: unknown) of which at most limit are wanted. The room grows with what has
// come, however much is announced: who announces without sending takes nothing.
// It is never more than one byte over size and limit, so that the end can be
// seen.
func GrowBody(b []byte, size, limit int64) []byte {
	most := limit + 1
	if size >= 0 {
		most = min(most, size+1)
	}
	room := min(max(2*int64(cap(b)), firstRoom), max(most, int64(len(b))+1))
	return append(make([]byte, 0, room), b...)
}

// Arrival is the body of a page on its way in. One goroutine gathers it; any
// number of others read what has come, each at his own speed, and wait for the
// rest: nobody holds up the one who gathers, or another reader. There is one
// copy of the bytes, however many read them.
//
// Gather and then End are called once, by one goroutine. The other methods may
// be called from any goroutine.
type Arrival struct {
	size, limit int64
	holding     *Holding

	mu   sync.Mutex
	more sync.Cond // on mu: one of the fields below has changed
	data []byte    // what readers see; what has come behind it is Gather's
	err  error     // how the body ended; io.EOF: whole; nil: it has not
	uses int       // readers that are not closed, and the fill until its end

	// Of a body over the limit: what follows data, for its only reader, and
	// whether that has gone.
	rest io.ReadCloser
	gone bool
}

// NewArrival begins a body of size bytes, -1 if that is unknown, of which at
// most limit are gathered. The holding, which may be nil, is for size bytes
// already, or grows; it ends when the body has ended and its last reader is
// closed.
func NewArrival(size, limit int64, holding *Holding) *Arrival {
	a := &Arrival{size: size, limit: limit, holding: holding, uses: 1}
	a.more.L = &a.mu
	return a
}

// Gather reads the body to its end and returns it. The bytes are the arrival's
// and must not change any more. Readers see all but the end, which waits for
// End: who has the whole body finds the page kept. Over the limit, or without
// room in the budget, it gives the error for that and what has come, and leaves
// the rest unread.
func (a *Arrival) Gather(from io.Reader) ([]byte, error) {
	for b := []byte(nil); ; {
		if len(b) == cap(b) {
			b = GrowBody(b, a.size, a.limit)
			if a.size < 0 && !a.holding.Grow(int64(cap(b))) {
				return b, ErrOverBudget // readers see all of b already
			}
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case int64(len(b)) > a.limit:
			a.show(b)
			return b, ErrOverLimit
		case int64(len(b)) != a.size:
			a.show(b)
		}
	}
}

// show lets readers see b, of which they know the beginning.
func (a *Arrival) show(b []byte) {
	a.mu.Lock()
	a.data = b
	a.mu.Unlock()
	a.more.Broadcast()
}

// End ends a body: it was gathered whole, and b is all of it, or it broke off
// with err. It wakes all readers.
func (a *Arrival) End(b []byte, err error) {
	a.mu.Lock()
	if err == nil {
		a.data, err = b, io.EOF
	}
	a.err = err
	a.unuse()
	a.mu.Unlock()
	a.more.Broadcast()
}

// unuse notes that one of those who need the body does not any more.
func (a *Arrival) unuse() {
	if a.uses--; a.uses == 0 {
		a.holding.End()
	}
}

// EndOver ends a body that is over the limit or the budget: its only reader reads on in rest
// at his own speed, and closes it. If he has gone already, rest is closed here.
func (a *Arrival) EndOver(rest io.ReadCloser) {
	a.mu.Lock()
	gone := a.gone
	a.rest = rest
	a.unuse()
	a.mu.Unlock()
	a.more.Broadcast()
	if gone {
		rest.Close()
	}
}

// leave is the end of a reader, and of what is over the limit, whose only one
// it is.
func (a *Arrival) leave() {
	a.mu.Lock()
	gone, rest := a.gone, a.rest
	a.gone = true
	a.unuse()
	a.mu.Unlock()
	if !gone && rest != nil {
		rest.Close()
	}
}

// from waits for bytes at a place, and gives those that are there. rest is set
// where they are to be read from there, and the error where none will come.
func (a *Arrival) from(off int64) (b []byte, rest io.Reader, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		switch {
		case off < int64(len(a.data)):
			return a.data[off:], nil, nil
		case a.rest != nil:
			return nil, a.rest, nil
		case a.err != nil:
			return nil, nil, a.err
		}
		a.more.Wait()
	}
}

// ReadAt waits for the bytes that it is asked for. It is for bodies of a known
// size, which are not over the limit.
func (a *Arrival) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var b []byte
		b, _, err = a.from(off + int64(n))
		n += copy(p[n:], b)
	}
	return n, err
}

// Reader reads an arriving body from its beginning. A body whose size is
// unknown has one reader at most.
func (a *Arrival) Reader() *ArrivalReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.uses++; a.uses == 1 {
		a.holding.resume() // the body ended before its reader came
	}
	return &ArrivalReader{arrival: a}
}

// ArrivalReader is a reader of an Arrival, for one goroutine. It has to be
// closed.
type ArrivalReader struct {
	arrival *Arrival
	off     int64
	buffer  []byte // of what is over the limit
	closed  bool
}

// Next waits for bytes and gives at most max of them, until io.EOF or the error
// that the body broke off with. They are valid until the next call, and must
// not be written to.
func (r *ArrivalReader) Next(max int) ([]byte, error) {
	b, rest, err := r.arrival.from(r.off)
	switch {
	case err != nil:
		return nil, err
	case rest == nil:
		b = b[:min(len(b), max)]
		r.off += int64(len(b))
		return b, nil
	}
	if len(r.buffer) < max {
		r.buffer = make([]byte, max)
	}
	n, err := rest.Read(r.buffer[:max])
	if n > 0 {
		err = nil // it comes again
	}
	return r.buffer[:n], err
}

// Close ends the reading. It always gives nil.
func (r *ArrivalReader) Close() error {
	if !r.closed {
		r.closed = true
		r.arrival.leave()
	}
	return nil
}
