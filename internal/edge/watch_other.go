//go:build !unix

package edge

// canPeek says that peek tells something: not here, where a visitor who left is
// found out when his answer is written.
const canPeek = false

func peek(int) (end, done bool) { return false, true }
