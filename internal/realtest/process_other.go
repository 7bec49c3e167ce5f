//go:build !linux

package realtest

import "syscall"

// dieWithParent has no counterpart here: a test binary that is killed leaves
// its processes behind.
func dieWithParent() *syscall.SysProcAttr { return nil }

// stopped takes it on trust here.
func stopped(int) bool { return true }
