package conf_test

import (
	"fmt"
	"os"

	"github.com/ssiedge/ssiedge/conf"
)

func ExampleParse() {
	src := `
lsiten = [":8080"]
[[site]]
[site.origin]
servers = ["http://127.0.0.1:99999"]
timeout = 30
`
	_, err := conf.Parse("ssiedge.toml", []byte(src), os.LookupEnv)
	fmt.Println(err)
	// Output:
	// ssiedge.toml:2:1: lsiten: unknown setting "lsiten" in the top table; did you mean "listen"?
	// ssiedge.toml:5:12: site.origin.servers: port 99999 is out of range; use 1 to 65535
	// ssiedge.toml:6:11: site.origin.timeout: a time such as "30s" is wanted, not the integer 30; write "30s" if seconds are meant
}
