package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ssiedge.toml")
	for _, c := range []struct {
		name, src, stdout, stderr string
		code                      int
	}{
		{
			"right", "[[site]]\nroot = '.'\nhosts = 'a'\n[[site.rule]]\npath = '*'\nexpires = '1h'\n[[site]]\nroot = '.'\n",
			file + ": ok, 2 sites, 1 rule\n", "", 0,
		},
		{
			"a warning", "[[site]]\nroot = '.'\n[[site.rule]]\npath = '*'\n",
			file + ": ok, 1 site, 1 rule\n", "warning: " + file + ":3:8: site.rule: the rule sets nothing; give it a setting, or remove it\n", 0,
		},
		{
			"mistakes", "health_path = 3\n[[site]]\nroot = 'none'\nlinks = 1\n",
			"", file + ":1:15: health_path: a string is wanted, not the integer 3; write \"3\"\n" +
				file + ":3:8: site.root: there is no directory \"" + dir + "/none\"; make it, or correct the path\n" +
				file + ":4:9: site.links: a list of strings is wanted, not the integer 1\n", 2,
		},
		{
			"syntax", "listen = :80\n",
			"", file + ":1:10: unexpected character U+003A ':' at start of value; write strings in quotes: name = \"value\"\n", 2,
		},
	} {
		if err := os.WriteFile(file, []byte(c.src), 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := check(file, os.LookupEnv, &stdout, &stderr)
		if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: exit %d, want %d\nstdout %q\n  want %q\nstderr %q\n  want %q", c.name, code, c.code, stdout.String(), c.stdout, stderr.String(), c.stderr)
		}
	}
}

func TestCheckMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ssiedge.toml")
	var stdout, stderr bytes.Buffer
	code := check(file, os.LookupEnv, &stdout, &stderr)
	if want := "ssiedge: open " + file + ": no such file or directory\n"; code != 2 || stdout.Len() > 0 || stderr.String() != want {
		t.Errorf("exit %d, stdout %q, stderr %q, want 2, nothing, %q", code, stdout.String(), stderr.String(), want)
	}
}
