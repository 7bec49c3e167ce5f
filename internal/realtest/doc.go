// Package realtest starts real servers for tests: each on a free port of
// 127.0.0.1 or on a socket in a directory of the test, each stopped by its pid
// when the test ends.
//
// One rule holds for all of them: a program that is not installed fails the
// test where CI=true or SSIEDGE_REQUIRE=1 is set, else it skips the test.
//
// Helpers are called from the goroutine of the test that owns them.
package realtest
