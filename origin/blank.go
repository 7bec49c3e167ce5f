package origin

import (
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"
)

// blankHeader makes the head that answers are parsed into: one that keeps the
// Date it is given and adds nothing. fasthttp sets the bits for that only on
// the answers of a Server with such settings, hence a server for one request.
func blankHeader() (*fasthttp.ResponseHeader, error) {
	blank := new(fasthttp.ResponseHeader)
	server := fasthttp.Server{
		NoDefaultDate: true, NoDefaultContentType: true, NoDefaultServerHeader: true,
		Handler: func(ctx *fasthttp.RequestCtx) { ctx.Response.Header.CopyTo(blank) },
	}
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.ServeConn(far) }()
	_, err := io.WriteString(near, "HEAD / HTTP/1.1\r\nHost: blank\r\nConnection: close\r\n\r\n")
	if err == nil {
		_, err = io.Copy(io.Discard, near)
	}
	near.Close()
	return blank, errors.Join(err, <-done)
}
