package ssi

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of testdata/*.txt")

// A golden archive has parts that begin with a line "-- name --":
//
//	page                the document
//	fragment URL WORDS  an answer; words are status=N, error, raw (not compiled)
//	variables [URL]     name=value lines, of the page or of a fragment; @modified is its time in Unix seconds
//	stats               URL size time lines, of what fsize and flastmod know; time 0: unknown
//	options             words: apache legacy printenv silent unknown-error depth=N includes=N; the error message is [E]
//	want, problems, reports, requests
//
// A part ends with a line break that does not belong to it.
type archive struct {
	names []string
	parts map[string]string
}

func readArchive(t *testing.T, file string) *archive {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{parts: map[string]string{}}
	name := ""
	for line := range strings.SplitAfterSeq(string(data), "\n") {
		if n, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(n, " --\n") {
			name = strings.TrimSuffix(n, " --\n")
			a.names = append(a.names, name)
			continue
		}
		a.parts[name] += line
	}
	for n, s := range a.parts {
		a.parts[n] = strings.TrimSuffix(s, "\n")
	}
	return a
}

func (a *archive) write(file string) error {
	var b bytes.Buffer
	if head := a.parts[""]; head != "" {
		b.WriteString(head + "\n")
	}
	for _, n := range a.names {
		b.WriteString("-- " + n + " --\n")
		if s := a.parts[n]; s != "" {
			b.WriteString(s + "\n")
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// vars is Variables for tests.
type vars map[string]string

func (v vars) Lookup(name string) ([]byte, bool) {
	s, ok := v[name]
	return []byte(s), ok
}

func (v vars) Modified() (time.Time, bool) {
	n, err := strconv.ParseInt(v["@modified"], 10, 64)
	return time.Unix(n, 0), err == nil
}

func (v vars) List() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range v {
			if name[0] != '@' && !yield(name, []byte(value)) {
				return
			}
		}
	}
}

var (
	_ Dated  = vars{}
	_ Lister = vars{}
)

// stats is Stater for tests: lines of URL, size and time.
type stats string

func (s stats) Stat(inc *Include) (size int64, modified time.Time, err error) {
	for line := range strings.Lines(string(s)) {
		if f := strings.Fields(line); f[0] == inc.URL {
			size, _ = strconv.ParseInt(f[1], 10, 64)
			if unix, _ := strconv.ParseInt(f[2], 10, 64); unix != 0 {
				modified = time.Unix(unix, 0)
			}
			return size, modified, nil
		}
	}
	return 0, modified, errors.New("no such page")
}

// statSite is a site with a Stater.
type statSite struct {
	*site
	stats
}

// site answers includes from fragments; how is "lookup", "fetch" or "mixed" (each URL now so, now so).
type site struct {
	fragments map[string]Fragment
	how       string

	mu       sync.Mutex
	requests []string
	turn     int
}

func (s *site) find(inc *Include) Fragment {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, inc.URL)
	f, ok := s.fragments[inc.URL]
	if !ok {
		return Fragment{Err: errors.New("no such page"), Status: 404}
	}
	return f
}

func (s *site) Lookup(inc *Include) (Fragment, bool) {
	s.mu.Lock()
	s.turn++
	ask := s.how == "fetch" || s.how == "mixed" && s.turn%2 == 0
	s.mu.Unlock()
	if ask {
		return Fragment{}, false
	}
	return s.find(inc), true
}

func (s *site) Fetch(ctx context.Context, inc *Include) Fragment { return s.find(inc) }

func parseVars(s string) vars {
	v := vars{}
	for line := range strings.Lines(s) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		v[name] = value
	}
	return v
}

func (a *archive) site(t *testing.T, o Options) *site {
	s := &site{fragments: map[string]Fragment{}}
	for _, n := range a.names {
		words := strings.Fields(n)
		if words[0] != "fragment" {
			continue
		}
		f := Fragment{Status: 200, Variables: parseVars(a.parts["variables "+words[1]])}
		body := []byte(a.parts[n])
		raw := slices.Contains(words, "raw")
		for _, w := range words[2:] {
			if st, ok := strings.CutPrefix(w, "status="); ok {
				f.Status, _ = strconv.Atoi(st)
			}
			if w == "error" {
				f.Err = errors.New("refused")
			}
		}
		if raw {
			f.Body = body
		} else {
			f.Template = Compile(words[1], body, o)
		}
		s.fragments[words[1]] = f
	}
	return s
}

func (a *archive) settings(t *testing.T) (o Options, env Env) {
	o.ErrorMessage = "[E]"
	for _, w := range strings.Fields(a.parts["options"]) {
		name, value, _ := strings.Cut(w, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "apache":
			o.Dialect = DialectApache
		case "legacy":
			o.Expressions = ExpressionsLegacy
		case "printenv":
			o.Printenv = true
		case "silent":
			o.SilentErrors = true
		case "unknown-error":
			o.UnknownIsError = true
		case "depth":
			env.MaxDepth = n
		case "includes":
			env.MaxIncludes = n
		default:
			t.Fatalf("unknown option %q", w)
		}
	}
	env.Now = time.Date(2024, 3, 10, 12, 34, 56, 0, time.UTC)
	env.Location = time.FixedZone("MSK", 3*3600)
	return o, env
}

func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no archives")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a := readArchive(t, file)
			for _, how := range []string{"lookup", "fetch", "mixed"} {
				a.run(t, how)
			}
			if *update {
				if err := a.write(file); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func (a *archive) run(t *testing.T, how string) {
	o, env := a.settings(t)
	s := a.site(t, o)
	s.how = how
	env.Includer, env.Variables = s, parseVars(a.parts["variables"])
	if text, ok := a.parts["stats"]; ok {
		env.Includer = &statSite{s, stats(text)}
	}
	var mu sync.Mutex
	var reports []string
	env.Report = func(p Problem) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, p.String())
	}
	env.Panicked = func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) }
	tm := Compile("page", []byte(a.parts["page"]), o)
	r := tm.Start(context.Background(), &env)
	defer r.Close()
	if !r.Wait(10 * time.Second) {
		t.Fatalf("%s: not complete", how)
	}
	got := r.AppendTo(nil)
	var w bytes.Buffer
	if _, err := r.WriteTo(&w); err != nil || !bytes.Equal(got, w.Bytes()) || r.Len() != len(got) {
		t.Errorf("%s: AppendTo gave %q (Len %d), WriteTo %q, %v", how, got, r.Len(), w.Bytes(), err)
	}
	slices.Sort(reports)
	slices.Sort(s.requests)
	var problems []string
	for _, p := range tm.Problems() {
		problems = append(problems, p.String())
	}
	a.compare(t, how, "want", string(got))
	a.compare(t, how, "problems", strings.Join(problems, "\n"))
	a.compare(t, how, "reports", strings.Join(reports, "\n"))
	if _, ok := a.parts["requests"]; ok {
		a.compare(t, how, "requests", strings.Join(s.requests, "\n"))
	}
	if failed := ofInclude.MatchString(a.parts["reports"]); r.Failed() != failed {
		t.Errorf("%s: Failed is %v", how, r.Failed())
	}
}

// ofInclude finds a report of an include, or of fsize and flastmod.
var ofInclude = regexp.MustCompile(`include|no such page|nobody tells|not known|two dots`)

// compare checks one wanted part. Only want must be there; the others are compared if they are, or are not empty.
func (a *archive) compare(t *testing.T, how, name, got string) {
	want, ok := a.parts[name]
	if got == want && (ok || name != "want") {
		return
	}
	if !*update {
		t.Errorf("%s: %s\ngot:\n%s\nwanted:\n%s", how, name, got, want)
		return
	}
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.parts[name] = got
	fmt.Printf("%s: %s changed\n", how, name)
}
