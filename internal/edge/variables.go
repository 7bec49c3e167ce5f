package edge

import (
	"bytes"
	"encoding/base64"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/ssi"
)

var _ ssi.Variables = (*document)(nil)

// Lookup gives the variables that nginx has and the CGI names of Apache, as
// far as they say something about the request. Those that speak of the
// document (uri, args) are the fragment's inside a fragment, but in the apache
// dialect the page's; all others are the page's. Authorization is not shown to
// pages.
func (d *document) Lookup(name string) ([]byte, bool) {
	if rest, ok := strings.CutPrefix(name, "arg_"); ok {
		d.readQuery()
		return queryValue(d.query, rest)
	}
	if rest, ok := strings.CutPrefix(name, "cookie_"); ok {
		d.assembly.parts.readPersonal()
		return d.assembly.visitor.cookie(rest)
	}
	if rest, ok := strings.CutPrefix(name, "http_"); ok {
		return d.field(rest)
	}
	if value, ok := d.own(name); ok {
		return value, true
	}
	if value, ok := d.ofPage(name); ok {
		return value, true
	}
	if value, ok := d.shared(name); ok {
		return value, true
	}
	return d.personal(name)
}

// own are the variables that differ from document to document.
func (d *document) own(name string) ([]byte, bool) {
	switch name {
	case "uri", "document_uri":
		if d.apache() {
			d = d.page()
		}
		return []byte(d.path), true
	case "args", "query_string", "query_string_unescaped", "is_args":
		q := d.queried()
		q.readQuery()
		return q.ownQuery(name)
	}
	return nil, false
}

// ownQuery are the variables made of the query. Without one they are unknown,
// not empty: echo prints its default, as in nginx. Apache's QUERY_STRING is
// empty then.
func (d *document) ownQuery(name string) ([]byte, bool) {
	switch {
	case name == "is_args" && len(d.query) > 0:
		return []byte("?"), true
	case name == "is_args":
		return []byte{}, true
	case name == "query_string_unescaped":
		return unescapedQuery(d.query), len(d.query) > 0
	}
	return present(d.query), len(d.query) > 0 || d.apache()
}

// shared are the variables that are the same for every visitor of the URL.
func (d *document) shared(name string) ([]byte, bool) {
	v := d.assembly.visitor
	switch name {
	case "host":
		return withoutPort(v.route), true
	case "http_host":
		return v.host, true
	case "server_name":
		return withoutPort(v.route), true
	case "scheme", "request_scheme":
		return []byte(v.scheme), true
	case "https":
		if v.scheme == "https" {
			return []byte("on"), true
		}
		return []byte{}, true
	case "request_method":
		return v.method, true
	case "server_software":
		return []byte("ssiedge"), true
	case "gateway_interface":
		return []byte("CGI/1.1"), true
	case "time_iso8601":
		return d.clock().AppendFormat(nil, "2006-01-02T15:04:05-07:00"), true
	case "time_local":
		return d.clock().AppendFormat(nil, "02/Jan/2006:15:04:05 -0700"), true
	case "msec":
		ms := v.began.UnixMilli()
		return []byte(strconv.FormatInt(ms/1000, 10) + "." + pad3(ms%1000)), true
	}
	return nil, false
}

// personal are the variables that say who the visitor is or what he sent, and
// make the answer his alone.
func (d *document) personal(name string) ([]byte, bool) {
	value, ok := d.private(name)
	if ok {
		d.assembly.parts.readPersonal()
	}
	return value, ok
}

func (d *document) private(name string) ([]byte, bool) {
	v := d.assembly.visitor
	switch name {
	case "request_uri":
		return v.target, true
	case "request":
		return bytes.Join([][]byte{v.method, v.target, []byte(v.proto)}, []byte(" ")), true
	case "server_protocol":
		return []byte(v.proto), true
	case "remote_addr":
		if !v.addr.IsValid() {
			return []byte{}, true
		}
		return v.addr.AppendTo(nil), true
	case "remote_port":
		return strconv.AppendUint(nil, uint64(v.peer.Port()), 10), true
	case "server_addr", "server_port":
		return serverAddr(v.local, name), true
	case "remote_user":
		d.assembly.parts.readPersonal() // that there is none says something, too
		return basicUser(v.get("Authorization"))
	case "request_id":
		return v.id, true
	case "content_type":
		d.assembly.parts.readPersonal()
		value := v.get("Content-Type")
		return value, value != nil
	case "content_length":
		d.assembly.parts.readPersonal()
		value := v.get("Content-Length")
		return value, value != nil
	}
	return nil, false
}

// basicUser is the name in credentials of the Basic scheme (RFC 7617), as in
// nginx. Nobody has looked at the password yet: the app does.
func basicUser(credentials []byte) ([]byte, bool) {
	scheme, encoded, _ := bytes.Cut(credentials, []byte(" "))
	if !equalFold(scheme, "Basic") {
		return nil, false
	}
	plain, err := base64.StdEncoding.AppendDecode(nil, bytes.Trim(encoded, " "))
	name, _, ok := bytes.Cut(plain, []byte(":"))
	return name, err == nil && ok && len(name) > 0
}

// readQuery notes that the answer depends on a query that the page's URL does
// not have in full: parameters that the site drops.
func (d *document) readQuery() {
	if d.top && d.assembly.queryFiltered {
		d.assembly.parts.readPersonal()
	}
}

// field is a request header: several lines joined by ", ", those of Cookie by
// "; ". Authorization is unknown.
func (d *document) field(name string) ([]byte, bool) {
	if name == "host" {
		return d.shared("http_host")
	}
	if name == "authorization" || name == "proxy_authorization" {
		return nil, false
	}
	d.assembly.parts.readPersonal()
	separator := []byte(", ")
	if name == "cookie" {
		separator = []byte("; ")
	}
	var values [][]byte
	for i := range d.assembly.visitor.fields {
		if f := &d.assembly.visitor.fields[i]; namesVariable(f.name, name) {
			values = append(values, f.value)
		}
	}
	if values == nil {
		return nil, false
	}
	return bytes.Join(values, separator), true
}

// namesVariable says whether a header is the one that a variable's name means:
// "-" is written "_".
func namesVariable(header []byte, name string) bool {
	if len(header) != len(name) {
		return false
	}
	for i := range header {
		c := lower(header[i])
		if c == '-' {
			c = '_'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// cookie is nginx's $cookie_NAME.
func (v *visitor) cookie(name string) ([]byte, bool) {
	return v.findCookie(name, cookieVariable)
}

// findCookie looks through the lines of Cookie fields by find.
func (v *visitor) findCookie(name string, find func(line []byte, name string) ([]byte, bool)) ([]byte, bool) {
	for i := range v.fields {
		if equalFold(v.fields[i].name, "Cookie") {
			if value, ok := find(v.fields[i].value, name); ok {
				return value, true
			}
		}
	}
	return nil, false
}

// queryValue is nginx's $arg_NAME: the first parameter of that name in any
// case, raw; one without "=" is unknown, as is one without a name.
func queryValue(query []byte, name string) ([]byte, bool) {
	for len(query) > 0 && name != "" {
		var pair []byte
		pair, query, _ = bytes.Cut(query, []byte("&"))
		if key, value, ok := bytes.Cut(pair, []byte("=")); ok && equalFold(key, name) {
			return value, true
		}
	}
	return nil, false
}

// clock is the time of the request in the site's zone.
func (d *document) clock() time.Time {
	t := d.assembly.visitor.began
	if zone := d.assembly.site.options.SSI.Timezone; zone != nil {
		t = t.In(zone)
	}
	return t
}

func serverAddr(local net.Addr, name string) []byte {
	a := peer(local)
	switch {
	case !a.IsValid():
		return []byte{}
	case name == "server_port":
		return strconv.AppendUint(nil, uint64(a.Port()), 10)
	}
	return a.Addr().AppendTo(nil)
}

func pad3(n int64) string {
	s := strconv.FormatInt(n, 10)
	return "000"[len(s):] + s
}
