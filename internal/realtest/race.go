//go:build race

package realtest

// Race says whether the test runs under the race detector; the programs
// that it builds are then built with it too.
const Race = true
