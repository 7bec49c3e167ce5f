package pagecache

import (
	"crypto/sha256"
	"strings"
)

// keySpace is room for a key on the stack; longer ones cost an allocation.
const keySpace = 320

// keyPrefix starts the keys of one owner in a tier: owners with the same
// options find each other's pages (a reload keeps what is in memory), all
// others never do.
func keyPrefix(kind string, options ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(options, "\x00")))
	return kind + string(sum[:8])
}
