package conf

import (
	"fmt"
	"strings"
)

// admin reads [admin], which shares no address with the public listeners.
func (r *reader) admin(n *node, public []listener) Admin {
	s := r.open(n, "admin")
	a := Admin{Listen: s.text("listen"), Token: s.text("token")}
	if strings.ContainsFunc(a.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.problem(s.get("token"), "the token holds a space or a byte that a header cannot carry", "use letters, digits and punctuation")
	}
	listen := s.get("listen")
	if listen.kind != textKind {
		return a
	}
	at, m := parseAddress(a.Listen)
	if !r.fault(listen, m) {
		return a
	}
	a.Loopback = at.loopback()
	if !a.Loopback && a.Token == "" && !s.broken("token") {
		r.problem(listen, fmt.Sprintf("%q is not loopback and there is no token", a.Listen), `set admin.token, or listen on "127.0.0.1:8081"`)
	}
	r.apart(listen, at, public)
	return a
}

// apart notes public listeners that take the address of the admin listener.
func (r *reader) apart(admin *node, at address, public []listener) {
	for _, l := range public {
		switch {
		case !l.conflicts(at):
		case admin.at == (place{}): // a default
			r.problem(l.from, fmt.Sprintf("%q is the address of the admin listener, %q", l.from.text, admin.text), "use another port, or set admin.listen")
		default:
			r.problem(admin, fmt.Sprintf("%q is the address of the public listener %q", admin.text, l.from.text), "use another port: the admin endpoint is never public")
		}
	}
}
