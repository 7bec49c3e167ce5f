package realtest

import (
	"io"
	"net"
	"strconv"
)

// claimPort makes a port the caller's among all tests of this machine until the
// claim is closed or the process ends: whoever has the abstract socket of that
// name has the port.
func claimPort(port int) (io.Closer, error) {
	return net.Listen("unix", "@ssiedge-test-port-"+strconv.Itoa(port))
}
