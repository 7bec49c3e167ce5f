package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/ssiedge/ssiedge/conf"
)

// check reads a configuration file and says what is wrong with it: warnings and
// mistakes, one a line and in file order, to stderr; else one line to stdout. It
// returns the exit code.
func check(file string, env conf.Env, stdout, stderr io.Writer) int {
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
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return 2
	}
	rules := 0
	for _, s := range cfg.Edge.Sites {
		rules += len(s.Rules)
	}
	fmt.Fprintf(stdout, "%s: ok, %s, %s\n", file, count(len(cfg.Edge.Sites), "site"), count(rules, "rule"))
	return 0
}

// count is "1 site" or "2 sites".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
