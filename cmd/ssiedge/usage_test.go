package main

import (
	"bytes"
	"testing"
)

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "which command? try: ssiedge demo; see ssiedge --help"},
		{[]string{"serv"}, `unknown command "serv", did you mean serve?; see ssiedge --help`},
		{[]string{"reload"}, `unknown command "reload"; see ssiedge --help`},
		{[]string{"--nonsense"}, "unknown flag: --nonsense; see ssiedge --help"},
		{[]string{"serve", "ssiedge.toml"}, `serve: unexpected argument "ssiedge.toml"; see ssiedge serve --help`},
		{[]string{"serve", "--port", "80"}, "serve: unknown flag: --port; see ssiedge serve --help"},
		{[]string{"serve", "--root"}, "serve: flag needs an argument: --root; see ssiedge serve --help"},
		{[]string{"check", "a.toml"}, `check: unexpected argument "a.toml"; see ssiedge check --help`},
		{[]string{"demo", "now"}, `demo: unexpected argument "now"; see ssiedge demo --help`},
		{[]string{"version", "now"}, `version: unexpected argument "now"; see ssiedge version --help`},
		{[]string{"explain"}, "explain: 0 arguments: one URL is wanted; see ssiedge explain --help"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(c.args, &stdout, &stderr)
		if code != exitUsage || stdout.Len() > 0 || stderr.String() != "ssiedge: "+c.want+"\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr\n%swant\n%s", c.args, code, stdout.String(), stderr.String(), c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{arg}, &stdout, &stderr); code != exitDone || stdout.String() != "ssiedge "+version()+"\n" || stderr.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", arg, code, stdout.String(), stderr.String())
		}
	}
}
