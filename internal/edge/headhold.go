package edge

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// headHold is what the head of an assembled answer waits for beyond
// flush_after: fragments whose cookies go out with it, and those without which
// there is no answer. Fragments come and fail on goroutines of their own.
type headHold struct {
	mu       sync.Mutex
	pending  int           // fragments asked for that the head needs
	required int           // of them: those without which there is no answer
	failed   error         // of the first required fragment that failed
	lacking  []byte        // its canonical URL
	left     bool          // the head has left: what comes now is an ordinary failure, a dropped cookie
	changed  chan struct{} // closed at the next change that the head waits for; nil: nobody waits
	cookies  [][]byte      // Set-Cookie lines for the head
}

// add notes that the head needs a fragment that is being asked for.
func (h *headHold) add(required bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending++
	if required {
		h.required++
	}
}

// done notes that such a fragment is there, or will not come.
func (h *headHold) done(required bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if required {
		h.required--
	}
	if h.pending--; h.pending == 0 {
		h.wake()
	}
}

// fail notes that a required fragment failed.
func (h *headHold) fail(url []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left || h.failed != nil {
		return
	}
	h.failed, h.lacking = err, bytes.Clone(url)
	h.wake()
}

func (h *headHold) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// leave lets the head go if nothing holds it, or if now is set. Else it gives
// what is closed at the next change.
func (h *headHold) leave(now bool) (changed <-chan struct{}, left bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now || h.failed != nil || h.pending == 0 {
		h.left = true
		return nil, true
	}
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed, false
}

var errNotThere = errors.New("it is not there when the page ends")

// verdict is the failure of a required fragment; asked when the head leaves.
// complete says that the run is: a required fragment that is still awaited then
// was given up.
func (h *headHold) verdict(complete bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == nil && complete && h.required > 0 {
		return errNotThere
	}
	return h.failed
}

// awaitHead waits until the head may leave: the run is complete, or flush_after
// is over and no fragment holds the head. It says whether the run is complete
// by then. For a HEAD nobody is asked, so there is nothing to wait for.
func (a *assembly) awaitHead() (complete bool) {
	flush := a.site.options.SSI.FlushAfter
	soon := min(flush, DefaultFlushAfter)
	if a.run.Wait(soon) || a.nobodyAsked {
		a.hold.leave(true)
		return a.run.Wait(0)
	}
	a.watch()
	flushed := time.NewTimer(flush - soon)
	defer flushed.Stop()
	select {
	case <-a.run.Done():
	case <-a.visitorLeft():
	case <-flushed.C:
		return a.awaitHeld()
	}
	a.hold.leave(true)
	return a.run.Wait(0)
}

// awaitHeld waits for the fragments that hold the head. It is bounded by the
// run's own deadline.
func (a *assembly) awaitHeld() (complete bool) {
	changed, left := a.hold.leave(false)
	if left {
		return a.run.Wait(0)
	}
	for !left {
		select {
		case <-changed:
			changed, left = a.hold.leave(false)
		case <-a.run.Done():
			_, left = a.hold.leave(true)
		case <-a.visitorLeft():
			_, left = a.hold.leave(true)
		}
	}
	return a.run.Wait(DefaultFlushAfter) // what the last of them prints comes a moment after it
}

// takeCookies keeps the cookies of a fragment for the visitor, or drops them
// and counts.
func (a *assembly) takeCookies(h *fasthttp.ResponseHeader, forward bool) {
	lines := cookieLines(h)
	a.hold.mu.Lock()
	defer a.hold.mu.Unlock()
	if !forward || a.hold.left {
		a.countCookies(len(lines))
		return
	}
	for _, line := range lines {
		a.hold.cookies = append(a.hold.cookies, bytes.Clone(line))
	}
}

func (a *assembly) countCookies(dropped int) {
	a.edge.metrics.droppedCookies.Add(uint64(dropped))
}

// giveCookies adds the cookies of fragments to the head, which leaves now.
func (a *assembly) giveCookies(h *fasthttp.ResponseHeader) {
	a.hold.mu.Lock()
	defer a.hold.mu.Unlock()
	for _, line := range a.hold.cookies {
		h.AddBytesV(fasthttp.HeaderSetCookie, line)
	}
}
