package edge

import (
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// parseHTTPDate reads the date of a field that came now, as seconds since 1970.
func parseHTTPDate(b []byte) (unix int64, ok bool) { return pagecache.ParseDate(b, time.Now()) }
