package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// admitted says whether r may use an endpoint that is not open to everybody. If
// not it has answered.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token != "" {
		return s.authorized(w, r)
	}
	if !isLoopback(r.Host) {
		refuse(w, http.StatusForbidden, "without a token the Host must be a loopback name or address",
			"use http://127.0.0.1 or http://localhost, or set admin.token")
		return false
	}
	// Several Origin lines come from no browser.
	for _, origin := range r.Header.Values("Origin") {
		if !strings.EqualFold(origin, "http://"+r.Host) {
			refuse(w, http.StatusForbidden, "request from the page of another origin", "leave Origin out, or set admin.token")
			return false
		}
	}
	return true
}

// mayPurge says whether r may use the method PURGE, whose Host is that of a page
// and can tell nothing about the caller. Without a token a web page is kept out
// by its Origin, which browsers send with every method but GET and HEAD (Fetch
// standard, "Origin header"), be it to their own origin. If r may not, this has
// answered.
func (s *Server) mayPurge(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token != "" {
		return s.authorized(w, r)
	}
	if len(r.Header.Values("Origin")) > 0 {
		refuse(w, http.StatusForbidden, "PURGE from a web page", "leave Origin out, use POST /purge, or set admin.token")
		return false
	}
	return true
}

// authorized wants the token (RFC 6750). Hashes are compared, so the time
// tells neither its bytes nor its length.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	const cure = "send Authorization: Bearer and the admin.token of the configuration"
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ssiedge"`)
		refuse(w, http.StatusUnauthorized, "no token", cure)
		return false
	}
	sum := sha256.Sum256([]byte(strings.Trim(token, " ")))
	if subtle.ConstantTimeCompare(sum[:], s.token[:]) == 0 {
		w.Header().Set("WWW-Authenticate", `Bearer realm="ssiedge", error="invalid_token"`)
		refuse(w, http.StatusUnauthorized, "wrong token", cure)
		return false
	}
	return true
}

// isLoopback says whether a Host field names this machine to itself: localhost
// and names under it (RFC 6761), 127.0.0.0/8 and ::1. A name that resolves to
// one of these is not enough: whoever owns it could have pointed it here.
func isLoopback(host string) bool {
	u := url.URL{Host: host}
	name := u.Hostname()
	if a, err := netip.ParseAddr(name); err == nil {
		return a.Unmap().IsLoopback()
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isJSON(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "application/json"
}
