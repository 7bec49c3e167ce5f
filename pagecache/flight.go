package pagecache

import "sync"

// Flights lets one caller a key ask, and the others wait for what comes of it.
// The zero value is ready. Its methods may be called from any goroutine.
type Flights struct {
	mu    sync.Mutex
	byKey map[string]*Flight // those that may be joined
}

// Flight is one question under way.
type Flight struct {
	flights *Flights
	key     string
	done    chan struct{}
	arrives chan struct{}

	// Guarded by the lock of flights.
	landed   bool
	arriving bool
	invalid  bool
	result   FlightResult
}

// FlightOutcome is how a flight ended.
type FlightOutcome uint8

const (
	FlightAbandoned   FlightOutcome = iota // whoever asked panicked or gave up: nothing is known
	FlightKept                             // the page was kept
	FlightNotKept                          // there was an answer that may not be kept
	FlightFailed                           // there was no answer, or a failure of the origin
	FlightArriving                         // not the end yet: the page will be kept, and its body comes in
	FlightInvalidated                      // a purge or an unsafe method hit the key meanwhile: the result is not kept, and a new flight may be joined
)

// FlightResult is what comes of a flight. Waiters share it.
type FlightResult struct {
	Outcome FlightOutcome
	Reason  Reason   // of FlightNotKept
	Page    *Page    // of FlightKept: it; of FlightArriving: it, without its body; of FlightFailed: the failure, if the waiters may have it too; else nil
	Body    *Arrival // of FlightArriving
	Status  int      // of FlightFailed without a page: what to answer with
	Vary    []string // of FlightKept and FlightArriving: the fields that the page varies by
	Variant string   // of a page that varies: its VariantKey
}

// Fits says whether a kept page is also for a request with other fields. get
// is as in VariantKey; key is the flight's.
func (r *FlightResult) Fits(key []byte, get func(name string) []byte) bool {
	return len(r.Vary) == 0 || string(VariantKey(nil, key, r.Vary, get)) == r.Variant
}

// Keeps says that the page is kept, or is about to be.
func (r *FlightResult) Keeps() bool {
	return r.Outcome == FlightKept || r.Outcome == FlightArriving
}

// Join starts the flight of a key, or finds the one under way. The leader has
// to end it, by Finish or Abandon; whatever else it does, it says
//
//	defer f.Abandon()
//
// so that a panic leaves nobody waiting. key is not kept.
func (x *Flights) Join(key []byte) (f *Flight, leader bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f, ok := x.byKey[view(key)]; ok {
		return f, false
	}
	if x.byKey == nil {
		x.byKey = make(map[string]*Flight)
	}
	f = &Flight{flights: x, key: string(key), done: make(chan struct{}), arrives: make(chan struct{})}
	x.byKey[f.key] = f
	return f, true
}

// Peek finds the flight of a key that is under way, without starting one.
func (x *Flights) Peek(key []byte) (f *Flight, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f, ok = x.byKey[view(key)]
	return f, ok
}

// Invalidate ends the validity of all flights whose keys match: who comes
// later does not join them, and their results are not kept. It is called when
// a purge is in force, and before the pages that an unsafe method removes are
// removed. match is called under a lock: it must be quick and not use x.
func (x *Flights) Invalidate(match func(key string) bool) (hit int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, f := range x.byKey {
		if match(key) {
			f.invalid = true
			delete(x.byKey, key)
			hit++
		}
	}
	return hit
}

// InvalidateKey is Invalidate for one key.
func (x *Flights) InvalidateKey(key []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f, ok := x.byKey[view(key)]; ok {
		f.invalid = true
		delete(x.byKey, f.key)
	}
}

// Len returns how many flights may be joined.
func (x *Flights) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.byKey)
}

// Finish ends a flight with its result: those who wait go on. It is called
// once, by the leader, after the page was put where it is kept. false: the
// flight was invalidated, so the page must not be kept, and nobody else got
// it; Pulled.Put has seen to that if it was given Valid.
func (f *Flight) Finish(r FlightResult) bool {
	x := f.flights
	x.mu.Lock()
	defer x.mu.Unlock()
	if f.landed {
		panic("BUG: pagecache: a flight ends twice")
	}
	if f.invalid {
		r = FlightResult{Outcome: FlightInvalidated, Reason: ReasonInvalidated}
	}
	f.landLocked(r)
	return !f.invalid
}

// Arrive tells those who wait that the page will be kept if its body comes whole,
// and lets them have it while it comes. The leader calls it once, before Finish.
func (f *Flight) Arrive(r FlightResult) {
	x := f.flights
	x.mu.Lock()
	defer x.mu.Unlock()
	if f.landed || f.arriving {
		panic("BUG: pagecache: a flight arrives twice, or after its end")
	}
	if !f.invalid {
		r.Outcome = FlightArriving
		f.arriving, f.result = true, r
		close(f.arrives)
	}
}

// Abandon ends a flight that Finish did not end. After Finish it does nothing.
func (f *Flight) Abandon() {
	x := f.flights
	x.mu.Lock()
	defer x.mu.Unlock()
	if !f.landed {
		f.landLocked(FlightResult{})
	}
}

func (f *Flight) landLocked(r FlightResult) {
	f.landed, f.result = true, r
	if f.flights.byKey[f.key] == f {
		delete(f.flights.byKey, f.key)
	}
	close(f.done)
}

// Valid says whether nothing has hit the flight's key so far.
func (f *Flight) Valid() bool {
	f.flights.mu.Lock()
	defer f.flights.mu.Unlock()
	return !f.invalid
}

// Done is closed when the flight ended.
func (f *Flight) Done() <-chan struct{} { return f.done }

// Arriving is closed when the page begins to come in; that may never be.
func (f *Flight) Arriving() <-chan struct{} { return f.arrives }

// Result is what is known of the flight: what came of it, or FlightArriving
// before that. It waits until something is known.
func (f *Flight) Result() FlightResult {
	select {
	case <-f.done:
	case <-f.arrives:
	}
	f.flights.mu.Lock()
	defer f.flights.mu.Unlock()
	return f.result
}
