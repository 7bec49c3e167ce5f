package pagecache

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"syscall"
	"time"
)

// diskHealth leaves a disk that cannot be written alone for a while, and says
// so once.
type diskHealth struct {
	log   *slog.Logger
	path  string
	pause time.Duration
	start time.Time
	until atomic.Int64 // nanoseconds since start; 0: the disk is well
	said  atomic.Bool
	hush  hush
}

// allow says whether a write may be tried. After the pause one may, and if it
// is not heard of, another one a pause later.
func (h *diskHealth) allow() bool {
	until := h.until.Load()
	if until == 0 {
		return true
	}
	now := time.Since(h.start)
	return int64(now) >= until && h.until.CompareAndSwap(until, int64(now+h.pause))
}

// failed notes that a write failed. Where only the place of one page is
// obstructed, the others go on.
func (h *diskHealth) failed(err error) {
	for _, obstructed := range []syscall.Errno{syscall.EISDIR, syscall.ENOTDIR, syscall.ENOTEMPTY, syscall.EEXIST} {
		if errors.Is(err, obstructed) {
			h.say(err)
			return
		}
	}
	h.until.Store(int64(time.Since(h.start) + h.pause))
	if !h.said.Swap(true) {
		h.log.Warn("the disk tier cannot write: pages are not kept there until it can", "path", h.path, "error", err)
	}
}

// worked notes that a write did not fail.
func (h *diskHealth) worked() {
	if h.until.Load() != 0 {
		h.until.Store(0)
	}
	if h.said.Load() && h.said.Swap(false) {
		h.log.Info("the disk tier can write again", "path", h.path)
	}
}

// say writes an error to the log, each kind of it once a minute.
func (h *diskHealth) say(err error) {
	kind := err.Error()
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		kind = number.Error()
	}
	if h.hush.let(kind, time.Since(h.start).Milliseconds()) {
		h.log.Warn("trouble with the disk tier", "path", h.path, "error", err)
	}
}
