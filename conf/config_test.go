package conf

import (
	"log/slog"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

// mustParse parses a file without mistakes.
func mustParse(t *testing.T, src string) *Config {
	t.Helper()
	cfg, err := Parse("ssiedge.toml", []byte(src), environment)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, src)
	}
	return cfg
}

// diff is what differs between two values, "" for nothing.
func diff(got, want any) string {
	return cmp.Diff(want, got,
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
		cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() }),
		cmp.Comparer(func(a, b *slog.Logger) bool { return a == b }))
}

// everyDefault is DESIGN's list of defaults, written out.
const everyDefault = `
listen = [":8080"]
trusted_proxies = []
proxy_protocol = false
state = ""
health_path = ""
[admin]
listen = "127.0.0.1:8081"
token = ""
[log]
level = "info"
access = "stdout"
format = "combined"
[memory]
size = "256MiB"
[memcache]
servers = ["127.0.0.1:11211"]
timeout = "50ms"
[limits]
header = "16KiB"
body = "64MiB"
connections = 65536
header_timeout = "10s"
idle_timeout = "75s"
write_timeout = "60s"
max_keep = "16MiB"
[[site]]
hosts = []
root = "testdata"
links = []
try = ["{path}.html", "{path}/index.html", "{path}"]
published = ["{raw_path}"]
published_for = "1s"
root_check = "every"
trailing_slash = "strip"
query = {drop = ["utm_*", "gclid", "fbclid", "msclkid"]}
not_keepable = "1m"
max_variants = 16
encode = ["br", "zstd", "gzip"]
purge_root = false
fill_wait = "10s"
maintenance = ""
[site.origin]
servers = ["http://127.0.0.1:3000"]
balance = "fair"
inflight = 0
queue = 1024
reserve = 0
timeout = "30s"
idle = "60s"
health = {path = "", interval = "5s"}
[site.cache]
heuristic = false
set_cookie = "refuse"
negative = "0s"
stale_while_revalidate = "0s"
stale_if_error = "10m"
soft_window = "1h"
request_directives = "ignore"
targets = ["SSIEdge-Cache-Control", "CDN-Cache-Control"]
[site.ssi]
enabled = true
dialect = "nginx"
expressions = "ap_expr"
types = ["text/html"]
unknown = "keep"
error_message = "[an error occurred while processing the directive]"
silent_errors = false
fragment_errors = "fail"
last_modified = "drop"
etag = true
printenv = false
timezone = "Local"
timeout = "5s"
flush_after = "1ms"
max_depth = 16
max_includes = 512
max_fragment = "1MiB"
max_page = "16MiB"
`

// shortest file that says what has no default.
const onlyNeeded = `
[memcache]
servers = ["127.0.0.1:11211"]
[[site]]
root = "testdata"
published = ["{raw_path}"]
[site.origin]
servers = ["http://127.0.0.1:3000"]
`

func defaultConfig() *Config {
	return &Config{
		File:   "ssiedge.toml",
		Listen: []string{":8080"},
		Admin:  Admin{Listen: "127.0.0.1:8081", Loopback: true},
		Log:    Log{Level: slog.LevelInfo, Access: "stdout", Format: "combined"},
		Edge: edge.Options{
			Memory:   edge.DefaultMemory,
			Memcache: &pagecache.MemcacheOptions{Servers: []string{"127.0.0.1:11211"}, Timeout: 50 * time.Millisecond},
			Limits: edge.Limits{
				Header: edge.DefaultHeaderLimit, Body: edge.DefaultBodyLimit, Connections: edge.DefaultConnections,
				HeaderTimeout: edge.DefaultHeaderTimeout, IdleTimeout: edge.DefaultIdleTimeout,
				WriteTimeout: edge.DefaultWriteTimeout, MaxKeep: edge.DefaultMaxKeep,
			},
			Sites: []edge.Site{{
				Files:     &pagecache.FilesOptions{Root: "testdata", Try: pagecache.DefaultTry(), MaxKeep: 16 << 20},
				Published: &pagecache.PublishedOptions{Keys: []string{"{raw_path}"}, For: time.Second, MaxKeep: 16 << 20},
				Query:     edge.QueryFilter{Mode: edge.QueryDrop, Names: []string{"utm_*", "gclid", "fbclid", "msclkid"}},
				Origin: &origin.Options{
					Name: "default", Servers: []string{"http://127.0.0.1:3000"}, Timeout: 30 * time.Second, Idle: time.Minute,
				},
				Cache: edge.Cache{
					Policy: pagecache.Policy{
						Targets: []string{"SSIEdge-Cache-Control", "CDN-Cache-Control"}, StaleIfError: 10 * time.Minute, MaxVariants: 16,
					},
					SoftWindow: time.Hour, NotKeepable: time.Minute, FillWait: 10 * time.Second,
				},
				SSI: edge.SSI{
					Enabled: true, Types: []string{"text/html"}, ErrorMessage: edge.DefaultErrorMessage, ETag: true,
					Timezone: time.Local, Timeout: edge.DefaultSSITimeout, FlushAfter: edge.DefaultFlushAfter,
					MaxDepth: edge.DefaultMaxDepth, MaxIncludes: edge.DefaultMaxIncludes,
					MaxFragment: edge.DefaultMaxFragment, MaxPage: edge.DefaultMaxPage,
				},
			}},
		},
	}
}

func TestDefaults(t *testing.T) {
	for name, src := range map[string]string{"written out": everyDefault, "left out": onlyNeeded} {
		got, want := mustParse(t, src), defaultConfig()
		want.Edge.Sites[0].Where = got.Edge.Sites[0].Where
		if len(got.Warnings) != 1 || got.Warnings[0].Key != "memcache" {
			t.Errorf("%s: warnings %v, want the one of memcache without state", name, got.Warnings)
		}
		got.Warnings = nil
		if d := diff(got, want); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestDefaultsAreRight would catch a default that is refused by its own reader.
func TestDefaultsAreRight(t *testing.T) {
	for _, g := range groups {
		for _, s := range g.settings {
			if s.value != "" && parseDefault("key", s.value).key != "key" {
				t.Errorf("%s.%s: no value", g.name, s.name)
			}
		}
	}
}

const everySetting = `
listen = ["127.0.0.1:${PORT}", "unix:/run/ssiedge.sock"]
trusted_proxies = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]
health_path = "/edge-up"
state = "journal/"
[admin]
listen = "10.0.0.1:9000"
token = "s3cret"
[log]
level = "debug"
access = "testdata/access.log"
format = "json"
[memory]
size = "0"
[limits]
header = "8KiB"
body = "0"
connections = 100
header_timeout = "1s"
idle_timeout = "1h30m"
write_timeout = "500ms"
max_keep = "1MiB"
[memcache]
servers = ["unix:/run/memcached.sock"]
timeout = "10ms"
[origin.widgets]
servers = ["127.0.0.1:4000", "unix:/run/w.sock"]
balance = "round_robin"
timeout = "1s"
idle = "2s"
[[site]]
hosts = ["WWW.Example.com", "*.example.org", "[2001:DB8:0::1]"]
root = "testdata/../testdata"
links = "testdata"
try = "{path}"
published = ["{path}", "{host}{raw_path}?{query}"]
published_for = "0s"
root_check = "2s"
trailing_slash = "redirect"
query = {keep = ["page", "q*"], sort = true}
not_keepable = "0s"
max_variants = 2
purge_root = true
fill_wait = "1s"
origin = "widgets"
[site.cache]
heuristic = true
set_cookie = {keep = ["lang", "theme"]}
negative = "10s"
stale_while_revalidate = "1m"
stale_if_error = "0"
soft_window = "5m"
targets = []
[site.ssi]
enabled = false
types = ["Text/HTML", "*"]
unknown = "error"
error_message = "$${oops}"
silent_errors = true
fragment_errors = "paste"
last_modified = "keep"
etag = false
timezone = "UTC"
timeout = "1s"
flush_after = "0"
max_depth = 1
max_includes = 2
max_fragment = "3"
max_page = "4KiB"
[[site.rule]]
path = ["/a/*", "*.css"]
expires = "10y"
internal = true
ssi = false
query = "none"
origin = "widgets"
timeout = "2s"
bypass = {cookies = ["preview"], headers = "X-Preview"}
response_headers = {set = {X-A = "1", X-B = "2"}, remove = ["X-C"]}
redirect = "/b{uri}"
[[site.rule]]
path = "/a/b"
query = "all"
internal = false
cache = "1h"
stale_while_revalidate = "1s"
stale_if_error = "2s"
heuristic = false
negative = "0s"
set_cookie = "strip"
targets = ["X-Target"]
cookies = ["_session", "lang"]
headers = ["accept-language"]
invalidate = false
required = true
forward_set_cookie = true
[[site.rule]]
path = "/a/c"
cache = "off"
cookies = "all"
[[site.rule]]
path = "/a/d"
set_cookie = "refuse"
cookies = "none"
headers = []
targets = []
invalidate = true
[[site]]
trailing_slash = "keep"
query = {sort = true}
[site.origin]
servers = "h:1"
`

func TestEverySetting(t *testing.T) {
	got := mustParse(t, everySetting)
	widgets := &origin.Options{Name: "widgets", Servers: []string{"127.0.0.1:4000", "unix:/run/w.sock"}, Timeout: time.Second, Idle: 2 * time.Second}
	want := defaultConfig()
	second := want.Edge.Sites[0]
	second.Where = "ssiedge.toml:108"
	second.Files, second.Published, second.TrailingSlash, second.Query.Sort = nil, nil, edge.KeepSlash, true
	second.Origin.Servers = []string{"h:1"}
	want.Listen = []string{"127.0.0.1:3000", "unix:/run/ssiedge.sock"}
	want.Admin = Admin{Listen: "10.0.0.1:9000", Token: "s3cret"}
	want.Log = Log{Level: slog.LevelDebug, Access: "testdata/access.log", Format: "json"}
	want.Edge = edge.Options{
		State:          "journal",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/32")},
		HealthPath:     "/edge-up",
		Memcache:       &pagecache.MemcacheOptions{Servers: []string{"unix:/run/memcached.sock"}, Timeout: 10 * time.Millisecond},
		Limits: edge.Limits{
			Header: 8 << 10, Connections: 100, HeaderTimeout: time.Second, IdleTimeout: 90 * time.Minute,
			WriteTimeout: 500 * time.Millisecond, MaxKeep: 1 << 20,
		},
		Sites: []edge.Site{firstSite(widgets), second},
	}
	if d := diff(got, want); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s := got.Edge.Sites[0]; s.Origin != s.Rules[0].Origin {
		t.Error("a named origin is two, want one for all that name it: it has one pool")
	}
}

// firstSite is that of everySetting.
func firstSite(widgets *origin.Options) edge.Site {
	return edge.Site{
		Where:         "ssiedge.toml:31",
		Hosts:         []string{"www.example.com", "*.example.org", "[2001:db8::1]"},
		Files:         &pagecache.FilesOptions{Root: "testdata", Links: []string{"testdata"}, Try: []string{"{path}"}, Check: 2 * time.Second, MaxKeep: 1 << 20},
		Published:     &pagecache.PublishedOptions{Keys: []string{"{path}", "{host}{raw_path}?{query}"}, For: time.Nanosecond, MaxKeep: 1 << 20},
		TrailingSlash: edge.RedirectSlash,
		Query:         edge.QueryFilter{Mode: edge.QueryKeep, Names: []string{"page", "q*"}, Sort: true},
		Origin:        widgets,
		Cache: edge.Cache{
			Policy: pagecache.Policy{
				Heuristic: true, Negative: 10 * time.Second, SetCookie: pagecache.CookiePolicy{Keep: []string{"lang", "theme"}},
				Targets: []string{}, StaleWhileRevalidate: time.Minute, MaxVariants: 2,
			},
			SoftWindow: 5 * time.Minute, FillWait: time.Second, PurgeRoot: true,
		},
		SSI: edge.SSI{
			Types: []string{"text/html", "*"}, UnknownIsError: true, ErrorMessage: "${oops}", SilentErrors: true, PasteErrors: true,
			KeepLastModified: true, Timezone: time.UTC, Timeout: time.Second, MaxDepth: 1, MaxIncludes: 2, MaxFragment: 3, MaxPage: 4 << 10,
		},
		Rules: []edge.Rule{{
			Where: "ssiedge.toml:70", Paths: []string{"/a/*", "*.css"}, Expires: new(3650 * day), Internal: new(true), SSI: new(false),
			Query: &edge.QueryFilter{Mode: edge.QueryNone}, Origin: widgets, Timeout: new(2 * time.Second),
			Bypass:   &edge.Bypass{Cookies: []string{"preview"}, Headers: []string{"X-Preview"}},
			Headers:  &edge.HeaderEdits{Set: []edge.Field{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2"}}, Remove: []string{"X-C"}},
			Redirect: new("/b{uri}"),
		}, {
			Where: "ssiedge.toml:81", Paths: []string{"/a/b"}, Internal: new(false), Query: &edge.QueryFilter{Mode: edge.QueryAll},
			Cache: &edge.Lifetime{For: time.Hour}, StaleWhileRevalidate: new(time.Second), StaleIfError: new(2 * time.Second),
			Negative: new(time.Duration(0)), Heuristic: new(false), SetCookie: &pagecache.CookiePolicy{Strip: true},
			Targets: []string{"X-Target"}, Cookies: &edge.Cookies{Mode: edge.CookiesListed, Names: []string{"_session", "lang"}},
			KeyHeaders: []string{"Accept-Language"}, Invalidate: new(false), Required: new(true), ForwardSetCookie: new(true),
		}, {
			Where: "ssiedge.toml:97", Paths: []string{"/a/c"}, Cache: &edge.Lifetime{Off: true}, Cookies: &edge.Cookies{Mode: edge.CookiesAll},
		}, {
			Where: "ssiedge.toml:101", Paths: []string{"/a/d"}, SetCookie: &pagecache.CookiePolicy{}, Cookies: &edge.Cookies{Mode: edge.CookiesNone},
			KeyHeaders: []string{}, Targets: []string{}, Invalidate: new(true),
		}},
	}
}

// TestEverySettingIsRead changes each built setting that everySetting has, so
// that a setting without effect would be seen.
func TestEverySettingIsRead(t *testing.T) {
	whole := mustParse(t, everySetting)
	lines := strings.Split(everySetting, "\n")
	for i, line := range lines {
		if line == "" || line[0] == '[' || strings.HasPrefix(line, "balance") {
			continue
		}
		without := strings.Join(append(append(append([]string{}, lines[:i]...), ""), lines[i+1:]...), "\n")
		cfg, err := Parse("ssiedge.toml", []byte(without), environment)
		if err == nil && reflect.DeepEqual(cfg, whole) {
			t.Errorf("%s: the Config is the same without it", line)
		}
	}
}

func TestErrorListHasNoConfig(t *testing.T) {
	cfg, err := Parse("a/ssiedge.toml", []byte("[[site]]\nlinks = '..'\n[origin.x]\nservers = 'h:1'\n"), environment)
	if err == nil || cfg.File != "a/ssiedge.toml" || len(cfg.Warnings) == 0 || cfg.Listen != nil {
		t.Errorf("got %+v and %v, want a mistake, the file and a warning alone", cfg, err)
	}
}

func TestByteOrderMark(t *testing.T) {
	mustParse(t, "\ufefflisten = ':80'\n[[site]]\nroot = 'testdata'")
}
