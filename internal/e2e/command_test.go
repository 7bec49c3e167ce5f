package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	good := fmt.Sprintf("[[site]]\nroot = %q\n[site.origin]\nservers = [\"http://127.0.0.1:3000\"]\n[[site.rule]]\npath = [\"/images/*\"]\nexpires = \"10y\"\n", t.TempDir())
	t.Run("good", func(t *testing.T) {
		e := command(t, "check", "-c", file(t, good))
		if e.code != 0 || !strings.Contains(e.stdout, "ok") || e.stderr != "" {
			t.Errorf("exit code %d, stdout %q, stderr %q; want 0, ok, nothing", e.code, e.stdout, e.stderr)
		}
	})
	t.Run("every mistake", func(t *testing.T) {
		bad := "listen = [\":99999\"]\n" + good + "expirez = \"1h\"\n[limits]\nheader = \"16KB\"\n[tls]\nlisten = [\":8443\"]\n"
		e := command(t, "check", "-c", file(t, bad))
		if e.code != 2 {
			t.Errorf("exit code %d, want 2", e.code)
		}
		said := e.stdout + e.stderr
		last := 0
		for _, part := range []string{"99999", "expirez", "16KB", "tls"} {
			place := regexp.MustCompile(`ssiedge\.toml:\d+:\d+: [^\n]*` + part).FindStringIndex(said)
			if place == nil {
				t.Errorf("no mistake with a place names %q:\n%s", part, said)
				continue
			}
			if place[0] < last {
				t.Errorf("the mistake with %q is not in the order of the file:\n%s", part, said)
			}
			last = place[0]
		}
		if !strings.Contains(said, `"expires"`) && !strings.Contains(said, "expires") {
			t.Errorf("no suggestion for expirez:\n%s", said)
		}
	})
	t.Run("serve refuses it too", func(t *testing.T) {
		if e := command(t, "serve", "-c", file(t, good+"expirez = \"1h\"\n")); e.code != 2 || !strings.Contains(e.stderr, "expirez") {
			t.Errorf("exit code %d, stderr %q; want 2 and the mistake", e.code, e.stderr)
		}
	})
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"version"}, 0, "ssiedge "},
		{[]string{"--help"}, 0, "serve"},
		{[]string{"serve", "--help"}, 0, "--root"},
		{[]string{"nonsense"}, 2, "nonsense"},
		{[]string{"serve", "--nonsense"}, 2, "nonsense"},
		{[]string{"serve", "extra"}, 2, ""},
		{[]string{"serve", "--listen", "127.0.0.1:99999", "--origin", "http://127.0.0.1:3000"}, 2, "99999"},
		{[]string{"serve", "--origin", "ftp://127.0.0.1"}, 2, "ftp"},
	} {
		e := command(t, test.args...)
		if e.code != test.code || !strings.Contains(e.stdout+e.stderr, test.says) {
			t.Errorf("ssiedge %s: exit code %d, stdout %q, stderr %q; want %d and %q", strings.Join(test.args, " "), e.code, e.stdout, e.stderr, test.code, test.says)
		}
	}
}
