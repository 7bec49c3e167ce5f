package edge

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/ssi"
)

var (
	_ ssi.Dated  = (*document)(nil)
	_ ssi.Placed = (*document)(nil)
	_ ssi.Lister = (*document)(nil)
)

// Apache's variables of a document are those of the page, wherever they are
// asked for: a footer that every page includes prints the page's
// LAST_MODIFIED. nginx has none of them.

// page is the page that the document is part of.
func (d *document) page() *document {
	for d.up != nil {
		d = d.up
	}
	return d
}

// Modified is when the page was changed last: its file, or as the app says.
func (d *document) Modified() (time.Time, bool) {
	p := d.page()
	return time.Unix(p.modified, 0), p.modified != 0
}

// Place is where the document itself is.
func (d *document) Place() (path, query []byte) {
	d.readQuery()
	return []byte(d.path), d.query
}

func (d *document) ofPage(name string) ([]byte, bool) {
	p := d.page()
	switch name {
	case "document_name":
		return []byte(p.path[strings.LastIndexByte(p.path, '/')+1:]), true
	case "script_name":
		return []byte(p.path), true
	case "document_args":
		p.readQuery()
		return present(p.query), true
	case "user_name":
		return p.owner()
	case "document_root":
		if o := d.assembly.site.options.Files; o != nil {
			return []byte(o.Root), true
		}
	}
	return nil, false
}

// owner is the name of the user to whom the page's file belongs.
func (d *document) owner() ([]byte, bool) {
	if d.file == nil {
		return nil, false
	}
	uid, ok := d.assembly.site.files.Owner(d.file)
	if !ok {
		return nil, false
	}
	return d.assembly.edge.users.name(uid)
}

// queried is the document whose query counts: its own, but in the apache
// dialect that of the nearest one around it that has any, since Apache sets
// QUERY_STRING where an include has a query.
func (d *document) queried() *document {
	for d.apache() && d.up != nil && len(d.query) == 0 {
		d = d.up
	}
	return d
}

func (d *document) apache() bool {
	return d.assembly.site.options.SSI.Dialect == ssi.DialectApache
}

// unescapedQuery is Apache's QUERY_STRING_UNESCAPED: decoded, then with a
// backslash before what means something to a shell.
func unescapedQuery(query []byte) []byte {
	plain, _, _ := bytes.Cut(appendUnescaped(nil, query), []byte{0}) // it ends there in C
	out := make([]byte, 0, len(plain)+16)
	for _, c := range plain {
		if strings.IndexByte("&;`'\"|*?~<>^()[]{}$\\\n", c) >= 0 {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}

// listed are the variables that printenv prints, beside those of the request's
// fields.
var listed = [...]string{
	"document_args", "document_name", "document_root", "document_uri", "gateway_interface", "https", "query_string",
	"query_string_unescaped", "remote_addr", "remote_port", "remote_user", "request_method", "request_scheme", "request_uri",
	"script_name", "server_addr", "server_name", "server_port", "server_protocol", "server_software", "user_name",
	"content_type", "content_length",
}

// List gives the variables for printenv. Authorization and cookies are not
// among them.
func (d *document) List() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, name := range listed {
			if value, ok := d.Lookup(name); ok && (name != "https" || len(value) > 0) && !yield(name, value) {
				return
			}
		}
		for i := range d.assembly.visitor.fields {
			name := bytes.ReplaceAll(bytes.ToLower(d.assembly.visitor.fields[i].name), []byte("-"), []byte("_"))
			if string(name) == "cookie" {
				continue
			}
			if value, ok := d.field(string(name)); ok && !yield("http_"+string(name), value) {
				return
			}
		}
	}
}

// present is b, and never nil.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
