package demo

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cookieName is the session's cookie. The published pages ask for it by name,
// in <!--# if expr="$cookie_lantern" -->.
const cookieName = "lantern"

// maxName bounds a visitor's name, in characters.
const maxName = 40

// session is all that the app knows of a visitor. It lives in the visitor's
// cookie, signed, so the app keeps nothing.
type session struct {
	Name string   `json:"n"`
	Trip []string `json:"t,omitempty"` // slugs of towns, in the order they were added
}

// signer makes and checks session cookies. Its key is made at start: whoever
// was signed in before a restart is a stranger after it.
type signer struct{ key []byte }

func newSigner() signer {
	key := make([]byte, 32)
	rand.Read(key)
	return signer{key}
}

// read is the session of a request, or the zero session: a cookie that is
// missing, foreign or changed means that nobody is signed in.
func (s signer) read(r *http.Request) session {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return session{}
	}
	data, mac, ok := strings.Cut(c.Value, ".")
	if !ok || !hmac.Equal([]byte(mac), s.mac(data)) {
		return session{}
	}
	var v session
	raw, err := base64.RawURLEncoding.DecodeString(data)
	if err != nil || json.Unmarshal(raw, &v) != nil {
		return session{}
	}
	return v
}

// write signs v into the visitor's cookie.
func (s signer) write(w http.ResponseWriter, v session) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	data := base64.RawURLEncoding.EncodeToString(raw)
	http.SetCookie(w, cookie(data+"."+string(s.mac(data)), 0))
	return nil
}

// clear takes the cookie back.
func (s signer) clear(w http.ResponseWriter) { http.SetCookie(w, cookie("", -1)) }

func (s signer) mac(data string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(data))
	return base64.RawURLEncoding.AppendEncode(nil, h.Sum(nil))
}

// cookie is not Secure because the demo speaks plain HTTP on loopback; a real
// site's is.
func cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// toggle adds a town to the trip, or takes it out.
func (v *session) toggle(slug string) {
	if i := slices.Index(v.Trip, slug); i >= 0 {
		v.Trip = slices.Delete(v.Trip, i, i+1)
		return
	}
	v.Trip = append(v.Trip, slug)
}

// cleanName is the name to greet a visitor by, and whether it is one.
func cleanName(s string) (string, bool) {
	s = strings.TrimSpace(s)
	n := utf8.RuneCountInString(s)
	ok := n > 0 && n <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
	return s, ok
}
