package conf

import "testing"

func TestRequestDirectives(t *testing.T) {
	for text, want := range map[string]bool{"": false, `request_directives = "ignore"`: false, `request_directives = "honour"`: true} {
		cfg := mustParse(t, "[[site]]\norigin = {servers = 'h:1'}\n[site.cache]\n"+text)
		if got := cfg.Edge.Sites[0].Cache.RequestDirectives; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
