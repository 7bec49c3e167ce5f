package edge

import (
	"fmt"
	"sync/atomic"

	"github.com/ssiedge/ssiedge/ssi"
)

// room is how many bytes of fragments a page may gather: max_page. Without it
// many fragments, each within max_fragment, could be in memory at once before
// the first of them is printed.
type room struct {
	taken atomic.Int64
	most  int64
}

// errNoRoom ends the page, as printing more than max_page does.
var errNoRoom = fmt.Errorf("the fragments of the page are more than max_page: %w", ssi.ErrTooLarge)

// take counts n bytes in. m may be nil, which has room for all.
func (m *room) take(n int64) error {
	if m == nil || m.taken.Add(n) <= m.most {
		return nil
	}
	return errNoRoom
}
