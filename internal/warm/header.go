package warm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// framing are fields that belong to the connection or the length of a message:
// the client sets them, or they make no sense in a GET.
var framing = []string{"Connection", "Content-Length", "Expect", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// fields reads header lines and cookies.
func fields(agent string, lines, cookies []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || !isToken(name) || !isFieldValue(value) {
			return nil, fmt.Errorf("header %q: a field is wanted, like \"Name: value\"", line)
		}
		name = http.CanonicalHeaderKey(name)
		if name == "Host" {
			return nil, fmt.Errorf("header %q: the host has a setting of its own", line)
		}
		if slices.Contains(framing, name) {
			return nil, fmt.Errorf("header %q: the client sets this field itself", line)
		}
		h[name] = append(h[name], value)
	}
	for _, cookie := range cookies {
		name, _, ok := strings.Cut(cookie, "=")
		if !ok || !isToken(name) || !isFieldValue(cookie) || strings.Contains(cookie, ";") {
			return nil, fmt.Errorf("cookie %q: one cookie is wanted, like \"name=value\"", cookie)
		}
	}
	if len(cookies) > 0 {
		// One line: RFC 6265 section 5.4 allows a client no more.
		h["Cookie"] = []string{strings.Join(append(h["Cookie"], cookies...), "; ")}
	}
	if _, set := h["User-Agent"]; !set {
		h.Set("User-Agent", agent)
	}
	return h, nil
}

// isToken is for RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// isFieldValue is for RFC 9110 section 5.5.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
