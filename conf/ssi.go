package conf

import (
	"fmt"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/ssi"
)

// ssi reads [site.ssi].
func (r *reader) ssi(n *node) edge.SSI {
	s := r.open(n, "site.ssi")
	o := edge.SSI{
		Enabled:          s.flag("enabled"),
		Types:            r.mediaTypes(s),
		UnknownIsError:   s.word("unknown", "keep", "error") == "error",
		ErrorMessage:     s.text("error_message"),
		SilentErrors:     s.flag("silent_errors"),
		PasteErrors:      s.word("fragment_errors", "fail", "paste") == "paste",
		Printenv:         s.flag("printenv"),
		KeepLastModified: s.word("last_modified", "drop", "keep") == "keep",
		ETag:             s.flag("etag"),
		Timezone:         r.timezone(s),
		Timeout:          s.duration("timeout", shortest, longest),
		FlushAfter:       s.duration("flush_after", 0, time.Minute),
		MaxDepth:         s.integer("max_depth", 1, 1000),
		MaxIncludes:      s.integer("max_includes", 1, 1_000_000),
		MaxFragment:      s.size("max_fragment", 1, largest),
		MaxPage:          s.size("max_page", smallest, largest),
	}
	r.dialect(s, &o)
	return o
}

// dialect reads dialect, and what belongs to one of the two.
func (r *reader) dialect(s section, o *edge.SSI) {
	legacy := s.word("expressions", "ap_expr", "legacy") == "legacy"
	if s.word("dialect", "nginx", "apache") == "nginx" {
		if n := s.written("expressions"); legacy {
			r.warn(n.at, n.key, "the nginx dialect has expressions of its own", `remove it, or write dialect = "apache"`)
		}
		return
	}
	o.Dialect = ssi.DialectApache
	if legacy {
		o.Expressions = ssi.ExpressionsLegacy
	}
	if s.written("error_message") == nil {
		o.ErrorMessage = "" // the default is nginx's text; package ssi has Apache's
	}
}

// mediaTypes reads types.
func (r *reader) mediaTypes(s section) []string {
	var out []string
	for _, n := range s.texts("types") {
		major, minor, found := strings.Cut(n.text, "/")
		if n.text != "*" && (!found || checkToken(major, "") != nil || checkToken(minor, "") != nil) {
			r.problem(n, fmt.Sprintf("%q is no media type", n.text), `write "text/html", without parameters, or "*" for all`)
		}
		out = append(out, strings.ToLower(n.text))
	}
	return out
}

// timezone reads timezone, in which dates are printed.
func (r *reader) timezone(s section) *time.Location {
	name := s.text("timezone")
	zone, err := time.LoadLocation(name)
	if err == nil && name != "" {
		return zone
	}
	if n := s.get("timezone"); n.kind == textKind {
		r.problem(n, fmt.Sprintf("no time zone is called %q", name), `write "Local", "UTC" or a name such as "Europe/Lisbon"`)
	}
	return time.UTC
}
