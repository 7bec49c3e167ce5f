package pagecache

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

var errTorn = errors.New("torn")

// readAll reads an arrival to its end, in small pieces.
func readAll(a *Arrival) (string, error) {
	r := a.Reader()
	defer r.Close()
	var got []byte
	for {
		b, err := r.Next(7)
		got = append(got, b...)
		if err != nil {
			return string(got), err
		}
	}
}

// gatherAndEnd does what a fill does.
func gatherAndEnd(a *Arrival, from io.Reader) {
	b, err := a.Gather(from)
	if errors.Is(err, ErrOverLimit) {
		a.EndOver(io.NopCloser(from))
		return
	}
	a.End(b, err)
}

func TestArrivalReaders(t *testing.T) {
	body := strings.Repeat("0123456789", 5000)
	for name, test := range map[string]struct {
		size, limit int64
		from        io.Reader
		readers     int
		want        string
		err         error
	}{
		"known":         {50_000, 50_000, strings.NewReader(body), 20, body, io.EOF},
		"unknown":       {-1, 50_000, strings.NewReader(body), 1, body, io.EOF},
		"byte by byte":  {50_000, 50_000, iotest.OneByteReader(strings.NewReader(body)), 20, body, io.EOF},
		"end with data": {50_000, 50_000, iotest.DataErrReader(strings.NewReader(body)), 20, body, io.EOF},
		"empty":         {-1, 10, strings.NewReader(""), 1, "", io.EOF},
		"over":          {-1, 100, strings.NewReader(body), 1, body, io.EOF},
		"over by one":   {-1, 49_999, iotest.OneByteReader(strings.NewReader(body)), 1, body, io.EOF},
		"torn": {50_000, 50_000, io.MultiReader(strings.NewReader(body[:33_000]), iotest.ErrReader(errTorn)), 20,
			body[:33_000], errTorn},
		"torn over the limit": {-1, 100, io.MultiReader(strings.NewReader(body[:33_000]), iotest.ErrReader(errTorn)), 1,
			body[:33_000], errTorn},
	} {
		t.Run(name, func(t *testing.T) {
			a := NewArrival(test.size, test.limit, nil)
			var wg sync.WaitGroup
			for range test.readers {
				wg.Go(func() {
					if got, err := readAll(a); got != test.want || err != test.err {
						t.Errorf("read %d bytes and %v, want %d and %v", len(got), err, len(test.want), test.err)
					}
				})
			}
			gatherAndEnd(a, test.from)
			wg.Wait()
		})
	}
}

// What has come is seen at once, but the end only when the page is kept.
func TestArrivalHoldsTheEndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := NewArrival(10, 10, nil), new(ArrivalReader)
		from, to := io.Pipe()
		var whole []byte
		go func() { whole, _ = a.Gather(from) }()
		to.Write([]byte("01234"))
		*r = *a.Reader()
		if b, err := r.Next(100); string(b) != "01234" || err != nil {
			t.Fatalf("Next gives %q, %v", b, err)
		}
		to.Write([]byte("56789"))
		to.Close()
		read := false
		go func() {
			if b, err := r.Next(100); string(b) != "56789" || err != nil {
				t.Errorf("Next gives %q, %v", b, err)
			}
			read = true
		}()
		synctest.Wait()
		if read || string(whole) != "0123456789" {
			t.Errorf("the end was read before End: %v; gathered %q", read, whole)
		}
		a.End(whole, nil)
		synctest.Wait()
		if !read {
			t.Error("the end is not there after End")
		}
	})
}

func TestArrivalReadAt(t *testing.T) {
	a := NewArrival(1000, 1000, nil)
	body := bytes.Repeat([]byte("0123456789"), 100)
	var wg sync.WaitGroup
	for off := range 100 {
		wg.Go(func() {
			got, err := io.ReadAll(io.NewSectionReader(a, int64(off*7), 250))
			if err != nil || !bytes.Equal(got, body[off*7:off*7+250]) {
				t.Errorf("at %d: %q, %v", off*7, got, err)
			}
		})
	}
	gatherAndEnd(a, iotest.HalfReader(bytes.NewReader(body)))
	wg.Wait()
	if n, err := a.ReadAt(make([]byte, 10), 995); n != 5 || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
	torn := NewArrival(10, 10, nil)
	gatherAndEnd(torn, io.MultiReader(strings.NewReader("01"), iotest.ErrReader(errTorn)))
	if n, err := torn.ReadAt(make([]byte, 10), 0); n != 2 || err != errTorn {
		t.Errorf("of a torn body: %d bytes, %v", n, err)
	}
}

// closeCount counts how often it is closed.
type closeCount struct {
	io.Reader
	n int
}

func (c *closeCount) Close() error { c.n++; return nil }

// The rest of a body over the limit is closed once, whoever is first: its
// reader, or the one who finds out.
func TestArrivalRestIsClosedOnce(t *testing.T) {
	for _, early := range []bool{false, true} {
		a, rest := NewArrival(-1, 2, nil), &closeCount{Reader: strings.NewReader("345")}
		if _, err := a.Gather(strings.NewReader("012")); !errors.Is(err, ErrOverLimit) {
			t.Fatalf("Gather: %v", err)
		}
		r := a.Reader()
		if early {
			r.Close()
		}
		a.EndOver(rest)
		r.Close()
		r.Close()
		if rest.n != 1 {
			t.Errorf("reader gone early: %v: closed %d times", early, rest.n)
		}
	}
}

func TestFlightArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x Flights
		page, key := &Page{Length: 3}, []byte("k")
		f, _ := x.Join(key)
		known := make(chan FlightResult, 1)
		go func() { known <- f.Result() }()
		synctest.Wait()
		if len(known) != 0 {
			t.Fatal("a result before anything is known")
		}
		f.Arrive(FlightResult{Page: page})
		if r := <-known; r.Outcome != FlightArriving || r.Page != page || !r.Keeps() {
			t.Errorf("%+v", r)
		}
		if g, leader := x.Join(key); g != f || leader {
			t.Error("who comes while the page arrives does not join")
		}
		f.Finish(FlightResult{Outcome: FlightFailed})
		if r := f.Result(); r.Outcome != FlightFailed || r.Keeps() {
			t.Errorf("after the end: %+v", r)
		}
	})
}

// What was hit before its page arrives is given to nobody; after that, it is
// not kept.
func TestFlightArrivesInvalid(t *testing.T) {
	var x Flights
	key := []byte("k")
	for _, before := range []bool{true, false} {
		f, _ := x.Join(key)
		if before {
			x.InvalidateKey(key)
		}
		f.Arrive(FlightResult{Page: new(Page)})
		if !before {
			x.InvalidateKey(key)
		}
		select {
		case <-f.Arriving():
			if before {
				t.Error("an invalid flight arrives")
			}
		default:
			if !before {
				t.Error("nothing arrives")
			}
		}
		if f.Finish(FlightResult{Outcome: FlightKept}) || f.Result().Outcome != FlightInvalidated {
			t.Errorf("before: %v: %+v", before, f.Result())
		}
	}
}
