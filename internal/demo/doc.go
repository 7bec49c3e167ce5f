// Package demo is a small site and a small app to show the edge with: "The
// Lantern Coast", a guide to three towns that do not exist.
//
// The site is a folder of published pages with server-side includes, embedded
// in the binary and copied to a temporary folder, so that its user can edit
// the files while the edge serves them. The app is an ordinary net/http
// program on a loopback port that knows nothing of the edge: it signs people
// in, answers forms, renders one whole page and a handful of fragments, some
// of them slow or broken on purpose. The edge itself is not here: cmd/ssiedge
// runs it, with the configuration file that Config writes.
//
//	d, err := demo.Start()       // the files, and the app behind them
//	defer d.Close()              // stops the app and removes the files
//	file, err := d.WriteConfig("127.0.0.1:8080", "127.0.0.1:8081")
//
// Everything here is meant to be read as an example of an app that works well
// behind the edge:
//
//   - app.go: the routes, and why no form needs a token
//   - session.go: who is signed in, in one signed cookie
//   - fragments.go: the personal, the quick, the slow and the broken
//   - pages.go: whole pages that are templates for the edge themselves
//   - ledger.go: what the app was really asked
//   - config.go: the ssiedge.toml of the demo
//   - tour.go: the commands to try, each with what it shows
package demo
