package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// nginxOrigin serves the files of a folder and logs what it was asked about.
const nginxOrigin = `daemon on;
events {}
http {
	log_format answered '$status [$http_if_none_match] [$http_if_modified_since]';
	access_log @DIR@/access.log answered;
	types { text/html html; text/css css; }
	server {
		listen 127.0.0.1:@PORT@;
		root %s;
		location /each/ { add_header Cache-Control no-cache; }
		location /edge/ { add_header SSIEdge-Cache-Control max-age=3600; }
	}
}
`

// apacheOrigin does the same. Its 304s have no field for the edge.
const apacheOrigin = `DocumentRoot %s
<Directory />
	Require all granted
</Directory>
<Location /each/>
	Header set Cache-Control no-cache
</Location>
<Location /edge/>
	Header set SSIEdge-Cache-Control max-age=3600 "expr=%%{REQUEST_STATUS} == 200"
</Location>
`

// The real nginx is asked whether its pages are still good, by entity-tag and
// date.
func TestValidationByNginx(t *testing.T) {
	root := realtest.PublicDir(t)
	nginx := realtest.Nginx(t, fmt.Sprintf(nginxOrigin, root))
	validated(t, root, nginx.Addr)
	realtest.Eventually(t, "nginx has logged what it was asked", func() bool {
		log, err := os.ReadFile(filepath.Join(nginx.Dir, "access.log"))
		return err == nil && strings.Count(string(log), "\n304 [\\x22") == 3 && strings.Count(string(log), " GMT]\n") == 4
	})
}

func TestValidationByApache(t *testing.T) {
	root := realtest.PublicDir(t)
	apache := realtest.Apache(t, []string{"mod_mpm_event", "mod_authz_core", "mod_headers"}, fmt.Sprintf(apacheOrigin, root))
	validated(t, root, apache.Addr)
}

// validated starts an edge before an origin that serves the files of root.
func validated(t *testing.T, root, origin string) {
	writeTree(t, root, map[string]string{"each/a.css": "one", "edge/a.html": "<p>one</p>"})
	s := setup{rest: fmt.Sprintf("[site.origin]\nservers = [\"http://%s\"]\n[site.cache]\nsoft_window = \"0s\"\n", origin)}
	edge := realtest.Edge(t, realtest.EdgeOptions{Config: s.config(t)})
	validatedEachTime(t, edge, filepath.Join(root, "each/a.css"))
	validatedOnce(t, edge)
}

// validatedEachTime: no-cache, until the file is another.
func validatedEachTime(t *testing.T, edge *realtest.EdgeServer, file string) {
	wantStored(t, send(t, edge.Addr, get("/each/a.css")), "one")
	a := send(t, edge.Addr, get("/each/a.css"))
	wantBody(t, a, "one")
	wantMember(t, a, "fwd=stale", "fwd-status=304", "stored", "detail=no-cache")
	if again := send(t, edge.Addr, get("/each/a.css", "If-None-Match: "+a.header.Get("Etag"))); again.status != http.StatusNotModified {
		t.Errorf("a visitor who has the page got %d, want 304", again.status)
	}
	if err := os.WriteFile(file, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantBody(t, send(t, edge.Addr, get("/each/a.css")), "another")
}

// validatedOnce: a page that a soft purge has expired is good for as long again,
// also where the 304 does not say for how long.
func validatedOnce(t *testing.T, edge *realtest.EdgeServer) {
	wantStored(t, send(t, edge.Addr, get("/edge/a.html")), "<p>one</p>")
	if a := post(t, edge.Admin+"/purge", "application/json", `{"urls":["/edge/a.html"],"soft":true}`); a.status != http.StatusOK {
		t.Fatalf("the purge gives %d %s", a.status, short(a.body))
	}
	a := send(t, edge.Addr, get("/edge/a.html"))
	wantBody(t, a, "<p>one</p>")
	wantMember(t, a, "fwd=stale", "fwd-status=304", "stored")
	wantKept(t, send(t, edge.Addr, get("/edge/a.html")), "<p>one</p>")
}
