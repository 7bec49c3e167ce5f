package conf

import (
	"fmt"
	"strings"
)

// admin reads [admin]; top tells the public listeners.
func (r *reader) admin(n *node, top section) Admin {
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
	r.apart(listen, at, top)
	return a
}

// apart notes public listeners that take the address of the admin listener.
func (r *reader) apart(admin *node, at address, top section) {
	for _, n := range top.texts("listen") {
		public, m := parseAddress(n.text)
		if m != nil || !public.conflicts(at) {
			continue
		}
		if admin.at == (place{}) {
			r.problem(n, fmt.Sprintf("%q is the address of the admin listener, %q", n.text, admin.text), "use another port, or set admin.listen")
			continue
		}
		r.problem(admin, fmt.Sprintf("%q is the address of the public listener %q", admin.text, n.text), "use another port: the admin endpoint is never public")
	}
}
