package demo

import (
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// private marks an answer that is one visitor's own. The edge hands it to
// nobody else, and marks the page that holds it likewise.
func private(w http.ResponseWriter) { w.Header().Set("Cache-Control", "private, no-store") }

// fresh marks an answer that is the same for everybody, and old at once.
func fresh(w http.ResponseWriter) { w.Header().Set("Cache-Control", "no-store") }

// loginFragment is the hole in every page: who is signed in, and the way out.
func (a *app) loginFragment(w http.ResponseWriter, r *http.Request) {
	private(w)
	a.render(w, http.StatusOK, "login.html", a.sessions.read(r))
}

// tripFragment lists the towns that the visitor wants to see. Pages include it
// only for visitors with a cookie, so strangers cost the app nothing.
func (a *app) tripFragment(w http.ResponseWriter, r *http.Request) {
	private(w)
	s := a.sessions.read(r)
	a.render(w, http.StatusOK, "trip.html", map[string]any{"Name": s.Name, "Towns": tripOf(s)})
}

// tideFragment changes with every request.
func (a *app) tideFragment(w http.ResponseWriter, r *http.Request) {
	fresh(w)
	a.render(w, http.StatusOK, "tide.html", tideAt(a.now()))
}

// tide is the reading of a gauge.
type tide struct {
	Metres string
	Rising bool
	Time   string
}

// tideAt is a sea that keeps the moon's time: high water every 12 h 25 min.
func tideAt(t time.Time) tide {
	const period = 12*time.Hour + 25*time.Minute
	turn := 2 * math.Pi * float64(t.UnixNano()%int64(period)) / float64(period)
	return tide{
		Metres: fmt.Sprintf("%.3f", 3.1+2.4*math.Sin(turn)),
		Rising: math.Cos(turn) > 0,
		Time:   t.Format("15:04:05.000"),
	}
}

// departure is a boat on the board.
type departure struct{ Time, To, Boat string }

// ferriesFragment is slow and right: the page waits for it, and all that
// stands above it is with the visitor meanwhile.
func (a *app) ferriesFragment(w http.ResponseWriter, r *http.Request) {
	if !wait(r, a.slow) {
		return
	}
	fresh(w)
	a.render(w, http.StatusOK, "ferries.html", departures(a.now()))
}

// departures are the next four boats: one every 20 minutes.
func departures(t time.Time) []departure {
	boats := []string{"Petrel", "Little Auk", "Turnstone"}
	next := t.Truncate(20 * time.Minute)
	var board []departure
	for range 4 {
		next = next.Add(20 * time.Minute)
		n := int(next.Unix() / 1200)
		board = append(board, departure{next.Format("15:04"), towns()[n%2].Name, boats[n%len(boats)]})
	}
	return board
}

// radioFragment is broken: the page prints the stub in its place.
func (a *app) radioFragment(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "the radio is on fire", http.StatusInternalServerError)
}

// buoyFragment says nothing for longer than anybody waits. The edge gives up
// after the time of its rule, and the request ends with that.
func (a *app) buoyFragment(w http.ResponseWriter, r *http.Request) {
	if wait(r, a.silent) {
		http.Error(w, "the buoy has drifted off", http.StatusServiceUnavailable)
	}
}

// wait lets d pass, and tells whether somebody still wants the answer.
func wait(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// anatomy is what a page consists of, in bytes.
type anatomy struct {
	Files []part // on disk
	App   []part // asked for
	File  int    // bytes of text from files, directives left out
	Asked int    // bytes from the app
}

type part struct {
	Name       string
	Text       int // bytes that are printed
	Directives int // how many
}

// Share is the app's part of the page in per cent, at least 1.
func (n anatomy) Share() int { return max(1, 100*n.Asked/(n.File+n.Asked)) }

// FileShare is the rest.
func (n anatomy) FileShare() int { return 100 - n.Share() }

var directives = regexp.MustCompile(`(?s)<!--#.*?-->`)

// anatomyFragment takes a published page apart: ?page=how. It renders the
// fragments once more for the visitor who asks, to know how long they are.
func (a *app) anatomyFragment(w http.ResponseWriter, r *http.Request) {
	private(w)
	n, err := a.takeApart(r)
	if err != nil {
		a.notFound(w, r)
		return
	}
	a.render(w, http.StatusOK, "anatomy.html", n)
}

func (a *app) takeApart(r *http.Request) (anatomy, error) {
	var n anatomy
	for _, name := range []string{r.FormValue("page") + ".html", "parts/header.html", "parts/footer.html"} {
		b, err := fs.ReadFile(a.site, name)
		if err != nil {
			return n, err
		}
		found := directives.FindAllIndex(b, -1)
		text := len(b)
		for _, at := range found {
			text -= at[1] - at[0]
		}
		n.Files = append(n.Files, part{name, text, len(found)})
		n.File += text
	}
	for _, f := range []part{
		a.measure("/fragments/login", "login.html", a.sessions.read(r)),
		a.measure("/fragments/tide", "tide.html", tideAt(a.now())),
	} {
		n.App = append(n.App, f)
		n.Asked += f.Text
	}
	return n, nil
}

func (a *app) measure(name, file string, data any) part {
	var b strings.Builder
	a.templates.ExecuteTemplate(&b, file, data)
	return part{Name: name, Text: b.Len()}
}

// ledgerFragment shows what the app was asked since it started.
func (a *app) ledgerFragment(w http.ResponseWriter, r *http.Request) {
	fresh(w)
	a.render(w, http.StatusOK, "ledger.html", a.ledger.lines())
}
