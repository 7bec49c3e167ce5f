package realtest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// stayers are functions whose goroutines may outlive a test: those of fasthttp
// that nothing stops (its clock, the tickers of its pools, which look up only
// every ten seconds), and the runtime's own.
var stayers = []string{
	"github.com/valyala/fasthttp.updateServerDate",
	"github.com/valyala/fasthttp.(*workerPool).Start",
	"github.com/valyala/fasthttp.(*HostClient).connsCleaner",
	"github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean",
	"github.com/valyala/fasthttp/stackless.funcWorker",
	"os/signal.signal_recv",
	"os/signal.loop",
}

// Main runs the tests of a package and then looks for goroutines that they
// left behind, which fails the run. For TestMain:
//
//	func TestMain(m *testing.M) { realtest.Main(m) }
//
// It also removes what Edge built.
func Main(m *testing.M) {
	code := m.Run()
	removeEdge()
	if code == 0 {
		code = reportLeaks()
	}
	os.Exit(code)
}

// reportLeaks gives goroutines a while to end, then names those that stay.
func reportLeaks() int {
	var left []string
	for deadline := time.Now().Add(patience); ; {
		if left = leaked(stacks()); len(left) == 0 {
			return 0
		}
		if time.Now().After(deadline) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "%d goroutines left behind by the tests:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
	return 1
}

// stacks gives the stack of every goroutine but the one that asks.
func stacks() []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			return strings.Split(strings.TrimSpace(string(buf[:n])), "\n\n")[1:]
		}
		buf = make([]byte, 2*len(buf))
	}
}

// leaked leaves out the stacks of those that may stay.
func leaked(stacks []string) []string {
	var left []string
	for _, stack := range stacks {
		if !mayStay(stack) {
			left = append(left, stack)
		}
	}
	return left
}

func mayStay(stack string) bool {
	for _, name := range stayers {
		if strings.Contains(stack, "\n"+name) || strings.Contains(stack, "created by "+name) {
			return true
		}
	}
	return false
}
