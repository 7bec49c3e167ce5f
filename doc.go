// Package ssiedge is the root of an edge cache for sites whose pages are slow
// to build, change seldom, and are the same for everybody but for a word or
// two. It holds no code: the program is cmd/ssiedge.
//
// ssiedge answers a request for a page from a file or from memcached, fills the
// few personal holes in the page (server-side includes) by asking the app for
// just those fragments, and asks the app for a whole page only when nobody has
// it yet. The path of a request:
//
//  1. Site, by the Host field; an unknown one is answered with 421.
//  2. Canonical path and query: dot segments, slashes and escapes have one form
//     from here on.
//  3. Rules: the settings for this path, merged when they were loaded.
//  4. Method: only GET and HEAD may be answered from a page. All else goes to
//     the app as the visitor wrote it.
//  5. Look up: a published page, that is one which somebody else wrote: a file
//     below the root, or a raw value in memcached.
//  6. Ask the app, where there is no such page.
//  7. Assemble: run the page's directives. Its includes go through these steps
//     too, all at once; what is ready leaves first, in the order of the page.
//  8. Respond: conditional requests, ranges, HEAD. Then the log.
//
// # Packages
//
// Arrows point down only; a test in this package keeps it so.
//
//	cmd/ssiedge         commands, flags, signals, exit codes
//	  conf              ssiedge.toml, and every mistake in it
//	    internal/edge   the path of a request
//	      ssi           compiles pages with directives and runs them
//	      pagecache     pages in memory, on a disk, from files and from memcached
//	      origin        sends a request to one server of an app
//	      internal/accesslog
//	  internal/admin    health, metrics, reload: a listener of its own
//	  internal/demo     the sample site of "ssiedge demo"
//
// The three libraries ssi, pagecache and origin do not know each other, and
// work without the rest. internal/realtest and internal/e2e test the program in
// front of real servers.
package ssiedge
