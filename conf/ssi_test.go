package conf

import (
	"testing"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/ssi"
)

func TestDialects(t *testing.T) {
	for _, c := range []struct {
		settings string
		want     edge.SSI
	}{
		{"", edge.SSI{ErrorMessage: ssi.DefaultErrorMessage}},
		{"dialect = 'nginx'\nprintenv = true", edge.SSI{ErrorMessage: ssi.DefaultErrorMessage, Printenv: true}},
		{"dialect = 'apache'", edge.SSI{Dialect: ssi.DialectApache}},
		{"dialect = 'apache'\nexpressions = 'ap_expr'\nerror_message = 'x'", edge.SSI{Dialect: ssi.DialectApache, ErrorMessage: "x"}},
		{"dialect = 'apache'\nexpressions = 'legacy'", edge.SSI{Dialect: ssi.DialectApache, Expressions: ssi.ExpressionsLegacy}},
	} {
		cfg, err := Parse("ssiedge.toml", []byte("[[site]]\nroot = 'testdata'\n[site.ssi]\n"+c.settings), environment)
		if err != nil || len(cfg.Warnings) > 0 {
			t.Errorf("%q: %v, warnings %v", c.settings, err, cfg.Warnings)
			continue
		}
		o := cfg.Edge.Sites[0].SSI
		got := edge.SSI{Dialect: o.Dialect, Expressions: o.Expressions, Printenv: o.Printenv, ErrorMessage: o.ErrorMessage}
		if got.Dialect != c.want.Dialect || got.Expressions != c.want.Expressions || got.Printenv != c.want.Printenv || got.ErrorMessage != c.want.ErrorMessage {
			t.Errorf("%q gave %+v, want %+v", c.settings, got, c.want)
		}
	}
}
