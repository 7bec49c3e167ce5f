package origin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func upgradeExchange() *Exchange {
	x := exchange("GET", "/ws")
	x.Request.Header.Set("Connection", "Upgrade")
	x.Request.Header.Set("Upgrade", "echo")
	x.Upgrade = true
	return x
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nSec-WebSocket-Accept: x\r\n\r\n"

// A tunnel begins with what came together with the head, has no deadlines left
// of the exchange, and can be closed by halves.
func TestTunnel(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "unix"} {
		p := newPool(t, Options{Timeout: soon, Idle: soon, Servers: []string{serveOn(t, network, func(c *peer) {
			head := c.request()
			if !strings.Contains(head, "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n") {
				c.say("HTTP/1.1 400 x\r\nContent-Length: 0\r\n\r\n")
				return
			}
			c.say(switching + "first ")
			time.Sleep(soon * 5 / 4) // silence, longer than any timeout
			io.Copy(c.Conn, c.br)
			c.say(" last")
		})}})
		x := upgradeExchange()
		ctx, cancel := context.WithCancel(context.Background())
		if err := p.Do(ctx, x); err != nil {
			t.Fatal(err)
		}
		cancel() // no hold on it any more
		if h := &x.Response.Header; h.StatusCode() != 101 || string(h.Peek("Upgrade")) != "echo" || string(h.Peek("Connection")) != "Upgrade" || string(h.Peek("Sec-WebSocket-Accept")) != "x" {
			t.Errorf("head\n%s", h)
		}
		if b, err := io.ReadAll(x.Answer); len(b) != 0 || err != nil || x.Server == "" {
			t.Errorf("answer %q, error %v", b, err)
		}
		x.Answer.Close()
		fmt.Fprint(x.Conn, "echoed")
		x.Conn.(interface{ CloseWrite() error }).CloseWrite()
		b := make([]byte, 3)
		if _, err := io.ReadFull(x.Conn, b); err != nil || string(b) != "fir" {
			t.Errorf("read %q, error %v", b, err)
		}
		if rest, err := io.ReadAll(x.Conn); err != nil || string(rest) != "st echoed last" {
			t.Errorf("read %q, error %v", rest, err)
		}
		if s := p.Stats().Servers[0]; s.Open != 1 || s.Idle != 0 {
			t.Errorf("%+v", s)
		}
		x.Conn.Close()
		x.Conn.Close()
		if s := p.Stats().Servers[0]; s.Open != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// A server that does not upgrade gives an ordinary answer.
func TestUpgradeRefused(t *testing.T) {
	p := poolOf(t, serve(t, say("HTTP/1.1 426 Upgrade Required\r\nUpgrade: other\r\nContent-Length: 5\r\n\r\nhello")))
	x := upgradeExchange()
	wantAnswer(t, p, x, "hello")
	if x.Conn != nil || x.Response.StatusCode() != 426 || x.Response.Header.Peek("Upgrade") != nil {
		t.Errorf("connection %v, head\n%s", x.Conn, &x.Response.Header)
	}
}

// An upgrade with a body works once the body is there, and not before.
func TestUpgradeWithBody(t *testing.T) {
	p := poolOf(t, serve(t, func(c *peer) {
		c.request()
		io.ReadFull(c.br, make([]byte, 4))
		c.say(switching + "hello")
		c.untilGone()
	}))
	x := withBody(upgradeExchange(), "body", 4)
	if err := p.Do(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(x.Conn, b); err != nil || string(b) != "hello" {
		t.Errorf("read %q, error %v", b, err)
	}
	x.Answer.Close()
	x.Conn.Close()

	p = poolOf(t, serve(t, func(c *peer) {
		c.request()
		c.say(switching)
		c.untilGone()
	}))
	x = upgradeExchange()
	body := newSlowBody()
	x.Body, x.BodySize = body, 4
	wantError(t, p.Do(context.Background(), x), Malformed)
	if !body.interrupted() {
		t.Error("the body was not interrupted")
	}
}
