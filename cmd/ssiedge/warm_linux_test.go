package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
	"golang.org/x/sys/unix"
)

// terminal gives a pseudo terminal: what a program would have as its stderr, and
// a function that closes it and gives what was written there.
func terminal(t *testing.T) (tty *os.File, written func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		realtest.Absent(t, "no pseudo terminals here: "+err.Error())
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&out, master) // ends with an error once the other side is closed
	}()
	return tty, func() string {
		tty.Close()
		<-done
		master.Close()
		return out.String()
	}
}

// TestWarmBar: a bar on a terminal, but not beside JSON, and never elsewhere.
func TestWarmBar(t *testing.T) {
	edge := newWarmEdge(t)
	file := writeFile(t, "urls", "/kept\n/cookie\nbad\n")
	for _, c := range []struct {
		flags []string
		bar   bool
	}{{nil, true}, {[]string{"--json"}, false}} {
		tty, written := terminal(t)
		var stdout bytes.Buffer
		code := run(append([]string{"warm", "--edge", edge.URL, "--urls", file}, c.flags...), &stdout, tty)
		got := written()
		if bar := strings.Contains(got, "warm "); bar != c.bar || code != exitFailed {
			t.Errorf("%v: exit %d, on the terminal %q, want a bar: %v", c.flags, code, got, c.bar)
		}
		if line := file + ":3: bad: "; !strings.Contains(got, line) {
			t.Errorf("%v: on the terminal %q, want %q", c.flags, got, line)
		}
		if strings.Contains(stdout.String(), "\r") {
			t.Errorf("%v: stdout %q, want no bar", c.flags, stdout.String())
		}
	}
}
