package demo

import (
	"log"
	"net/http"
	"strings"
	"unicode/utf8"
)

// page is what the templates of whole pages are given.
type page struct {
	Title string
	Part  string // of the site, for the header: "towns", "today", ...
	Date  string
	Query string
	Towns []town
	Error string
	Path  string
}

// today is a page that nobody published: the app renders it each time, and the
// edge fills its holes as it fills those of a file.
func (a *app) today(w http.ResponseWriter, r *http.Request) {
	fresh(w)
	a.render(w, http.StatusOK, "today.html", page{
		Title: "Today", Part: "today", Date: a.now().Format("Monday, 2 January"),
	})
}

// searchTowns answers the form of the published page /towns, on its address.
func (a *app) searchTowns(w http.ResponseWriter, r *http.Request) {
	fresh(w)
	q := strings.TrimSpace(r.FormValue("q"))
	if !utf8.ValidString(q) || len(q) > 200 {
		q = ""
	}
	a.render(w, http.StatusOK, "search.html", page{
		Title: "Search", Part: "towns", Query: q, Towns: search(q),
	})
}

// toggleTown adds a town to the visitor's trip or takes it off: a POST to the
// address of a published page.
func (a *app) toggleTown(w http.ResponseWriter, r *http.Request) {
	t, ok := findTown(r.PathValue("slug"))
	if !ok {
		a.notFound(w, r)
		return
	}
	s := a.sessions.read(r)
	if s.Name == "" {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	s.toggle(t.Slug)
	a.signed(w, r, s, "/towns/"+t.Slug)
}

// login signs a visitor in under any name.
func (a *app) login(w http.ResponseWriter, r *http.Request) {
	name, ok := cleanName(r.FormValue("user"))
	if !ok {
		private(w)
		a.render(w, http.StatusUnprocessableEntity, "refused.html", page{
			Title: "Sign in", Part: "login", Error: "A name has 1 to 40 characters.",
		})
		return
	}
	to := back(r)
	if to == "/login" {
		to = "/"
	}
	a.signed(w, r, session{Name: name}, to)
}

// logout forgets the visitor.
func (a *app) logout(w http.ResponseWriter, r *http.Request) {
	private(w)
	a.sessions.clear(w)
	http.Redirect(w, r, back(r), http.StatusSeeOther)
}

// signed sends the visitor on with a new cookie. 303: the form is done, what
// follows is a page to read.
func (a *app) signed(w http.ResponseWriter, r *http.Request, s session, to string) {
	private(w)
	if err := a.sessions.write(w, s); err != nil {
		log.Printf("demo app: %v", err)
		http.Error(w, "the session could not be kept", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (a *app) notFound(w http.ResponseWriter, r *http.Request) {
	fresh(w)
	a.render(w, http.StatusNotFound, "missing.html", page{Title: "Not found", Path: r.URL.Path})
}
