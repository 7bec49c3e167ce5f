package warm

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar draws the progress of a run on a terminal, in one line that is gone in the
// end. It is not safe for use by several goroutines.
type Bar struct {
	bar *progressbar.ProgressBar // nil: nothing was drawn yet
	w   io.Writer
}

// NewBar gives a bar on w, which is a terminal.
func NewBar(w io.Writer) *Bar { return &Bar{w: w} }

// Show draws p. While the source is still read, the bar's end moves, and is never
// reached.
func (b *Bar) Show(p Progress) {
	end := p.Listed
	if !p.All {
		end++
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(end,
			progressbar.OptionSetWriter(b.w), progressbar.OptionSetDescription("warm"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("URLs"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		)
	}
	if end != b.bar.GetMax64() {
		b.bar.ChangeMax64(end)
	}
	b.bar.Set64(p.Done)
}

// Clear removes the line, for other output to take its place.
func (b *Bar) Clear() {
	if b.bar != nil {
		b.bar.Clear()
	}
}
