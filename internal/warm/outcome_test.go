package warm

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// answers are of every kind that an edge, or what is not one, may give: a status
// and a Cache-Status, by path.
var answers = map[string]struct {
	code   int
	status string
}{
	"/kept":           {200, "ssiedge; fwd=uri-miss; stored"},
	"/kept-redirect":  {301, "ssiedge; fwd=uri-miss; stored"},
	"/joined":         {200, "ssiedge; fwd=uri-miss; collapsed"},
	"/behind":         {200, "Origin; hit, ssiedge; fwd=miss; stored, CDN; fwd=miss"},
	"/there":          {200, "ssiedge; hit; ttl=3580; detail=memory"},
	"/there-stale":    {200, "ssiedge; hit; ttl=-3; detail=disk"},
	"/there-file":     {200, "ssiedge; hit; detail=file"},
	"/cookie":         {200, "ssiedge; fwd=uri-miss; detail=set-cookie"},
	"/private":        {200, `ssiedge; fwd=uri-miss; detail="private"`},
	"/private-2":      {200, "ssiedge; fwd=uri-miss; detail=private"},
	"/not-joined":     {200, "ssiedge; fwd=uri-miss; collapsed=?0; detail=no-store"},
	"/bypass":         {200, "ssiedge; fwd=bypass"},
	"/bare":           {200, "ssiedge"},
	"/status":         {302, "ssiedge; fwd=uri-miss; detail=status"},
	"/slash/":         {308, ""},
	"/elsewhere":      {302, "ssiedge; fwd=uri-miss"},
	"/unsigned":       {200, ""},
	"/another":        {200, "CDN; hit"},
	"/broken":         {200, "ssiedge; hit,"},
	"/missing":        {404, "ssiedge; hit; detail=memory"},
	"/misdirected":    {421, ""},
	"/server-error":   {500, "ssiedge; fwd=uri-miss; detail=status"},
	"/gateway":        {502, ""},
	"/down":           {503, ""},
	"/odd":            {999, ""},
	"/cut-length":     {200, "ssiedge; hit"},
	"/cut-chunk":      {200, "ssiedge; hit"},
	"/closed":         {0, ""},
	"/garbage":        {0, ""},
	"/long-reason":    {200, "ssiedge; detail=" + strings.Repeat("x", 200)},
	"/location-wrong": {307, "ssiedge; fwd=miss; detail=status"},
}

// answer gives the answer of a path.
func answer(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			t.Errorf("asked for %q", r.URL.Path)
		}
		switch r.URL.Path {
		case "/cut-length":
			w.Header().Set("Content-Length", "100")
		case "/location-wrong":
			w.Header().Set("Location", "http://%zz/")
		case "/closed", "/garbage":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			if r.URL.Path == "/garbage" {
				io.WriteString(conn, "SSH-2.0-\x1b[2J\r\n\r\n")
			}
			conn.Close()
			return
		}
		if a.status != "" {
			w.Header().Set("Cache-Status", a.status)
		}
		w.WriteHeader(a.code)
		w.Write([]byte("page"))
		if r.URL.Path == "/cut-chunk" {
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

func TestOutcomes(t *testing.T) {
	edge := newEdge(t, answer(t))
	var src strings.Builder
	src.WriteString("ftp://a/x\n/\x1b[2J\n")
	paths := make([]string, 0, len(answers))
	for path := range answers {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	src.WriteString(strings.Join(paths, "\n"))
	r := newWarmer(t, Options{Edge: edge.URL}).Run(t.Context(), List("list.txt", strings.NewReader(src.String())))
	r.Took = 1234567 * time.Microsecond
	r.Edge = "http://127.0.0.1:8080"

	var text, object bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	golden(t, "outcomes.txt", text.String())
	if n := strings.Count(object.String(), "\n"); n != 1 {
		t.Errorf("JSON on %d lines, want 1", n)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, object.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "outcomes.json", indented.String())
	if sum := r.Kept + r.Present + r.NotKept + r.Failed; r.URLs != sum || r.URLs != int64(len(answers)+2) {
		t.Errorf("%d URLs, sum %d, want %d", r.URLs, sum, len(answers)+2)
	}
}

// TestEachOutcome judges each answer alone, so that none hides behind a number.
func TestEachOutcome(t *testing.T) {
	edge := newEdge(t, answer(t))
	var got strings.Builder
	paths := make([]string, 0, len(answers))
	for path := range answers {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		r := newWarmer(t, Options{Edge: edge.URL}).Run(t.Context(), List("-", strings.NewReader(path)))
		reason := ""
		for _, m := range []map[string]int64{r.NotKeptBy, r.FailedBy} {
			for k := range m {
				reason = " " + k
			}
		}
		fmt.Fprintf(&got, "%-16s kept %d, there %d, not kept %d, failed %d, ok %v, retries %d%s\n", path, r.Kept, r.Present, r.NotKept, r.Failed, r.OK(), r.Retries, reason)
	}
	golden(t, "each.txt", got.String())
}

func TestReportOfMany(t *testing.T) {
	r := newReport("http://a")
	for i := range 300 {
		r.add(result{outcome: notKept, reason: fmt.Sprint("reason-", i)})
		r.add(result{outcome: failed, reason: reasonTimeout, err: errors.New("x"), bytes: 1e7})
	}
	if len(r.NotKeptBy) != maxReasons+1 || r.NotKeptBy[otherReason] != 200 || r.NotKeptBy["reason-99"] != 1 {
		t.Errorf("%d reasons, other %d", len(r.NotKeptBy), r.NotKeptBy[otherReason])
	}
	if len(r.First) != 10 || r.Failed != 300 {
		t.Errorf("%d failures named of %d", len(r.First), r.Failed)
	}
}

func TestReportInterrupted(t *testing.T) {
	r := newReport("http://127.0.0.1:8080")
	r.add(result{outcome: kept, bytes: 1_234_567})
	r.Duplicates, r.Excluded, r.Retries, r.Interrupted = 3, 12, 1, true
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "interrupted.txt", b.String())
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 999_949_999: "999.9 MB", 2_500_000_000: "2.5 GB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestDocumentedKeys: programs rely on them.
func TestDocumentedKeys(t *testing.T) {
	docs, err := os.ReadFile("../../docs/warm.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := reflect.TypeFor[reportJSON]()
	for i := range keys.NumField() {
		if key := "`" + keys.Field(i).Tag.Get("json") + "`"; !bytes.Contains(docs, []byte(key)) {
			t.Errorf("docs/warm.md does not know the key %s", key)
		}
	}
	for _, reason := range []string{reasonEntry, reasonSitemap, reasonNoAnswer, reasonTimeout, reasonCutShort, reasonNoStatus} {
		if !bytes.Contains(docs, []byte("| `"+reason+"` |")) {
			t.Errorf("docs/warm.md does not know the reason %s", reason)
		}
	}
}

func TestReportThatCannotBeWritten(t *testing.T) {
	gone := errors.New("gone")
	r := newReport("http://a")
	if err := r.WriteText(failingWriter{gone}); !errors.Is(err, gone) {
		t.Errorf("text: %v", err)
	}
	if err := r.WriteJSON(failingWriter{gone}); !errors.Is(err, gone) {
		t.Errorf("JSON: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
