package realtest

import (
	"os/exec"
	"testing"
)

// Require gives the path of a program that the test cannot do without. Where
// it is not installed the test fails if CI=true or SSIEDGE_REQUIRE=1 is set,
// else it is skipped.
func Require(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Absent(t, program+" is not installed: "+err.Error())
	}
	return path
}
