package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/check"
)

// runCheck reads a configuration file and then every page under the roots of its
// sites, and says what is wrong with them, one problem or warning a line, to
// stderr; how much it saw and found is one line to stdout. It returns the exit
// code: a page with a problem is exitFailed, a warning is nothing.
func runCheck(file string, env conf.Env, stdout, stderr io.Writer) int {
	cfg, ok := checkConfig(file, env, stderr)
	if !ok {
		return exitUsage
	}
	counts, err := check.Run(cfg.Edge, func(p check.Problem) { fmt.Fprintln(stderr, p) })
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return exitUsage
	}
	counts.Warnings += len(cfg.Warnings)
	fmt.Fprintln(stdout, summary(cfg, counts))
	if counts.Problems > 0 {
		return exitFailed
	}
	return exitDone
}

// checkConfig reads a configuration file: its warnings and mistakes go to
// stderr, in file order. ok is false where it has mistakes.
func checkConfig(file string, env conf.Env, stderr io.Writer) (_ *conf.Config, ok bool) {
	cfg, err := conf.Load(file, env)
	if cfg != nil {
		for _, w := range cfg.Warnings {
			fmt.Fprintf(stderr, "warning: %s\n", w.Error())
		}
	}
	if problems, ok := errors.AsType[conf.ErrorList](err); ok {
		for _, p := range problems {
			fmt.Fprintln(stderr, p.Error())
		}
		return nil, false
	}
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return nil, false
	}
	return cfg, true
}

// summary is "ssiedge.toml: ok, 1 site, 2 rules, 30 files, 4 pages with
// directives, 0 problems"; it is only ok without a problem.
func summary(cfg *conf.Config, c check.Counts) string {
	rules := 0
	for _, s := range cfg.Edge.Sites {
		rules += len(s.Rules)
	}
	text := cfg.File + ": "
	if c.Problems == 0 {
		text += "ok, "
	}
	pages := "pages"
	if c.Pages == 1 {
		pages = "page"
	}
	text += fmt.Sprintf("%s, %s, %s, %d %s with directives, %s", count(len(cfg.Edge.Sites), "site"), count(rules, "rule"),
		count(c.Files, "file"), c.Pages, pages, count(c.Problems, "problem"))
	if c.Warnings > 0 {
		text += ", " + count(c.Warnings, "warning")
	}
	return text
}

// count is "1 site" or "2 sites".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
