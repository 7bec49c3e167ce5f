package conf

// setting is one name that a table may hold.
type setting struct {
	name  string
	value string // the default, as TOML; "": there is none
}

// group is the settings of one table.
type group struct {
	name     string // "site.ssi"; "" is the top of the file
	settings []setting
}

// namedOrigin is the group of [origin.NAME], which [site.origin] shares.
const namedOrigin = "origin.NAME"

// groups is every setting that is known, with its default. Nothing else in this
// package holds a default; docs/configuration.md is compared with it by a test.
var groups = []group{
	{"", []setting{
		{"listen", `[":8080"]`},
		{"trusted_proxies", `[]`},
		{"proxy_protocol", `false`},
		{"state", `""`},
		{"health_path", `""`},
		{"tls", ""}, {"admin", ""}, {"log", ""}, {"memory", ""}, {"disk", ""}, {"memcache", ""},
		{"fleet", ""}, {"limits", ""}, {"origin", ""}, {"site", ""},
	}},
	{"tls", []setting{{"listen", ""}, {"certificates", ""}}},
	{"admin", []setting{{"listen", `"127.0.0.1:8081"`}, {"token", `""`}}},
	{"log", []setting{{"level", `"info"`}, {"access", `"stdout"`}, {"format", `"combined"`}}},
	{"memory", []setting{{"size", `"256MiB"`}}},
	{"disk", []setting{{"path", ""}, {"size", `"10GiB"`}}},
	{"memcache", []setting{{"servers", ""}, {"timeout", `"50ms"`}}},
	{"fleet", []setting{{"redis", ""}}},
	{"limits", []setting{
		{"header", `"16KiB"`},
		{"body", `"64MiB"`},
		{"connections", `65536`},
		{"header_timeout", `"10s"`},
		{"idle_timeout", `"75s"`},
		{"write_timeout", `"60s"`},
		{"max_keep", `"16MiB"`},
	}},
	{namedOrigin, []setting{
		{"servers", ""},
		{"balance", `"fair"`},
		{"inflight", `0`},
		{"queue", `1024`},
		{"reserve", `0`},
		{"timeout", `"30s"`},
		{"idle", `"60s"`},
		{"health", ""},
	}},
	{namedOrigin + ".health", []setting{{"path", `""`}, {"interval", `"5s"`}}},
	{"site", []setting{
		{"hosts", `[]`},
		{"root", `""`},
		{"links", `[]`},
		{"try", `["{path}.html", "{path}/index.html", "{path}"]`},
		{"published", `[]`},
		{"published_for", `"1s"`},
		{"root_check", `"every"`},
		{"trailing_slash", `"strip"`},
		{"query", `{drop = ["utm_*", "gclid", "fbclid", "msclkid"]}`},
		{"not_keepable", `"1m"`},
		{"max_variants", `16`},
		{"encode", `["br", "zstd", "gzip"]`},
		{"purge_root", `false`},
		{"fill_wait", `"10s"`},
		{"maintenance", `""`},
		{"origin", ""}, {"cache", ""}, {"ssi", ""}, {"rule", ""},
	}},
	{"site.query", []setting{{"keep", ""}, {"drop", ""}, {"sort", `false`}}},
	{"site.cache", []setting{
		{"heuristic", `false`},
		{"set_cookie", `"refuse"`},
		{"negative", `"0s"`},
		{"stale_while_revalidate", `"0s"`},
		{"stale_if_error", `"10m"`},
		{"soft_window", `"1h"`},
		{"request_directives", `"ignore"`},
		{"targets", `["SSIEdge-Cache-Control", "CDN-Cache-Control"]`},
	}},
	{"site.cache.set_cookie", []setting{{"keep", ""}}},
	{"site.ssi", []setting{
		{"enabled", `true`},
		{"dialect", `"nginx"`},
		{"expressions", `"ap_expr"`},
		{"types", `["text/html"]`},
		{"unknown", `"keep"`},
		{"error_message", `"[an error occurred while processing the directive]"`},
		{"silent_errors", `false`},
		{"fragment_errors", `"fail"`},
		{"last_modified", `"drop"`},
		{"etag", `true`},
		{"printenv", `false`},
		{"timezone", `"Local"`},
		{"timeout", `"5s"`},
		{"flush_after", `"1ms"`},
		{"max_depth", `16`},
		{"max_includes", `512`},
		{"max_fragment", `"1MiB"`},
		{"max_page", `"16MiB"`},
	}},
	{"site.rule", []setting{
		{"path", ""}, {"cache", ""}, {"expires", ""}, {"stale_while_revalidate", ""}, {"stale_if_error", ""},
		{"heuristic", ""}, {"negative", ""}, {"set_cookie", ""}, {"targets", ""}, {"cookies", ""}, {"headers", ""},
		{"query", ""}, {"invalidate", ""}, {"internal", ""}, {"required", ""}, {"forward_set_cookie", ""},
		{"timeout", ""}, {"ssi", ""}, {"encode", ""}, {"origin", ""}, {"bypass", ""}, {"response_headers", ""},
		{"redirect", ""},
	}},
	{"site.rule.bypass", []setting{{"cookies", `[]`}, {"headers", `[]`}}},
	{"site.rule.response_headers", []setting{{"set", ""}, {"remove", `[]`}}},
}

// settingsOf is the settings of a group.
func settingsOf(name string) []setting {
	for _, g := range groups {
		if g.name == name {
			return g.settings
		}
	}
	panic("BUG: no group of settings is called " + name)
}
