package demo

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// cookieOf is the cookie that s signs for v.
func cookieOf(t *testing.T, s signer, v session) string {
	t.Helper()
	w := httptest.NewRecorder()
	if err := s.write(w, v); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0].Value
}

func TestSession(t *testing.T) {
	ours, theirs := newSigner(), newSigner()
	ana := session{Name: "Ana", Trip: []string{"old-quay"}}
	good := cookieOf(t, ours, ana)
	data, mac, _ := strings.Cut(good, ".")
	other, _, _ := strings.Cut(cookieOf(t, ours, session{Name: "Bea"}), ".")
	tests := []struct {
		name, cookie string
		want         session
	}{
		{"as written", good, ana},
		{"none", "", session{}},
		{"of another process", cookieOf(t, theirs, ana), session{}},
		{"another name under the same signature", other + "." + mac, session{}},
		{"signature cut", data + "." + mac[:len(mac)-1], session{}},
		{"no signature", data + ".", session{}},
		{"no dot", data, session{}},
		{"a signature of nonsense", "%%%." + string(ours.mac("%%%")), session{}},
		{"a signature of no session", "AAAA." + string(ours.mac("AAAA")), session{}},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("GET", "/", nil)
		if tt.cookie != "" {
			r.Header.Set("Cookie", cookieName+"="+tt.cookie)
		}
		if got := ours.read(r); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestCookieIsNotForScripts(t *testing.T) {
	c := cookie("v", 0)
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("got %v, want HttpOnly, SameSite=Lax and Path=/", c)
	}
}

func TestCleanName(t *testing.T) {
	tests := []struct {
		in, want string
		ok       bool
	}{
		{"Ana", "Ana", true},
		{"  Zoë ", "Zoë", true},
		{strings.Repeat("é", maxName), strings.Repeat("é", maxName), true},
		{strings.Repeat("é", maxName+1), strings.Repeat("é", maxName+1), false},
		{"", "", false},
		{" \t", "", false},
		{"a\nb", "a\nb", false},
		{"a\xff", "a\xff", false},
	}
	for _, tt := range tests {
		if got, ok := cleanName(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("cleanName(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestToggle(t *testing.T) {
	var s session
	for _, slug := range []string{"a", "b", "c", "b"} {
		s.toggle(slug)
	}
	if want := []string{"a", "c"}; !reflect.DeepEqual(s.Trip, want) {
		t.Errorf("trip %q, want %q", s.Trip, want)
	}
}
