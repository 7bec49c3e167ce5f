package e2e

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// docs is where Debian's postgresql-doc-15 keeps its pages.
const docs = "/usr/share/doc/postgresql-doc-15/html"

// traceMemory bounds what the edge may hold: less than the pages together, so
// that some have to go while others come.
const traceMemory = "8MiB"

// traceResident is the most that the process may take while it answers the
// trace: the runtime, the memory tier, a garbage collector that lets it double,
// 16 connections. The race detector takes many times that.
func traceResident() int64 {
	if realtest.Race {
		return 320 << 20
	}
	return 96 << 20
}

// visit is one line of the trace, with the answer that is right for it.
type visit struct {
	method, target string
	status         int
	body           []byte // of a GET
	file           bool   // the answer is a file of docs
}

// TestTrace replays four days of a real site's requests, methods as recorded:
// three of four URLs are those of real pages on disk, the others are left to an
// app.
func TestTrace(t *testing.T) {
	replay := newReplay(t)
	s := setup{app: http.HandlerFunc(replay.serve), top: "[memory]\nsize = \"" + traceMemory + "\"\n[log]\naccess = \"off\"", site: fmt.Sprintf("root = %q", docs)}
	edge := s.start(t)
	visits := replay.visits(t)
	if realtest.Race { // that takes minutes; all of it is for the run without
		visits = visits[:len(visits)/3]
	}
	most := int64(0)
	for pass := range 2 {
		replay.run(t, edge, visits)
		resident := realtest.MemoryOf(t, edge.Pid)
		most = max(most, resident)
		t.Logf("pass %d: %d MiB resident", pass+1, resident>>20)
	}
	if most > traceResident() {
		t.Errorf("the edge takes %d MiB, want at most %d", most>>20, traceResident()>>20)
	}
	hits := sum(call(t, http.MethodGet, edge.Admin+"/metrics").body, "ssiedge_requests_total", `outcome="file"`)
	t.Logf("%v answers were files", hits)
	if hits < float64(len(visits)) {
		t.Errorf("%v answers of two passes over %d requests were files, want more than half", hits, len(visits))
	}
}

// replay knows which of the trace's paths are which pages.
type replay struct {
	names []string          // of docs, sorted
	pages map[string][]byte // by name
}

func newReplay(t *testing.T) *replay {
	t.Helper()
	r := &replay{pages: map[string][]byte{}}
	files, err := filepath.Glob(docs + "/*.html")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		realtest.Absent(t, "the package postgresql-doc-15 is not installed")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		r.names = append(r.names, name)
		r.pages[name] = text
	}
	slices.Sort(r.names)
	return r
}

// visits reads the trace. A target whose path falls to a page of docs becomes
// that page's, with or without its suffix, its slash and its query as recorded.
func (r *replay) visits(t *testing.T) []visit {
	t.Helper()
	text, err := os.ReadFile(realtest.Shared(t, "traces/blog-2015.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var visits []visit
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 6 {
			t.Fatalf("a line of the trace has %d columns, want 6: %q", len(columns), line)
		}
		if columns[0] != "second" {
			visits = append(visits, r.visit(t, columns[2], columns[3]))
		}
	}
	if len(visits) < 9_000 {
		t.Fatalf("the trace holds %d requests, want some ten thousand", len(visits))
	}
	return visits
}

func (r *replay) visit(t *testing.T, method, target string) visit {
	t.Helper()
	asked, query, _ := strings.Cut(target, "?")
	v := visit{method: method, target: target}
	seed := hash(asked)
	if seed%4 == 0 {
		decoded, err := url.PathUnescape(asked)
		if err != nil {
			t.Fatalf("the trace asks for %q: %v", target, err)
		}
		v.status, v.body = r.app(method, decoded)
		return v
	}
	name := r.names[seed%uint32(len(r.names))]
	v.target = "/" + name
	switch {
	case seed%3 == 0 && query == "":
		v.target = strings.TrimSuffix(v.target, ".html")
		if strings.HasSuffix(asked, "/") {
			v.target += "/"
		}
	case query != "": // a file that is the path itself ignores it
		v.target += "?" + query
	}
	if method == http.MethodGet || method == http.MethodHead {
		v.status, v.body, v.file = http.StatusOK, r.pages[name], true
	} else {
		where, _, _ := strings.Cut(v.target, "?")
		v.status, v.body = r.app(method, where)
	}
	return v
}

// hash spreads paths over the pages, the same in every run.
func hash(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// app is what the app answers to a path: a page, one that includes a page of
// docs, a 404, and now and then a 503 of its own.
func (r *replay) app(method, decoded string) (int, []byte) {
	where := path.Clean("/" + decoded)
	seed := hash(where)
	switch {
	case seed%50 == 1:
		return http.StatusServiceUnavailable, []byte("the app is busy: " + where)
	case seed%5 == 0:
		return http.StatusNotFound, []byte("the app has no " + where)
	case seed%5 == 1:
		return http.StatusOK, slices.Concat([]byte("before "), r.pages[r.names[seed%uint32(len(r.names))]], []byte(" after"))
	}
	return http.StatusOK, []byte(method + " " + where + strings.Repeat(" filler", int(seed%3000)))
}

// serve is the app: app over HTTP, with an include where app has the page.
func (r *replay) serve(w http.ResponseWriter, in *http.Request) {
	status, body := r.app(in.Method, in.URL.Path)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	where := path.Clean("/" + in.URL.Path)
	if seed := hash(where); status == http.StatusOK && seed%5 == 1 {
		body = fmt.Appendf(nil, `before <!--# include virtual="/%s" --> after`, r.names[seed%uint32(len(r.names))])
	}
	w.Write(body)
}

// run sends all requests over 16 connections and checks each answer.
func (r *replay) run(t *testing.T, edge *realtest.EdgeServer, visits []visit) {
	next := make(chan visit)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			w := wire{addr: edge.Addr}
			defer w.close()
			for v := range next {
				if problem := v.check(&w); problem != "" {
					t.Errorf("%s %s: %s", v.method, v.target, problem)
				}
			}
		})
	}
	for _, v := range visits {
		if t.Failed() {
			break
		}
		next <- v
	}
	close(next)
	wg.Wait()
}

// check sends the request and says what is wrong with the answer, if anything.
func (v visit) check(w *wire) string {
	a, err := w.exchange(request{method: v.method, target: v.target})
	want := string(v.body)
	if v.method == http.MethodHead {
		want = ""
	}
	switch {
	case err != nil:
		return err.Error()
	case a.status != v.status:
		return fmt.Sprintf("status %d, want %d: %s", a.status, v.status, short(a.body))
	case a.body != want:
		return fmt.Sprintf("%d bytes that differ from the %d right ones from byte %d on", len(a.body), len(want), common(a.body, want))
	case v.file && !strings.Contains(a.header.Get("Cache-Status"), "detail=file"):
		return fmt.Sprintf("Cache-Status %q, want a file", a.header.Get("Cache-Status"))
	}
	return ""
}

// common gives the length of what two texts begin with together.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
