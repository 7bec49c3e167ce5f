// Package admin is the admin listener: health, readiness, version, metrics,
// purge, explain, reload and profiles, over HTTP/1.1 with JSON answers.
//
// It knows neither the edge nor its configuration; what an endpoint needs is a
// function or a small interface in [Options], which the caller wires.
//
// Whoever may speak to it decides by the token. With one, every endpoint but
// /healthz and /readyz wants it. Without one the listener is on loopback, and
// what has to be kept out are web pages in a browser on this machine: requests
// whose Host is no loopback name (DNS rebinding), whose Origin is another, or
// that POST anything but JSON (which a form cannot send) are refused, and there
// are no profiles. The Host of a PURGE is that of a page; there any Origin is
// refused.
//
// A [Server] may be used by several goroutines.
package admin
