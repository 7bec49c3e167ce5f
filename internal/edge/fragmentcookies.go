package edge

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// fragmentCookies are the Set-Cookie lines of fragments whose rule says
// forward_set_cookie. They go out with the page's head, which waits for them.
type fragmentCookies struct {
	held atomic.Int32 // such fragments that are not there yet

	mu    sync.Mutex
	lines [][]byte
	gone  bool // the head has left: what comes now is dropped
}

func (a *assembly) hold() {
	a.cookies.held.Add(1)
	a.parts.forwardCookies()
}

func (a *assembly) unhold() { a.cookies.held.Add(-1) }

// awaitCookies waits while fragments are pending whose cookies the head needs,
// and says whether the run is complete by then. It is bounded by the run's own
// deadline, and asks nobody for a HEAD.
func (a *assembly) awaitCookies(atHand bool) (complete bool) {
	for !atHand && !complete && a.cookies.held.Load() > 0 {
		complete = a.run.Wait(time.Millisecond)
	}
	return complete
}

// takeCookies keeps the cookies of a fragment for the visitor, or drops them
// and counts.
func (a *assembly) takeCookies(h *fasthttp.ResponseHeader, forward bool) {
	lines := cookieLines(h)
	a.cookies.mu.Lock()
	defer a.cookies.mu.Unlock()
	if !forward || a.cookies.gone {
		a.countCookies(len(lines))
		return
	}
	for _, line := range lines {
		a.cookies.lines = append(a.cookies.lines, bytes.Clone(line))
	}
}

func (a *assembly) countCookies(dropped int) {
	a.edge.metrics.droppedCookies.Add(uint64(dropped))
}

// giveCookies adds the cookies of fragments to the head, which leaves now.
func (a *assembly) giveCookies(h *fasthttp.ResponseHeader) {
	a.cookies.mu.Lock()
	defer a.cookies.mu.Unlock()
	a.cookies.gone = true
	for _, line := range a.cookies.lines {
		h.AddBytesV(fasthttp.HeaderSetCookie, line)
	}
}

// forwardCookies notes that cookies of a fragment go to the visitor: nobody may
// keep the answer.
func (p *parts) forwardCookies() {
	p.mu.Lock()
	p.cookies = true
	p.mu.Unlock()
}
