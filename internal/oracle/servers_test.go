package oracle

import (
	"encoding/binary"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// world is what the cases are run in.
type world struct {
	dir   string // a folder for each case
	app   *httptest.Server
	nginx *realtest.NginxServer
	other *realtest.ApacheServer
	edge  *realtest.EdgeServer
}

// written is when all files were last changed: long enough ago that no server
// takes them for half written.
var written = time.Date(2024, time.March, 10, 12, 34, 56, 0, time.UTC)

// start writes the files of all cases and starts the servers.
func start(t *testing.T, cases []*testCase) *world {
	t.Helper()
	w := &world{dir: realtest.PublicDir(t)}
	zone := filepath.Join(w.dir, "zone")
	if err := os.WriteFile(zone, moscow(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TZ", ":"+zone)
	hosts := map[string]*testCase{}
	for _, c := range cases {
		w.write(t, c)
		for i := range pairs {
			hosts[pairs[i].host(c)] = c
		}
	}
	w.app = httptest.NewServer(&app{hosts})
	t.Cleanup(w.app.Close)
	w.nginx = realtest.Nginx(t, w.nginxConfig(cases))
	w.other = realtest.Apache(t, apacheModules, w.apacheConfig(cases))
	w.edge = realtest.Edge(t, realtest.EdgeOptions{Config: w.edgeConfig(cases)})
	return w
}

// moscow is a file of zone information with one zone, three hours east of
// Greenwich all the year: no test depends on what the machine has of them.
func moscow() []byte {
	b := append([]byte("TZif"), make([]byte, 16)...)
	for _, n := range []uint32{0, 0, 0, 0, 1, 4} { // one type, four bytes of names
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = binary.BigEndian.AppendUint32(b, 3*60*60)
	b = append(b, 0, 0)
	return append(b, "MSK\x00"...)
}

// write writes the files of a case.
func (w *world) write(t *testing.T, c *testCase) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, c.name), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.parts {
		if p.isRecord() || strings.HasPrefix(p.name, "app/") {
			continue
		}
		path := filepath.Join(w.dir, c.name, filepath.FromSlash(p.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(p.body), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
}

// each calls f for every case that a pair runs.
func each(cases []*testCase, f func(p *pair, c *testCase)) {
	for i := range pairs {
		for _, c := range cases {
			if slices.Contains(c.run, pairs[i].name) {
				f(&pairs[i], c)
			}
		}
	}
}

// types are the types of files that matter, in the words of nginx.
const types = "types { text/html html htm shtml inc ssi; text/plain txt; text/css css; application/javascript js; application/xhtml+xml xhtml; text/xml xml; application/octet-stream bin; }\n"

// nginxConfig gives every case a server. What is no file is the app's.
func (w *world) nginxConfig(cases []*testCase) string {
	var b strings.Builder
	b.WriteString("daemon on;\nworker_processes 1;\npid @DIR@/nginx.pid;\nevents { worker_connections 512; }\nhttp {\naccess_log off;\nserver_tokens off;\n" +
		"server_names_hash_bucket_size 128;\nserver_names_hash_max_size 8192;\nclient_body_temp_path @DIR@;\nproxy_temp_path @DIR@;\nfastcgi_temp_path @DIR@;\n" +
		"uwsgi_temp_path @DIR@;\nscgi_temp_path @DIR@;\nssi on;\ndefault_type application/octet-stream;\n" + types +
		"proxy_set_header Host $host;\nproxy_read_timeout 300s;\nproxy_http_version 1.1;\nserver { listen 127.0.0.1:@PORT@ default_server; return 421; }\n")
	each(cases, func(p *pair, c *testCase) {
		if p.apache {
			return
		}
		fmt.Fprintf(&b, "server {\nlisten 127.0.0.1:@PORT@;\nserver_name %s;\nroot %s;\n%s\n"+
			"location / { try_files $uri $uri/ @app; }\nlocation @app { proxy_pass %s; }\n"+
			"location /app/ { proxy_pass %s; }\nlocation /app/hang { proxy_pass %s; proxy_read_timeout 200ms; }\n}\n",
			p.host(c), filepath.Join(w.dir, c.name), strings.Join(c.values("nginx"), "\n"), w.app.URL, w.app.URL, w.app.URL)
	})
	return b.String() + "}\n"
}

// apacheModules are what the cases need.
var apacheModules = []string{"mod_mpm_event", "mod_authz_core", "mod_dir", "mod_env", "mod_filter", "mod_include", "mod_mime", "mod_proxy", "mod_proxy_http", "mod_setenvif"}

// apacheConfig gives every case a virtual host. /app/ is the app's, all else are files.
func (w *world) apacheConfig(cases []*testCase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "StartServers 1\nServerSignature Off\nServerTokens Prod\nProxyPreserveHost On\nTypesConfig /dev/null\nAddType text/html .html .htm .shtml .inc .ssi\n"+
		"AddType text/plain .txt\nAddType text/css .css\nAddType application/javascript .js\nAddType application/xhtml+xml .xhtml\nAddType text/xml .xml\nDirectoryIndex index.html\n"+
		"AddOutputFilterByType INCLUDES text/html\n<Directory %q>\nOptions +Includes\nRequire all granted\n</Directory>\n<Location /app/>\nOptions +Includes\n</Location>\n", w.dir)
	each(cases, func(p *pair, c *testCase) {
		if !p.apache {
			return
		}
		fmt.Fprintf(&b, "<VirtualHost 127.0.0.1:@PORT@>\nServerName %s\nDocumentRoot %q\nProxyPass /app/hang %s/app/hang timeout=1\nProxyPass /app/ %s/app/\n%s\n",
			p.host(c), filepath.Join(w.dir, c.name), w.app.URL, w.app.URL, strings.Join(c.values("apache"), "\n"))
		if p.legacy {
			b.WriteString("<Location />\nSSILegacyExprParser on\n</Location>\n")
		}
		b.WriteString("</VirtualHost>\n")
	})
	return b.String()
}

// edgeConfig gives every case a site, laid out as the server of its pair is.
func (w *world) edgeConfig(cases []*testCase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[log]\naccess = \"off\"\n[origin.app]\nservers = [%q]\ntimeout = \"300s\"\n", w.app.URL)
	each(cases, func(p *pair, c *testCase) {
		fmt.Fprintf(&b, "[[site]]\nhosts = [%q]\nroot = %q\ntry = [\"{path}\", \"{path}/index.html\"]\ntrailing_slash = \"keep\"\nquery = \"all\"\n",
			p.host(c), filepath.Join(w.dir, c.name))
		if !p.apache {
			b.WriteString("origin = \"app\"\n")
		}
		fmt.Fprintf(&b, "[site.ssi]\ntimeout = \"300s\"\n%s\n%s\n", strings.Join(p.ssi, "\n"), strings.Join(c.values("edge"), "\n"))
		b.WriteString("[[site.rule]]\npath = [\"/app/*\"]\norigin = \"app\"\n[[site.rule]]\npath = [\"/app/hang\"]\ntimeout = \"200ms\"\n")
		for _, rule := range c.values("rule") {
			fmt.Fprintf(&b, "[[site.rule]]\n%s\n", strings.ReplaceAll(rule, ";", "\n"))
		}
	})
	return b.String()
}
