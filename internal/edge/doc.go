// Package edge is the path of a request: fasthttp's handler, from the first
// byte of a head to the last byte of an answer.
//
// A request goes through these steps, each in a file of its own; serve.go
// reads as this list:
//
//  1. Gate: what is no sound HTTP/1.1 request is refused (gate.go).
//  2. Site: by Host, exact before wildcard before a site without hosts
//     (site.go).
//  3. Canonical: path and query in the site's canonical form (canonical.go,
//     query.go); a site that redirects slashes answers here.
//  4. Rules: the settings for the canonical path (rules.go).
//  5. Method: GET and HEAD may be answered from a page; all else goes to the
//     origin as the visitor wrote it (method.go).
//  6. Look up: a published page, from root or memcached, then a pulled one
//     (lookup.go, key.go).
//  7. Fill: nobody has the page; one request a key asks the origin for it, to
//     keep it, and the others wait (pull.go, fill.go, keeping.go). Forward:
//     nobody may have it, the origin is asked for this visitor (forward.go,
//     outgoing.go, visitor.go).
//  8. Assemble: the directives of the page are run, its includes fetched all at
//     once, its output sent in order (assemble.go, include.go, variables.go,
//     parts.go).
//  9. Respond: conditional requests, ranges, HEAD, Cache-Status (respond.go,
//     condition.go, ranges.go), then the access log (finish.go).
//
// # Words
//
// A visitor is who sent the request; the snapshot of the request that outlives
// the handler is a visitor too (visitor.go). A target is where a request or an
// include leads: site, canonical URL, settings (target.go).
//
// # Concurrency
//
// An Edge serves any number of requests at once. What it serves by, the sites
// and their settings, is built once and never changed; Reload builds it anew
// and swaps one pointer, and a request keeps to the one it began with.
// Goroutines of a request (includes, bodies of uploads) end before its answer
// is closed; those that work for all (fills, sweeps) end with Close.
package edge
