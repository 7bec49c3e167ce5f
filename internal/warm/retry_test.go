package warm

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	f := func(code int, value string, want time.Duration, wantOK bool) {
		t.Helper()
		resp := &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {value}}}
		if got, ok := retryAfter(resp, now); got != want || ok != wantOK {
			t.Errorf("%d %q: %v, %v, want %v, %v", code, value, got, ok, want, wantOK)
		}
	}
	f(503, "0", 0, true)
	f(503, " 7 ", 7*time.Second, true)
	f(503, "59", 59*time.Second, true)
	f(503, "3600", time.Minute, true)
	f(503, "99999999999999999999", time.Minute, true)
	f(503, "Wed, 01 May 2024 12:00:05 GMT", 5*time.Second, true)
	f(503, "Wed, 01 May 2024 11:00:00 GMT", 0, true) // past: at once
	f(503, "Thu, 01 May 2025 12:00:00 GMT", time.Minute, true)
	f(503, "soon", 0, false)
	f(503, "-1", 0, false)
	f(503, "1.5", 0, false)
	f(503, "", 0, false)
	f(500, "7", 0, false)
	f(429, "7", 0, false)
	f(200, "7", 0, false)
}

// bubbled runs one list against answer, on a clock of its own.
func bubbled(t *testing.T, o Options, urls string, answer http.HandlerFunc) *Report {
	o.Edge = "http://edge.example"
	w := newWarmer(t, o)
	bubbleEdge(t, w, answer)
	return w.Run(t.Context(), List("-", strings.NewReader(urls)))
}

func TestBusyEdgeIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		after string // of each 503
		busy  int    // how many there are
		took  time.Duration
		kept  int64
	}{
		{"7", 1, 7 * time.Second, 1},
		{"7", 3, 21 * time.Second, 1},
		{"3600", 1, time.Minute, 1},
		{"7", 5, 35 * time.Second, 1},
		{"7", 6, 35 * time.Second, 0}, // the sixth is the last word
		{"", 1, 0, 0},
	} {
		t.Run(fmt.Sprint(c.after, " ", c.busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := bubbled(t, Options{}, "/a\n", func(w http.ResponseWriter, r *http.Request) {
					if asked++; asked > c.busy {
						says("ssiedge; fwd=miss; stored")(w, r)
						return
					}
					if c.after != "" {
						w.Header().Set("Retry-After", c.after)
					}
					http.Error(w, "busy", http.StatusServiceUnavailable)
				})
				if r.Took != c.took || r.Kept != c.kept || r.URLs != 1 || r.Retries != int64(asked-1) {
					t.Errorf("%+v after %d requests, want %v and %d kept", r, asked, c.took, c.kept)
				}
				if c.kept == 0 && r.FailedBy["status-503"] != 1 {
					t.Errorf("failed by %v, want status-503", r.FailedBy)
				}
			})
		})
	}
}

// TestBusyEdgeKeepsItsConnection: the body of the 503 is read, so that the next
// request need not dial. In a bubble, for net/http gives a connection up whose
// goroutines are not all done 50 ms after an answer.
func TestBusyEdgeKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		w := newWarmer(t, Options{Edge: "http://edge.example"})
		edge := bubbleEdge(t, w, func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked < 4 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
				w.Write(make([]byte, 20<<10))
				return
			}
			says("ssiedge; hit")(w, r)
		})
		r := w.Run(t.Context(), List("-", strings.NewReader("/a")))
		if dialled := edge.dialled.Load(); r.Present != 1 || r.Retries != 3 || dialled != 1 {
			t.Errorf("%+v over %d connections, want 1 present after 3 retries, over one", r, dialled)
		}
	})
}

// TestSlowReader: only the server's silence counts, not that of the reader.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarmer(t, Options{Edge: "http://edge.example", Silence: 10 * time.Second})
		bubbleEdge(t, w, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 64<<10)) })
		a := w.newAsker()
		defer a.close()
		resp, err := a.get(a.request(t.Context(), target{"a", "/"}))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for range 4 {
			time.Sleep(time.Minute)
			if n, err := io.ReadFull(resp.Body, make([]byte, 16<<10)); err != nil {
				t.Fatalf("%v after %d bytes", err, n)
			}
		}
	})
}

// TestRate counts requests by the second that they came in.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		rate        float64
		concurrency int
	}{{10, 1}, {10, 8}, {2, 4}, {0.5, 4}, {1000, 2}} {
		t.Run(fmt.Sprint(c.rate, " ", c.concurrency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const urls = 60
				began := time.Now()
				var in [1000]atomic.Int64
				var list strings.Builder
				for i := range urls {
					fmt.Fprintf(&list, "/%d\n", i)
				}
				r := bubbled(t, Options{Rate: c.rate, Concurrency: c.concurrency}, list.String(), func(w http.ResponseWriter, r *http.Request) {
					in[time.Since(began)/time.Second].Add(1)
					says("ssiedge; hit")(w, r)
				})
				// The edge answers at once, so that nothing but the rate holds us up.
				want := time.Duration((urls - 1) / c.rate * float64(time.Second)).Round(time.Microsecond)
				if r.Present != urls || r.Took.Round(time.Microsecond) != want {
					t.Errorf("%d URLs in %v, want %d in %v", r.Present, r.Took, urls, want)
				}
				for second := range in {
					if n := in[second].Load(); float64(n) > max(c.rate, 1) {
						t.Errorf("%d requests in second %d, want %v at most", n, second, c.rate)
					}
				}
			})
		})
	}
}

// TestRateAfterAPause: what was not used in a slow time may be made up for, by as
// many requests as may be under way at once.
func TestRateAfterAPause(t *testing.T) {
	p := newPacer(2, 3)
	now := time.Unix(1000, 0)
	take := func(after, want time.Duration) {
		t.Helper()
		now = now.Add(after)
		if got := p.take(now); got != want {
			t.Errorf("wait of %v, want %v", got, want)
		}
	}
	const interval = 500 * time.Millisecond
	take(0, 0)
	take(0, interval)
	take(0, 2*interval)
	take(2*interval, interval) // the three above are through
	take(interval, interval)
	take(time.Hour, 0)
	take(0, 0)
	take(0, 0)
	take(0, interval)
	take(time.Minute, 0)
	take(interval, 0)
	take(0, 0)
	take(0, 0)
	take(0, interval)
}

func TestNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bubbled(t, Options{}, "/1\n/2\n/3\n", says("ssiedge; hit"))
		if r.Took != 0 || r.Present != 3 {
			t.Errorf("%d in %v, want 3 in no time", r.Present, r.Took)
		}
	})
}

func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		took   time.Duration
		reason string
	}{
		"no head": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 10 * time.Second, "timeout"},
		"half a body": {func(w http.ResponseWriter, r *http.Request) {
			says("ssiedge; hit")(w, r)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, 10 * time.Second, "cut-short"},
		"slow but steady": {func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(9 * time.Second)
			for range 5 {
				says("ssiedge; hit")(w, r)
				http.NewResponseController(w).Flush()
				time.Sleep(9 * time.Second)
			}
		}, 54 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := bubbled(t, Options{Silence: 10 * time.Second}, "/a", c.answer)
				if r.Took != c.took || r.Retries != 0 || (c.reason == "") != r.OK() || c.reason != "" && r.FailedBy[c.reason] != 1 {
					t.Errorf("%+v, want %v %q", r, c.took, c.reason)
				}
			})
		})
	}
}

// TestBrokenConnections: once more for each URL, not twice.
func TestBrokenConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := conns.Add(1)
			io.ReadFull(c, make([]byte, 16))
			if n == 2 {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Status: ssiedge; hit\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			}
			c.Close()
		}
	}()
	r := newWarmer(t, Options{Edge: "http://" + l.Addr().String()}).Run(t.Context(), List("-", strings.NewReader("/first\n/second\n")))
	l.Close()
	<-done
	if r.Present != 1 || r.FailedBy["no-answer"] != 1 || r.Retries != 2 || conns.Load() != 4 {
		t.Errorf("%+v, %d connections, want 1 present, 1 failed, 4 connections", r, conns.Load())
	}
	// Nobody listens any more.
	r = newWarmer(t, Options{Edge: "http://" + l.Addr().String()}).Run(t.Context(), List("-", strings.NewReader("/a\n")))
	if r.FailedBy["no-answer"] != 1 || r.Retries != 1 || !strings.Contains(r.First[0].Error, "refused") {
		t.Errorf("%+v, want no answer, after 1 retry", r)
	}
}
