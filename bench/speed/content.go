package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/valyala/fasthttp"
)

// Sizes in bytes, of what is sent.
const (
	pageSize     = 10 << 10
	fragmentSize = 200
)

// page is text of a page's size.
func page() string { return filler(pageSize) }

func filler(size int) string {
	const line = "<p>The same words for everybody who comes here, but for one or two.</p>\n"
	return strings.Repeat(line, size/len(line)+1)[:size]
}

// pageWith is a page with a directive in its middle, whose place a fragment
// fills up to the same size.
func pageWith(directive string) string {
	text := filler(pageSize - fragmentSize)
	half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
	return text[:half] + directive + text[half:]
}

// writePages writes what is published under root.
func writePages(root string) error {
	for name, text := range map[string]string{
		"page.html": page(),
		"kept.html": pageWith(`<!--#include virtual="/kept/fragment" -->`),
		"live.html": pageWith(`<!--#include virtual="/live/fragment" -->`),
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// publish writes the page that is in memcached under the key "/published".
func publish(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "set /published 0 0 %d\r\n%s\r\n", pageSize, page()); err != nil {
		return err
	}
	answer := make([]byte, len("STORED\r\n"))
	if _, err := conn.Read(answer); err != nil || string(answer) != "STORED\r\n" {
		return fmt.Errorf("memcached does not keep the page: %q, %w", answer, err)
	}
	return nil
}

// serveBuiltIn is the app, or the bare handler.
func serveBuiltIn(which, addr string) error {
	text := []byte(page())
	handlers := map[string]fasthttp.RequestHandler{
		"bare": func(ctx *fasthttp.RequestCtx) {
			ctx.SetContentType("text/html")
			ctx.Response.SetBodyRaw(text)
		},
		"app": app(),
	}
	server := &fasthttp.Server{Handler: handlers[which], ReduceMemoryUsage: true, LazyRequestTime: true}
	return server.ListenAndServe(addr)
}

// app answers what is pulled.
func app() fasthttp.RequestHandler {
	type answer struct{ cache, body string }
	answers := map[string]answer{
		"/pulled":        {"max-age=3600", page()},
		"/esi/kept":      {"max-age=3600", pageWith(`<esi:include src="/kept/fragment"/>`)},
		"/esi/live":      {"max-age=3600", pageWith(`<esi:include src="/live/fragment"/>`)},
		"/kept/fragment": {"max-age=3600", filler(fragmentSize)},
		"/live/fragment": {"no-store", filler(fragmentSize)},
	}
	return func(ctx *fasthttp.RequestCtx) {
		a, ok := answers[string(ctx.Path())]
		if !ok {
			ctx.SetStatusCode(fasthttp.StatusNotFound)
			return
		}
		ctx.SetContentType("text/html")
		ctx.Response.Header.Set("Cache-Control", a.cache)
		ctx.SetBodyString(a.body)
	}
}
