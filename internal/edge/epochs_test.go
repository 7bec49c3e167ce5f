package edge

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

func TestEpochsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	url := []byte("*\x00http\x00a.example\x00/?\x00")
	first := openEpochs(dir, "journal", log)
	defer first.close()
	first.next(url)
	first.next([]byte("another"))
	n := first.of(url).Load()
	again := openEpochs(dir, "journal", log) // as after kill -9: nobody closed it
	defer again.close()
	for i := range first.counters {
		if a, b := first.counters[i].Load(), again.counters[i].Load(); a != b {
			t.Fatalf("counter %d is %d, was %d", i, b, a)
		}
	}
	if again.seed != first.seed || again.of(url).Load() != n {
		t.Errorf("the counter of the URL is %d, was %d", again.of(url).Load(), n)
	}
	path := filepath.Join(dir, epochFileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"empty": nil, "cut off": whole[:len(whole)-1], "longer": append(bytes.Clone(whole), 0),
		"no head": bytes.Repeat([]byte{0}, len(whole)), "of another version": bytes.Replace(whole, []byte(" 1 "), []byte(" 2 "), 1),
		"of another journal": bytes.Replace(whole, []byte("journal"), []byte("journam"), 1),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		e := openEpochs(dir, "journal", log)
		if e.seed == first.seed || e.file == nil {
			t.Errorf("a file that is %s is read", what)
		}
		e.close()
		e = openEpochs(dir, "journal", log)
		if e.file == nil {
			t.Errorf("after a file that is %s there is none", what)
		}
		e.close()
	}
}

// What cannot be written must not be read again.
func TestEpochsInTrouble(t *testing.T) {
	dir := t.TempDir()
	log := new(logBuffer)
	e := openEpochs(dir, "journal", slog.New(slog.NewTextHandler(log, nil)))
	e.file.Close()
	before := e.of([]byte("a")).Load()
	for range 2 {
		e.next([]byte("a"))
	}
	if e.of([]byte("a")).Load() != before+2 || e.file != nil {
		t.Error("they do not go on in memory")
	}
	if _, err := os.Stat(filepath.Join(dir, epochFileName)); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	openEpochs(filepath.Join(dir, "missing"), "journal", slog.New(slog.NewTextHandler(log, nil)))
	if n := bytes.Count([]byte(log.String()), []byte("are filled again after the next start")); n != 2 {
		t.Errorf("the log has it %d times:\n%s", n, log)
	}
}

// Pages that a rule keys by a header or a cookie are found after a restart, but
// not those that a POST has left behind.
func TestKeyedPagesOutliveRestart(t *testing.T) {
	dir := t.TempDir()
	app := new(counting)
	url := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			return
		}
		app.ServeHTTP(w, r)
	})
	start := func(t *testing.T) *testEdge {
		return newEdge(t, withKeeping(), withOrigin(url), withDisk(dir),
			withRule(Rule{Paths: []string{"/*"}, KeyHeaders: []string{"X-Key"}, Cookies: &Cookies{Mode: CookiesListed, Names: []string{"a"}}}))
	}
	as := func(n int) []string { return []string{fmt.Sprint("X-Key: ", n), fmt.Sprint("Cookie: a=", n)} }
	bodies := map[string]string{}
	t.Run("first", func(t *testing.T) {
		e := start(t)
		for i := range 2 {
			for _, path := range []string{"/kept", "/posted"} {
				bodies[fmt.Sprint(path, i)] = e.get(path, as(i)...).body
			}
		}
		e.waitFiles(4)
		e.post("POST", "/posted", "x")
	})
	t.Run("second", func(t *testing.T) {
		e := start(t)
		for i := range 2 {
			a := e.get("/kept", as(i)...)
			a.is(t, 200, bodies[fmt.Sprint("/kept", i)])
			a.hit(t, "disk")
			if got := e.get("/posted", as(i)...).body; got == bodies[fmt.Sprint("/posted", i)] {
				t.Errorf("visitor %d gets %q, from before the POST", i, got)
			}
		}
	})
}
