// Package warm asks an edge for pages so that they are there: an HTTP client
// that reads a list of URLs or a sitemap, asks one edge for each URL once, and
// counts what the edge says it did.
//
//	w, err := warm.New(warm.Options{Edge: "http://127.0.0.1:8080"})
//	report := w.Run(ctx, warm.SitemapURL("https://www.example.com/sitemap.xml"))
//	report.WriteText(os.Stdout)
//
// # Words
//
// A source lists what to ask for (source.go): lines of a file (list.go) or a
// sitemap and the sitemaps it names (sitemap.go, urlset.go). A target is what
// goes to the edge for an entry of a source: a Host, and a path with its query,
// byte for byte (target.go). The outcome of a target is read from the answer's
// Cache-Status (outcome.go, cachestatus.go):
//
//   - kept: the edge asked the origin, and keeps the answer
//   - already there: the edge had the page
//   - not kept: the edge says why (a cookie, no lifetime), or it is a redirect
//   - failed: a status of 400 or more, no answer, half a body, a 2xx that is no
//     answer of an ssiedge, or an entry of the source that is no URL
//
// # Limits
//
// URLs are not held: of each one asked for, eight bytes remain, by which it is
// not asked for again. Two of ten million have equal ones with a probability of
// three in a million; then one of them is left out. The constants of source.go,
// urlset.go and retry.go bound everything that comes from outside.
//
// # Concurrency
//
// A Warmer is immutable and may Run several times, at once too. The functions in
// Options are called from the goroutine of Run only.
package warm
