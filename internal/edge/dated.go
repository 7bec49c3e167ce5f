package edge

import (
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"
)

// datedHeader makes the head that those of pulled pages start from: one that
// keeps the Date it is given, where fasthttp would write the clock's. It sets
// the mark for that only on answers of a Server with such settings, and takes
// it off with each Reset; hence a server for one request, and a copy a hit.
func datedHeader() (*fasthttp.ResponseHeader, error) {
	dated := new(fasthttp.ResponseHeader)
	server := fasthttp.Server{
		NoDefaultDate: true, NoDefaultContentType: true, NoDefaultServerHeader: true,
		Handler: func(ctx *fasthttp.RequestCtx) { ctx.Response.Header.CopyTo(dated) },
	}
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.ServeConn(far) }()
	_, err := io.WriteString(near, "HEAD / HTTP/1.1\r\nHost: dated\r\nConnection: close\r\n\r\n")
	if err == nil {
		_, err = io.Copy(io.Discard, near)
	}
	near.Close()
	return dated, errors.Join(err, <-ended)
}
