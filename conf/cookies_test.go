package conf

import (
	"testing"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/pagecache"
)

func TestCookies(t *testing.T) {
	for text, want := range map[string]*edge.Cookies{
		`"all"`:               {Mode: edge.CookiesAll},
		`"none"`:              {Mode: edge.CookiesNone},
		`[]`:                  {Mode: edge.CookiesNone}, // none is named
		`["a"]`:               {Mode: edge.CookiesListed, Names: []string{"a"}},
		`["b", "a"]`:          {Mode: edge.CookiesListed, Names: []string{"b", "a"}},
		`["a", "A"]`:          {Mode: edge.CookiesListed, Names: []string{"a", "A"}}, // names of cookies have a case
		`["none"]`:            {Mode: edge.CookiesListed, Names: []string{"none"}},
		`["__Host-a", "a.b"]`: {Mode: edge.CookiesListed, Names: []string{"__Host-a", "a.b"}},
	} {
		cfg := mustParse(t, "[[site]]\norigin = {servers = 'h:1'}\n[[site.rule]]\npath = '*'\ncookies = "+text)
		if d := diff(cfg.Edge.Sites[0].Rules[0].Cookies, want); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestSetCookie(t *testing.T) {
	for text, want := range map[string]pagecache.CookiePolicy{
		`"refuse"`:                {},
		`"strip"`:                 {Strip: true},
		`{keep = "lang"}`:         {Keep: []string{"lang"}},
		`{keep = ["lang", "tz"]}`: {Keep: []string{"lang", "tz"}},
		`{keep = ["*"]}`:          {Keep: []string{"*"}},
	} {
		cfg := mustParse(t, "[[site]]\norigin = {servers = 'h:1'}\n[site.cache]\nset_cookie = "+text+"\n[[site.rule]]\npath = '*'\nset_cookie = "+text)
		site := cfg.Edge.Sites[0]
		if d := diff(site.Cache.SetCookie, want) + diff(*site.Rules[0].SetCookie, want); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}
