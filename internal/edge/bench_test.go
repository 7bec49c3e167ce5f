package edge

import (
	"io"
	"net/http"
	"testing"
)

// BenchmarkHit is what a hit costs beside fasthttp's reading and writing.
func BenchmarkHit(b *testing.B) {
	const include = `<!--#include virtual="/fragment" -->`
	e, _ := newPulling(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/fragment" {
			io.WriteString(w, noise(200))
			return
		}
		io.WriteString(w, noise(10_000))
	}, withFiles(b, map[string]string{"file.html": noise(10_000), "assembled.html": noise(5000) + include + noise(5000)}))
	fields := []string{
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Accept: text/html,*/*;q=0.8",
		"Accept-Language: de,en;q=0.5", "Accept-Encoding: gzip, deflate, br, zstd", "Cookie: _session=0123456789abcdef",
	}
	e.get("/pulled").is(b, 200, noise(10_000))
	e.get("/fragment").is(b, 200, noise(200))
	for _, target := range []string{"/pulled", "/file", "/assembled"} {
		b.Run(target[1:], func(b *testing.B) {
			ctx := requestByHand(e, target, fields)
			b.ReportAllocs()
			for b.Loop() {
				ctx.Response.Reset()
				e.Handle(ctx)
			}
			if n := len(ctx.Response.Body()); n < 10_000 {
				b.Errorf("the answer has %d bytes, want a page", n)
			}
		})
	}
}
