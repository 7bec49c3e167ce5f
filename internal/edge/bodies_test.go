package edge

import (
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// Many large pages at once: as many are kept as there is memory for. What is
// over that streams, says why it is not kept, and is kept the next time.
func TestBodiesTakeSoMuchAtMost(t *testing.T) {
	const size = 1 << 20
	h := newHalves(size)
	e, app := newPulling(t, h.ServeHTTP, func(o *Options) { o.Memory = 64 << 20 })
	e.bodies.Resize(4 * size)
	var all []*pending
	for _, path := range []string{"/1", "/2", "/3", "/4"} {
		p := e.begin(path)
		<-h.entered
		if head := h.part(t, p); !strings.Contains(head, "Cache-Status: ssiedge; fwd=uri-miss; stored\r\n") {
			t.Errorf("%s: %s", path, head)
		}
		all = append(all, p)
	}
	for range 2 { // nobody waits for what will not be kept
		p := e.begin("/over")
		<-h.entered
		if head := h.part(t, p); !strings.Contains(head, "Cache-Status: ssiedge; fwd=uri-miss; detail=busy\r\n") {
			t.Errorf("over what there is: %s", head)
		}
		all = append(all, p)
	}
	close(h.release)
	for _, p := range all {
		p.leave()
	}
	realtest.Eventually(t, "nothing is counted any more", func() bool { return e.bodies.Used() == 0 })
	e.get("/4").hit(t, "memory")
	e.get("/over").has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	app.was(t, 7)
}

// A body whose length nobody knew, and that turns out to be too much, reaches
// its visitor whole.
func TestBodiesOfUnknownLength(t *testing.T) {
	const size = 1 << 20
	h := newHalves(size)
	h.chunked = true
	close(h.release)
	e, app := newPulling(t, h.ServeHTTP, func(o *Options) { o.Memory = 64 << 20 })
	e.bodies.Resize(size / 2)
	h.whole(t, e.begin("/f"))
	e.bodies.Resize(4 * size)
	h.whole(t, e.begin("/f")).has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
	e.get("/f").hit(t, "memory")
	app.was(t, 2)
}

// A stale page is not asked for again and again while there is no room for the
// new one.
func TestBodiesRestWithoutRoom(t *testing.T) {
	window := "Cache-Control: max-age=60, stale-while-revalidate=1000"
	e, app := newScripted(t, []step{
		{body: "old", fields: []string{window, "Age: 100", `Etag: "a"`}}, {body: "new", fields: []string{window}}, {body: "new", fields: []string{window}},
	})
	e.get("/p").is(t, 200, "old")
	e.bodies.Resize(0)
	store := e.state.Load().store
	realtest.Eventually(t, "the key rests", func() bool {
		e.get("/p").is(t, 200, "old")
		return store.resting.Has(e.keptKey("/p"))
	})
	store.resting.Add(e.keptKey("/p"), time.Hour) // however slow this machine is
	asked := len(app.requests())
	e.get("/p").is(t, 200, "old")
	app.was(t, asked)
	e.bodies.Resize(1 << 20)
	store.resting.Remove(e.keptKey("/p"))
	e.get("/p").is(t, 200, "old")
	realtest.Eventually(t, "the new page", func() bool { return e.get("/p").body == "new" })
}

func TestBodiesBound(t *testing.T) {
	for _, test := range []struct{ memory, keep, want int64 }{
		{256 << 20, 16 << 20, 256 << 20},
		{0, 16 << 20, 64 << 20},
	} {
		o := &Options{Memory: test.memory, Limits: Limits{MaxKeep: test.keep}}
		if got := o.bodies(); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
