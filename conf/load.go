package conf

import (
	"bytes"
	"os"

	"github.com/ssiedge/ssiedge/origin"
)

// Env looks up a variable of the environment, as os.LookupEnv does.
type Env = func(string) (string, bool)

// Load reads and checks the file at path. The error is an ErrorList, or that of
// reading the file. Relative paths in the file start from its folder.
//
// With an ErrorList comes a Config that holds File and Warnings and nothing else.
func Load(path string, env Env) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src, env)
}

// Parse checks src, the text of a file called name. The error is an ErrorList;
// with it comes a Config as from Load. Neither src nor name is read later, but
// folders and files that the text names are looked at.
func Parse(name string, src []byte, env Env) (*Config, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // some editors begin a file with a byte order mark
	root, problem := parseTree(name, src)
	if problem != nil {
		return &Config{File: name}, ErrorList{*problem}
	}
	r := newReader(name)
	r.expandAll(root, env)
	return r.finish(root)
}

func newReader(file string) *reader {
	return &reader{
		file:    file,
		origins: map[string]*origin.Options{},
		used:    map[string]bool{},
		hosts:   map[string]place{},
	}
}

// finish reads a tree and judges what came out.
func (r *reader) finish(root *node) (*Config, error) {
	c := r.config(root)
	sortByPlace(r.problems)
	sortByPlace(r.warnings)
	if len(r.problems) > 0 {
		return &Config{File: r.file, Warnings: r.warnings}, ErrorList(r.problems)
	}
	c.Warnings = r.warnings
	return c, nil
}

// config reads the whole file. Named origins and [memcache] come first: sites ask
// for them.
func (r *reader) config(root *node) *Config {
	top := r.open(root, "")
	c := &Config{File: r.file}
	c.Edge.Memory = r.memory(top.get("memory"))
	c.Edge.Disk = r.disk(top.get("disk"))
	c.Edge.Memcache = r.memcached(top.get("memcache"))
	c.Edge.Limits = r.limits(top.get("limits"))
	r.maxKeep = c.Edge.Limits.MaxKeep
	r.namedOrigins(top.get("origin"))
	c.Edge.Sites = r.sites(top)
	r.warnUnusedOrigins(top.get("origin"))
	c.Edge.State = r.state(top)
	r.warnPublic(top.get("state"), c.Edge.State, "the journal", c.Edge.Sites)
	if d := c.Edge.Disk; d != nil {
		r.warnPublic(top.get("disk"), d.Path, "pages that were kept for others", c.Edge.Sites)
	}
	r.warnDisk(top.get("disk"), &c.Edge)
	r.warnColdStart(top)
	c.Edge.TrustedProxies = r.trustedProxies(top)
	c.Edge.HealthPath = r.healthPath(top)
	public := r.listeners(top)
	for _, l := range public {
		c.Listen = append(c.Listen, l.from.text)
	}
	c.Admin = r.admin(top.get("admin"), public)
	c.Log = r.log(top.get("log"))
	r.warnNoTier(top, &c.Edge)
	return c
}
