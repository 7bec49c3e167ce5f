package check_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/check"
)

func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	page := []byte("<h1>Hello</h1>\n<!--#include virtual=\"/footer.html\" -->\n<!--#if expr=\"$name\" -->Ana\n")
	if err := os.WriteFile(filepath.Join(dir, "index.html"), page, 0o644); err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := conf.FromFlags(conf.Flags{Root: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := check.Run(cfg.Edge, func(p check.Problem) {
		fmt.Printf("%d:%d: %s\n", p.Line, p.Col, p.Message)
	})
	fmt.Printf("%+v %v\n", counts, err)
	// Output:
	// 2:1: include "/footer.html": there is no page /footer.html, and no origin to ask
	// 3:1: if is not closed
	// {Files:1 Pages:1 Problems:2 Warnings:0} <nil>
}
