package conf

import (
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// framing lists the fields that say where an answer ends, how its body is coded or
// which part of a page it is, and those of one connection (RFC 9110 section 7.6.1).
// The edge alone knows them.
var framing = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Range", "Keep-Alive", "Proxy-Authenticate",
	"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// responseHeaders reads {set = {Name = "value"}, remove = ["Name"]}.
func (r *reader) responseHeaders(n *node) *edge.HeaderEdits {
	s := r.open(n, "site.rule.response_headers")
	edits := &edge.HeaderEdits{}
	seen := map[string]bool{}
	if set := s.written("set"); set != nil && set.kind != tableKind {
		r.wrongType(set, `a table such as {X-Frame-Options = "DENY"}`, "")
	} else if set != nil {
		for _, f := range set.fields {
			if r.setField(f, seen) {
				edits.Set = append(edits.Set, edge.Field{Name: f.name, Value: f.value.text})
			}
		}
	}
	for _, name := range s.texts("remove") {
		m := checkFieldName(name.text)
		if m == nil && seen[textproto.CanonicalMIMEHeaderKey(name.text)] {
			m = &mistake{fmt.Sprintf("%q is both set and removed", name.text), "leave it out of remove: set replaces what was there"}
		}
		if r.fault(name, m) {
			edits.Remove = append(edits.Remove, name.text)
		}
	}
	return edits
}

// setField judges one field of set and reports whether it is right.
func (r *reader) setField(f field, seen map[string]bool) bool {
	if m := checkFieldName(f.name); m != nil {
		r.problemAt(f.at, f.value.key, m.message, m.cure)
		return false
	}
	name := textproto.CanonicalMIMEHeaderKey(f.name)
	if seen[name] {
		r.problemAt(f.at, f.value.key, fmt.Sprintf("%q is set twice; the case of a field's name does not matter", f.name), "set it once")
		return false
	}
	seen[name] = true
	if f.value.broken {
		return false
	}
	if f.value.kind != textKind {
		r.wrongType(f.value, "a string", "")
		return false
	}
	return r.fault(f.value, checkFieldValue(f.value.text))
}

// checkFieldName judges the name of a field to set or remove.
func checkFieldName(name string) *mistake {
	if m := checkToken(name, "field"); m != nil {
		return m
	}
	if slices.Contains(framing, textproto.CanonicalMIMEHeaderKey(name)) {
		return &mistake{fmt.Sprintf("%q is the edge's to write: another value would break answers", name), "remove it"}
	}
	return nil
}

// checkToken judges the name of a field or cookie (RFC 9110 section 5.6.2).
func checkToken(name, of string) *mistake {
	if name == "" {
		return &mistake{"the name of a " + of + " is wanted, not an empty string", ""}
	}
	for _, c := range []byte(name) {
		if !alphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return &mistake{fmt.Sprintf("%q is no name of a %s: it holds %q", name, of, c), "use letters, digits and -"}
		}
	}
	return nil
}

// checkFieldValue judges the value of a field (RFC 9110 section 5.5).
func checkFieldValue(value string) *mistake {
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return &mistake{fmt.Sprintf("%q holds %q, which no field may", value, c), "write it in one line without control characters"}
		}
	}
	if value != strings.Trim(value, " \t") {
		return &mistake{fmt.Sprintf("%q begins or ends with a space", value), "take it out: no browser would see it"}
	}
	return nil
}
