package check

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHoldsDirectives(t *testing.T) {
	const chunk = 64 << 10
	for _, pad := range []int{0, 1, chunk - 6, chunk - 5, chunk - 4, chunk - 1, chunk, chunk + 1, 3*chunk - 2} {
		for text, want := range map[string]bool{"<!--#": true, "<!--#x": true, "<!--": false, "<!-- #": false, "<!--<!--#": true, "": false} {
			src := strings.Repeat(".", pad) + text
			for kind, r := range map[string]io.Reader{
				"whole": strings.NewReader(src), "data with its end": iotest.DataErrReader(strings.NewReader(src)), "halves": iotest.HalfReader(strings.NewReader(src)),
			} {
				if got, err := holdsDirectives(r); got != want || err != nil {
					t.Errorf("%q behind %d bytes, %s: %v, %v, want %v", text, pad, kind, got, err, want)
				}
			}
		}
	}
	if got, err := holdsDirectives(iotest.OneByteReader(strings.NewReader("a <!--#b"))); !got || err != nil {
		t.Errorf("byte by byte: %v, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := holdsDirectives(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
