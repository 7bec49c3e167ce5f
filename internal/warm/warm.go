package warm

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultConcurrency is how many requests are under way at once where Options
	// do not say.
	DefaultConcurrency = 4
	// MaxConcurrency is the most that Options may ask for.
	MaxConcurrency = 1000
	// DefaultSilence is how long the edge may say nothing where Options do not
	// say. It is twice the time that ssiedge gives an app for its head.
	DefaultSilence = 60 * time.Second

	minRate = 0.001
	maxRate = 1e6
	// queued is how far reading may run ahead of asking: far enough for the
	// progress of most sites to have an end from the first second on.
	queued = 1 << 14
)

// Options say which edge to ask, and how.
type Options struct {
	// Edge is the URL of the edge: http or https, a host, no path. Required.
	Edge string
	// Host replaces the Host of every URL. Empty: each URL's own; paths have the
	// edge's.
	Host string
	// Header holds further fields of each request, "Name: value".
	Header []string
	// Cookies are sent with each request, "name=value".
	Cookies []string
	// Exclude holds patterns of what is not asked for: * is any run of
	// characters, all else is itself. One that matches the whole path, or the
	// whole path and query, excludes.
	Exclude []string
	// Concurrency is the number of requests under way at once, at most
	// MaxConcurrency. Zero: DefaultConcurrency.
	Concurrency int
	// Rate bounds the requests begun in a second, over all, from 0.001 to a
	// million. Zero: no bound.
	Rate float64
	// Silence is how long the edge, or the server of a sitemap, may say nothing:
	// before the head, and between two parts of the body. Zero: DefaultSilence.
	Silence time.Duration
	// Version goes into the User-Agent. Empty: devel.
	Version string
	// Progress, if set, is told after each outcome.
	Progress func(Progress)
	// Mistake, if set, is told of each entry of the source that cannot be asked
	// for; the same is in the report's numbers.
	Mistake func(Failure)
}

// Progress is how far a run has come.
type Progress struct {
	Done   int64 // outcomes
	Listed int64 // what the source has given up to now
	All    bool  // the source has come to its end: Listed is final
}

// Warmer asks one edge. It is immutable.
type Warmer struct {
	edge        *url.URL
	host        string
	header      http.Header
	exclude     patterns
	concurrency int
	rate        float64
	silence     time.Duration
	agent       string
	progress    func(Progress)
	mistake     func(Failure)
	limits      limits
	transport   func() *http.Transport
}

// New checks options. Its error names the option that is wrong.
func New(o Options) (*Warmer, error) {
	w := &Warmer{
		host: o.Host, exclude: o.Exclude, concurrency: o.Concurrency, rate: o.Rate, silence: o.Silence,
		agent: "ssiedge-warm/" + o.Version, progress: o.Progress, mistake: o.Mistake,
		limits: defaultLimits, transport: newTransport,
	}
	if o.Version == "" {
		w.agent = "ssiedge-warm/devel"
	}
	if w.concurrency == 0 {
		w.concurrency = DefaultConcurrency
	}
	if w.silence == 0 {
		w.silence = DefaultSilence
	}
	return w, w.check(o)
}

// check judges what New was given and takes over what needs parsing.
func (w *Warmer) check(o Options) (err error) {
	if w.edge, err = parseEdge(o.Edge); err != nil {
		return err
	}
	if o.Host != "" && checkHost(o.Host) != nil {
		return fmt.Errorf("host %q: a host name is wanted, with or without a port", o.Host)
	}
	if w.concurrency < 1 || w.concurrency > MaxConcurrency {
		return fmt.Errorf("concurrency %d: a number from 1 to %d is wanted", o.Concurrency, MaxConcurrency)
	}
	if w.rate != 0 && !(w.rate >= minRate && w.rate <= maxRate) || math.IsNaN(w.rate) {
		return fmt.Errorf("rate %v: requests a second are wanted, from %v to %.0f, or 0 for no bound", o.Rate, minRate, maxRate)
	}
	if w.silence < 0 {
		return fmt.Errorf("silence %v: a time above 0 is wanted", o.Silence)
	}
	w.header, err = fields(w.agent, o.Header, o.Cookies)
	return err
}

// parseEdge reads the edge's URL, of which only scheme and host are used.
func parseEdge(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || checkHost(u.Host) != nil:
		return nil, fmt.Errorf("edge %q: a URL is wanted, like http://127.0.0.1:8080", s)
	case u.User != nil:
		return nil, fmt.Errorf("edge %q: a URL without user and password is wanted; they go into an Authorization field", u.Redacted())
	case strings.TrimPrefix(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("edge %q: a URL without path and query is wanted, like %s://%s", s, u.Scheme, u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// Run asks for everything that source lists, and returns when that is done or
// ctx has ended; requests under way are then given up and not counted.
//
// Reading a source cannot always be interrupted (a terminal, a pipe). After ctx
// has ended, one goroutine stays until a read of such a source returns.
func (w *Warmer) Run(ctx context.Context, source Source) *Report {
	began := time.Now()
	asker := w.newAsker()
	defer asker.close()

	queue := make(chan entry, queued)
	l := newLister(w)
	go func() {
		defer close(queue)
		l.list(ctx, source, queue)
	}()
	results := make(chan result)
	go func() {
		defer close(results)
		var workers sync.WaitGroup
		for range w.concurrency {
			workers.Go(func() { asker.work(ctx, queue, results) })
		}
		workers.Wait()
	}()

	report := newReport(w.edge.String())
	for r := range results {
		report.add(r)
		w.tell(r, Progress{Done: report.URLs, Listed: l.listed.Load(), All: l.ended.Load()})
	}
	report.Excluded, report.Duplicates = l.excluded.Load(), l.duplicates.Load()
	report.Retries = asker.retries.Load()
	report.Took = time.Since(began)
	report.Interrupted = ctx.Err() != nil
	return report
}

// tell passes on what the caller wants to know of an outcome.
func (w *Warmer) tell(r result, p Progress) {
	if w.mistake != nil && (r.reason == reasonEntry || r.reason == reasonSitemap) {
		w.mistake(r.failure())
	}
	if w.progress != nil {
		w.progress(p)
	}
}
