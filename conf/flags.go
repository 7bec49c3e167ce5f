package conf

// Flags are those of "ssiedge serve"; "" is a flag that was not given.
type Flags struct {
	Root     string // a directory; relative to the working directory
	Origin   string // "http://host:port" or "unix:/path"
	Listen   string // ":8080" where it is not given
	Memcache string // "host:port" or "unix:/path"; its published pages have their path as key
}

// FromFlags makes a Config of flags, with the defaults and the checks of a file.
// Its one site answers every host. The error is an ErrorList whose keys are flags.
func FromFlags(f Flags) (*Config, error) {
	r := newReader("")
	if f.Root == "" && f.Origin == "" {
		return &Config{}, ErrorList{{
			Key:     "serve",
			Message: "neither --root nor --origin is given",
			Cure:    "say where pages come from: --root DIR, --origin URL or -c FILE",
		}}
	}
	site := table("site")
	site.set("root", flagText("--root", f.Root))
	if f.Origin != "" {
		origin := table("--origin")
		origin.set("servers", flagText("--origin", f.Origin))
		site.set("origin", origin)
	}
	top := table("")
	if f.Memcache != "" {
		memcache := table("--memcache")
		memcache.set("servers", flagText("--memcache", f.Memcache))
		top.set("memcache", memcache)
		site.set("published", flagText("--memcache", "{path}"))
	}
	top.set("listen", flagText("--listen", f.Listen))
	top.set("site", &node{kind: listKind, key: "site", items: []*node{site}})
	return r.finish(top)
}

// table is an empty table that stands nowhere.
func table(key string) *node {
	return &node{kind: tableKind, key: key}
}

// set gives a table a value; none where a flag was not given.
func (n *node) set(name string, value *node) {
	if value != nil {
		n.fields = append(n.fields, field{name: name, value: value})
	}
}

// flagText is the value of a flag; nil: not given.
func flagText(flag, value string) *node {
	if value == "" {
		return nil
	}
	return &node{kind: textKind, key: flag, text: value}
}
