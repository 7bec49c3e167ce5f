package oracle

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// app answers what the cases say it does: a part "app/NAME" is its answer to
// /app/NAME, with the query if the part's name has one. Anything else is a 404 with a body.
type app struct{ cases map[string]*testCase } // by host

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c := a.cases[r.Host]
	if c == nil {
		w.WriteHeader(http.StatusMisdirectedRequest)
		return
	}
	for _, name := range []string{r.RequestURI, strings.SplitN(r.RequestURI, "?", 2)[0]} {
		for i := range c.parts {
			if strings.HasPrefix(name, "/app/") && "/"+c.parts[i].name == name {
				c.parts[i].play(w, r, body)
				return
			}
		}
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintf(w, "the app has no %s\n", r.RequestURI)
}

// lateness is how much later a slow answer comes. Nothing depends on its being
// long enough: it only makes another order of arrival likely.
const lateness = 40 * time.Millisecond

// play gives the answer that a part describes.
func (p *part) play(w http.ResponseWriter, r *http.Request, asked []byte) {
	status, out := http.StatusOK, []byte(p.body)
	w.Header().Set("Content-Type", "text/html")
	w.Header()["Date"] = nil
	var cut bool
	for _, word := range p.words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "status":
			status, _ = strconv.Atoi(value)
		case "type":
			setType(w, value)
		case "field":
			name, content, _ := strings.Cut(value, ":")
			w.Header().Add(name, content)
		case "empty":
			out = nil
		case "slow":
			time.Sleep(lateness)
		case "gzip":
			w.Header().Set("Content-Encoding", "gzip")
			out = gzipped(out)
		case "show":
			out = append(out, shown(r, asked, value)...)
		case "reset":
			breakOff(w, nil)
			return
		case "hang":
			<-r.Context().Done()
			return
		case "cut":
			cut = true
		}
	}
	if cut {
		breakOff(w, out)
		return
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	}
	w.WriteHeader(status)
	w.Write(out)
}

// setType states a type; "none": none at all.
func setType(w http.ResponseWriter, value string) {
	if value == "none" {
		w.Header()["Content-Type"] = nil
		return
	}
	w.Header().Set("Content-Type", strings.ReplaceAll(value, ";", "; "))
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.Bytes()
}

// shown describes a request: its line, the fields named, its body.
func shown(r *http.Request, body []byte, fields string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Method, r.RequestURI)
	for name := range strings.SplitSeq(fields, ",") {
		if values := r.Header.Values(name); values != nil {
			fmt.Fprintf(&b, "|%s: %s", name, strings.Join(values, "; "))
		}
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "|%s", body)
	}
	return b.String()
}

// breakOff closes the connection: behind a head that promises more than out,
// or, if out is nil, before any answer.
func breakOff(w http.ResponseWriter, out []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if out != nil {
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(out)+1000, out)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}
