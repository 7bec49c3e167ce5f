package edge

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"github.com/ssiedge/ssiedge/pagecache"
)

// halves is an app whose answers to GET have a body that comes in two parts:
// between them it waits at a gate.
type halves struct {
	body    []byte
	first   int         // bytes of the first part
	chunked bool        // no length is stated
	dies    atomic.Bool // the second part does not come
	entered chan struct{}
	release chan struct{}
}

func newHalves(size int) *halves {
	h := &halves{body: make([]byte, size), first: size / 2, entered: make(chan struct{}, 1000), release: make(chan struct{})}
	for i := range h.body {
		h.body[i] = byte('a' + i/997%26)
	}
	return h
}

func (h *halves) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("Etag", `"v1"`)
	if !h.chunked {
		w.Header().Set("Content-Length", itoa(len(h.body)))
	}
	if r.Method == "HEAD" {
		return
	}
	w.Write(h.body[:h.first])
	w.(http.Flusher).Flush()
	h.entered <- struct{}{}
	select {
	case <-h.release:
	case <-r.Context().Done():
	}
	if h.dies.Load() {
		panic(http.ErrAbortHandler)
	}
	w.Write(h.body[h.first:])
}

// part reads what the visitor has while the app waits at its gate: nearly all
// of the first half. Some may wait in a buffer for more.
func (h *halves) part(t testing.TB, p *pending) string {
	t.Helper()
	head := rawHead(t, p.r)
	if !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		t.Fatalf("head %q", head)
	}
	n := len(h.body)/2 - 2*writeBuffer
	b := make([]byte, n)
	var body io.Reader = p.r
	if strings.Contains(head, "Transfer-Encoding: chunked") {
		body = firstChunks(p.r)
	}
	if _, err := io.ReadFull(body, b); err != nil || !bytes.Equal(b, h.body[:n]) {
		t.Fatalf("the first half: %v", err)
	}
	return head
}

// firstChunks reads the chunks of a body that goes on.
func firstChunks(r *bufio.Reader) io.Reader {
	return bodyOf(&http.Response{TransferEncoding: []string{"chunked"}, ContentLength: -1}, r)
}

func (h *halves) whole(t testing.TB, p *pending) *answer {
	t.Helper()
	a := p.answer()
	if a.StatusCode != 200 || a.err != nil || a.body != string(h.body) {
		t.Fatalf("%d, %d bytes, %v; want all %d", a.StatusCode, len(a.body), a.err, len(h.body))
	}
	return a
}

// A large page reaches those who wait while it comes.
func TestArrives(t *testing.T) {
	h := newHalves(1 << 20)
	e, app := newPulling(t, h.ServeHTTP)
	first, leaves := e.begin("/f"), e.begin("/f")
	<-h.entered
	late := e.begin("/f")
	heads := h.part(t, first) + h.part(t, leaves) + h.part(t, late)
	if n := strings.Count(heads, "ssiedge; fwd=uri-miss; stored\r"); n != 1 {
		t.Errorf("%d say that they asked, want one:\n%s", n, heads)
	}
	if n := strings.Count(heads, "ssiedge; fwd=uri-miss; stored; collapsed\r"); n != 2 {
		t.Errorf("%d say that they joined, want two:\n%s", n, heads)
	}
	close(h.release)
	for _, p := range []*pending{first, leaves, late} {
		rest := len(h.body)/2 + 2*writeBuffer
		if n, err := io.Copy(io.Discard, io.LimitReader(p.r, int64(rest))); err != nil || int(n) != rest {
			t.Errorf("the second half: %d of %d bytes, %v", n, rest, err)
		}
	}
	e.get("/f").hit(t, "memory")
	app.was(t, 1)
}

// Without a length only the one who asked has it while it comes; the others
// wait for its end.
func TestArrivesChunked(t *testing.T) {
	h := newHalves(1 << 20)
	h.chunked = true
	e, app := newPulling(t, h.ServeHTTP)
	first := e.begin("/f")
	<-h.entered
	second := e.begin("/f")
	h.part(t, first)
	close(h.release)
	a := h.whole(t, second)
	a.has(t, "Content-Length", itoa(len(h.body)))
	e.get("/f").hit(t, "memory")
	app.was(t, 1)
}

// A visitor who leaves, and one who does not read, hold up nobody.
func TestArrivesForOthers(t *testing.T) {
	h := newHalves(12 << 20) // more than sockets hold
	e, app := newPulling(t, h.ServeHTTP, func(o *Options) { o.Memory = 64 << 20 })
	leaver := e.dial()
	io.WriteString(leaver, request11("GET", "/f"))
	<-h.entered
	leaver.Close()
	sleeper, third := e.begin("/f"), e.begin("/f")
	close(h.release)
	h.whole(t, third)
	e.get("/f").hit(t, "memory")
	h.whole(t, sleeper)
	app.was(t, 1)
}

// Over max_keep a body streams and is not kept: nobody waits for it.
func TestArrivesOverTheLimit(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		h := newHalves(1 << 20)
		h.chunked = chunked
		e, app := newPulling(t, h.ServeHTTP, func(o *Options) { o.Limits.MaxKeep = 300 << 10 })
		first := e.begin("/f")
		<-h.entered
		second := e.begin("/f")
		<-h.entered // it does not wait for the first
		close(h.release)
		h.whole(t, first)
		h.whole(t, second)
		third := e.get("/f").Header.Get("Cache-Status")
		if third != "ssiedge; fwd=uri-miss; detail=too-large" && (!chunked || third != "ssiedge; fwd=uri-miss; detail=not-keepable") {
			t.Errorf("chunked: %v: Cache-Status is %q", chunked, third)
		}
		app.was(t, 3)
	}
}

// A visitor who leaves a body over the limit ends the request to the app.
func TestArrivesOverTheLimitForNobody(t *testing.T) {
	h, ended := newHalves(8<<20), make(chan struct{})
	h.chunked = true
	e, _ := newPulling(t, func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		<-r.Context().Done()
		close(ended)
	}, func(o *Options) { o.Limits.MaxKeep = 1 << 20 })
	c := e.dial()
	io.WriteString(c, request11("GET", "/f"))
	<-h.entered
	c.Close()
	close(h.release)
	<-ended
}

// The app dies in the middle of a body: whoever has a part sees that it is
// broken, also where a stale page would have done instead; nothing is kept.
func TestArrivesBroken(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		h := newHalves(1 << 20)
		h.chunked = chunked
		e, app := newPulling(t, h.ServeHTTP)
		h.dies.Store(true)
		first := e.begin("/f")
		<-h.entered
		others := []*pending{}
		if !chunked {
			others = append(others, e.begin("/f"), e.begin("/f", "Cookie: a=b"))
		}
		for _, p := range append(others, first) {
			h.part(t, p)
		}
		h.release <- struct{}{}
		for _, p := range append(others, first) {
			rest, _ := io.ReadAll(p.r)
			if len(rest) >= len(h.body)/2 || bytes.HasSuffix(rest, []byte("\r\n0\r\n\r\n")) {
				t.Errorf("chunked: %v: %d more bytes, and it looks whole", chunked, len(rest))
			}
		}
		h.dies.Store(false)
		close(h.release)
		h.whole(t, e.begin("/f")).has(t, "Cache-Status", "ssiedge; fwd=uri-miss; stored")
		app.was(t, 2)
	}
}

// Those who wait for the end of a body that breaks are not left waiting.
func TestArrivesBrokenForWaiters(t *testing.T) {
	h := newHalves(1 << 20)
	h.chunked = true
	e, _ := newPulling(t, h.ServeHTTP)
	h.dies.Store(true)
	first := e.begin("/f")
	<-h.entered
	second := e.begin("/f")
	realtest.Eventually(t, "two visitors", func() bool { return e.open() == 2 })
	h.part(t, first)
	close(h.release)
	if a := second.answer(); a.StatusCode != 502 && a.err == nil {
		t.Errorf("%d, want 502, or a broken answer of its own", a.StatusCode)
	}
}

// Conditions and ranges of those who have the page while it comes.
func TestArrivesInParts(t *testing.T) {
	h := newHalves(1 << 20)
	e, app := newPulling(t, h.ServeHTTP)
	for _, test := range []struct {
		field  string
		status int
		body   string
	}{
		{"Range: bytes=100-199", 206, string(h.body[100:200])},
		{"Range: bytes=600000-900000", 206, string(h.body[600000:900001])},
		{"Range: bytes=-10", 206, string(h.body[len(h.body)-10:])},
		{"Range: bytes=9999999-", 416, ""},
		{`If-None-Match: "v1"`, 304, ""},
	} {
		first := e.begin("/f", test.field)
		<-h.entered
		second := e.begin("/f", test.field)
		h.release <- struct{}{}
		first.answer().is(t, test.status, test.body)
		second.answer().is(t, test.status, test.body)
		realtest.Eventually(t, "the page is kept", func() bool { return strings.Contains(e.do("HEAD", "/f").Header.Get("Cache-Status"), "hit") })
		if _, err := e.Purge(PurgeCall{All: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range app.requests() {
		if r.Method == "GET" && len(r.Header["Range"])+len(r.Header["If-None-Match"]) > 0 {
			t.Errorf("the app was asked with %v", r.Header)
		}
	}
}

// A purge while a page comes in: who has a part gets the rest, it is not kept,
// and who comes later asks anew.
func TestArrivesPurged(t *testing.T) {
	h := newHalves(1 << 20)
	e, app := newPulling(t, h.ServeHTTP)
	first := e.begin("/f")
	<-h.entered
	h.part(t, first)
	if _, err := e.Purge(PurgeCall{URLs: []string{"/f"}}); err != nil {
		t.Fatal(err)
	}
	second := e.begin("/f")
	<-h.entered // it did not join
	close(h.release)
	io.Copy(io.Discard, first.r)
	h.whole(t, second)
	e.get("/f").hit(t, "memory")
	app.was(t, 2)
}

// A panic in a fill that goes on by itself leaves nobody waiting.
func TestPanicWhileArriving(t *testing.T) {
	e, _ := newPulling(t, says("page", "Cache-Control: max-age=60"))
	e.panics = 1
	r := new(request)
	r.begin(e.Edge, requestByHand(e, "/f", nil))
	if !r.admitted() || !r.hasSite() || !r.hasURL() {
		t.Fatal("the request is answered before its look-up")
	}
	r.lookup()
	flight, _ := r.state.store.flights.Join(r.keyed.key)
	f := r.newFill(flight)
	p, err := f.target.askPage(e.living, f.outgoing(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.exchange.Answer, p.exchange.Size = panicking{p.exchange.Answer}, 1<<20
	a := f.arrival(p, &pagecache.Decision{Keep: true}, 0)
	done := a.begin()
	if _, err := io.ReadAll(io.NewSectionReader(done.arrives.body, 0, 10)); err != errFillPanicked {
		t.Errorf("a reader has %v", err)
	}
	<-a.done
	if res := flight.Result(); res.Outcome != pagecache.FlightAbandoned {
		t.Errorf("those who wait get %+v", res)
	}
	e.get("/f").is(t, 200, "page")
}

type panicking struct{ io.ReadCloser }

func (panicking) Read([]byte) (int, error) { panic("provoked by a test") }

// A thousand visitors of a large file that nobody has: one request, one copy.
func TestArrivesForThousand(t *testing.T) {
	const visitors = 1000
	h := newHalves(8 << 20)
	h.first = 72 << 10
	e, app := newPulling(t, h.ServeHTTP, func(o *Options) { o.Limits.Connections = 2 * visitors })
	before := heapInUse()
	all := []*pending{e.begin("/f")}
	<-h.entered
	for range visitors - 1 {
		all = append(all, e.begin("/f"))
	}
	for _, p := range all {
		if _, err := io.CopyN(io.Discard, p.r, 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	// The copy, and what connections and goroutines on both sides take.
	if grown := heapInUse() - before; grown > 8<<20+visitors*(128<<10) {
		t.Errorf("%d MiB more for %d visitors", grown>>20, visitors)
	}
	for i, p := range all {
		if i%100 != 0 {
			p.leave()
		}
	}
	close(h.release)
	for i := 0; i < visitors; i += 100 {
		p := all[i]
		if n, err := io.Copy(io.Discard, p.r); err != nil || n < 8<<20-64<<10 {
			t.Errorf("visitor %d: %d more bytes, %v", i, n, err)
		}
	}
	e.get("/f").hit(t, "memory")
	app.was(t, 1)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// A visitor of HTTP/1.0 gets a body without a length until the connection ends.
func TestArrivesForHTTP10(t *testing.T) {
	h := newHalves(1 << 20)
	h.chunked = true
	e, _ := newPulling(t, h.ServeHTTP)
	c := e.dial()
	io.WriteString(c, "GET /f HTTP/1.0\r\nHost: "+testHost+"\r\n\r\n")
	<-h.entered
	close(h.release)
	a := readAnswer(t, bufio.NewReader(c), "GET")
	a.is(t, 200, string(h.body))
	a.has(t, "Transfer-Encoding", "")
}
