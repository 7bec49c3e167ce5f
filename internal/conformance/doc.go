// Package conformance is tests: what RFC 9111 and its neighbours (9110, 9112,
// 9211, 9213, 5861) ask of a shared cache, line by line, of an edge that runs
// with the settings of a configuration file before an app whose every byte the
// test states.
//
// The lines have ids, as in "AGE-4", and each has a test of its name. Where the
// edge decides otherwise on purpose, or a setting decides, the test says so.
package conformance
