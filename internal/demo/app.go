package demo

import (
	"embed"
	"html/template"
	"io/fs"
	"log"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:embed templates
var templateFiles embed.FS

// maxForm bounds the body of a form, in bytes.
const maxForm = 64 << 10

// app is the sample app: an ordinary web program. It never speaks to the edge
// and would serve its routes just as well without one, only that nobody would
// fill the holes of its pages.
type app struct {
	site      fs.FS // the published pages, for /fragments/anatomy
	templates *template.Template
	sessions  signer
	ledger    *ledger
	now       func() time.Time
	slow      time.Duration // how long /fragments/ferries takes
	silent    time.Duration // how long /fragments/buoy says nothing
}

// newApp makes the app. site is the folder of published pages.
func newApp(site fs.FS) (*app, error) {
	t, err := template.New("").Funcs(template.FuncMap{"ssi": directive}).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	return &app{
		site: site, templates: t, sessions: newSigner(), ledger: newLedger(),
		now: time.Now, slow: 1500 * time.Millisecond, silent: 30 * time.Second,
	}, nil
}

// handler is the app's routes. Forms post to the addresses of published pages:
// the edge answers reading from the file and sends everything else here.
//
// No form carries a token, because the pages they stand in are the same for
// everybody. CrossOriginProtection refuses instead what a browser says comes
// from another origin (Sec-Fetch-Site, else Origin against Host); the cookie
// is SameSite=Lax as well.
func (a *app) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /today", a.today)
	mux.HandleFunc("GET /towns", a.searchTowns) // with a query: the file has none
	mux.HandleFunc("POST /towns", a.searchTowns)
	mux.HandleFunc("POST /towns/{slug}", a.toggleTown)
	mux.HandleFunc("POST /login", a.login)
	mux.HandleFunc("POST /logout", a.logout)
	mux.HandleFunc("GET /fragments/login", a.loginFragment)
	mux.HandleFunc("GET /fragments/trip", a.tripFragment)
	mux.HandleFunc("GET /fragments/tide", a.tideFragment)
	mux.HandleFunc("GET /fragments/ferries", a.ferriesFragment)
	mux.HandleFunc("GET /fragments/radio", a.radioFragment)
	mux.HandleFunc("GET /fragments/buoy", a.buoyFragment)
	mux.HandleFunc("GET /fragments/anatomy", a.anatomyFragment)
	mux.HandleFunc("GET /fragments/ledger", a.ledgerFragment)
	mux.HandleFunc("/", a.notFound)
	return a.ledger.watch(http.NewCrossOriginProtection().Handler(limitForms(mux)))
}

func limitForms(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// directive writes a server-side include into a page of the app. It has to go
// round html/template, which drops comments.
func directive(s string) template.HTML { return template.HTML("<!--# " + s + " -->") }

// render answers with a template. Names of files below templates/.
func (a *app) render(w http.ResponseWriter, status int, name string, data any) {
	var b strings.Builder
	if err := a.templates.ExecuteTemplate(&b, name, data); err != nil {
		log.Printf("demo app: %v", err)
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(b.String()))
}

// back is where a form was sent from: a path of this site, or "/". The host is
// compared and the path checked, because a redirect to "//elsewhere" would
// leave the site.
func back(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host != r.Host {
		return "/"
	}
	p := u.EscapedPath()
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.Contains(p, `\`) {
		return "/"
	}
	return p
}
