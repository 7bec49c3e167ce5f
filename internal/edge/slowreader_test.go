package edge

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// TestReaderWhoNeverReads: write_timeout cuts him off, and what he made the edge
// hold is given back: an assembled page that streams, and one that is whole.
func TestReaderWhoNeverReads(t *testing.T) {
	block := strings.Repeat("x", 1_000_000)
	files := map[string]string{"p.html": "", "whole.html": `<!--#echo var="uri" -->`}
	for i := range 15 {
		files["p.html"] += fmt.Sprintf(`<!--#include virtual="/f%d" -->`, i)
	}
	for i := range 15 {
		files["whole.html"] += fmt.Sprintf(`<!--#include virtual="/b%d.txt" -->`, i)
		files[fmt.Sprintf("b%d.txt", i)] = block
	}
	e := newEdge(t, withFiles(t, files), withApp(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, block) }),
		func(o *Options) { o.Limits.WriteTimeout = 100 * time.Millisecond },
		withSite(func(s *Site) { s.SSI.FlushAfter, s.SSI.MaxPage = 0, 32<<20 }))
	for _, target := range []string{"/p", "/whole"} {
		c := e.dial()
		c.(*net.TCPConn).SetReadBuffer(4096)
		io.WriteString(c, request11("GET", target))
		realtest.Eventually(t, target+": the reader is cut off", func() bool {
			return e.metrics.assembled.Load() > 0 && e.open() == 0
		})
		e.metrics.assembled.Store(0)
	}
}
