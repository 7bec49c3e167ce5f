package accesslog_test

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/ssiedge/ssiedge/internal/accesslog"
)

func Example() {
	log, err := accesslog.Open(accesslog.Options{Out: os.Stdout})
	if err != nil {
		fmt.Println(err)
		return
	}
	log.Log(&accesslog.Record{
		Time:   time.Date(2026, 11, 30, 16, 11, 15, 0, time.UTC),
		Client: netip.MustParseAddr("192.0.2.1"),
		Method: []byte("GET"), Target: []byte("/towns"), Protocol: "HTTP/1.1",
		Status: 200, Bytes: 5120,
		UserAgent: []byte(`say "hi"`),
	})
	if err := log.Close(); err != nil { // writes what is buffered
		fmt.Println(err)
	}
	// Output:
	// 192.0.2.1 - - [30/Nov/2026:16:11:15 +0000] "GET /towns HTTP/1.1" 200 5120 "-" "say \x22hi\x22"
}
