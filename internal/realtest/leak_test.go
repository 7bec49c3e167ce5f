package realtest

import (
	"strings"
	"testing"
)

// hold waits until it is let go: a goroutine with a name of its own.
func hold(release chan struct{}) { <-release }

func TestLeakedNamesGoroutine(t *testing.T) {
	release := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		hold(release)
	}()
	found := func() bool {
		return strings.Contains(strings.Join(leaked(stacks()), "\n"), "realtest.hold(")
	}
	Eventually(t, "the goroutine is seen", found)
	close(release)
	<-ended
	Eventually(t, "the goroutine is seen no more", func() bool { return !found() })
}

func TestLeakedLetsStay(t *testing.T) {
	const clock = "goroutine 7 [sleep]:\ntime.Sleep(0x3b9aca00)\n\t/src/time.go:1\n" +
		"github.com/valyala/fasthttp.updateServerDate.func1()\n\t/src/header.go:1\n" +
		"created by github.com/valyala/fasthttp.updateServerDate in goroutine 6\n\t/src/header.go:1"
	const ours = "goroutine 8 [chan receive]:\nexample.com/x.wait()\n\t/src/x.go:1\ncreated by example.com/x.Start in goroutine 6\n\t/src/x.go:1"
	if got := leaked([]string{clock, ours}); len(got) != 1 || got[0] != ours {
		t.Errorf("leaked gives %q, want only %q", got, ours)
	}
}
