package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/demo"
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
			file + ": ok, 2 sites, 1 rule, 1 file, 0 pages with directives, 0 problems\n", "", 0,
		},
		{
			"a warning", "[[site]]\nroot = '.'\n[[site.rule]]\npath = '*'\n",
			file + ": ok, 1 site, 1 rule, 1 file, 0 pages with directives, 0 problems, 1 warning\n", "warning: " + file + ":3:8: site.rule: the rule sets nothing; give it a setting, or remove it\n", 0,
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
		code := runCheck(file, os.LookupEnv, &stdout, &stderr)
		if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: exit %d, want %d\nstdout %q\n  want %q\nstderr %q\n  want %q", c.name, code, c.code, stdout.String(), c.stdout, stderr.String(), c.stderr)
		}
	}
}

func TestCheckMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ssiedge.toml")
	var stdout, stderr bytes.Buffer
	code := runCheck(file, os.LookupEnv, &stdout, &stderr)
	if want := "ssiedge: open " + file + ": no such file or directory\n"; code != 2 || stdout.Len() > 0 || stderr.String() != want {
		t.Errorf("exit %d, stdout %q, stderr %q, want 2, nothing, %q", code, stdout.String(), stderr.String(), want)
	}
}

// The pages of the demo, and what it is configured with, are without a blemish.
func TestCheckDemo(t *testing.T) {
	d, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	file, err := d.WriteConfig("127.0.0.1:8080", "127.0.0.1:8081")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := runCheck(file, os.LookupEnv, &stdout, &stderr)
	if code != exitDone || !strings.HasPrefix(stdout.String(), file+": ok, 1 site, ") || stderr.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q; want 0, ok, nothing", code, stdout.String(), stderr.String())
	}
}

// What the command says of pages names them as seen from the working directory.
func TestCheckPages(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"etc/ssiedge.toml":      "[[site]]\nroot = 'public'\nhosts = ['a', 'b']\n[[site.rule]]\npath = '/a'\n",
		"etc/public/index.html": "<!--#includ x -->\n <!--#include virtual='/footer' -->",
		"etc/public/other.html": "<!--#if expr=$a -->",
		"etc/public/style.css":  "<!--#if expr=$a -->",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const said = "warning: etc/ssiedge.toml:4:8: site.rule: the rule sets nothing; give it a setting, or remove it\n" +
		"warning: etc/public/index.html:1:1: \"includ\" is no command, and is kept as text; write include\n"
	var stdout, stderr bytes.Buffer
	code := run([]string{"check", "-c", "etc/ssiedge.toml"}, &stdout, &stderr)
	wantOut := "etc/ssiedge.toml: 1 site, 1 rule, 3 files, 2 pages with directives, 2 problems, 2 warnings\n"
	wantErr := said + "etc/public/index.html:2:2: include \"/footer\": there is no page /footer, and no origin to ask; publish it under etc/public, or correct the URL\n" +
		"etc/public/other.html:1:1: if is not closed; add <!--#endif -->\n"
	if code != exitFailed || stdout.String() != wantOut || stderr.String() != wantErr {
		t.Errorf("exit %d, want 1\nstdout %q\n  want %q\nstderr %q\n  want %q", code, stdout.String(), wantOut, stderr.String(), wantErr)
	}

	// Warnings alone are no failure.
	for name, text := range map[string]string{"footer.html": "", "other.html": "<!--#if expr=$a --><!--#endif -->"} {
		if err := os.WriteFile(filepath.Join("etc/public", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdout.Reset()
	stderr.Reset()
	code = run([]string{"check", "-c", "etc/ssiedge.toml"}, &stdout, &stderr)
	wantOut = "etc/ssiedge.toml: ok, 1 site, 1 rule, 4 files, 2 pages with directives, 0 problems, 2 warnings\n"
	if code != exitDone || stdout.String() != wantOut || stderr.String() != said {
		t.Errorf("exit %d, want 0\nstdout %q\n  want %q\nstderr %q\n  want %q", code, stdout.String(), wantOut, stderr.String(), said)
	}
}
