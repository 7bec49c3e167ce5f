// Package oracle compares ssiedge with the real nginx and the real Apache,
// byte for byte: it holds tests only.
//
// testdata holds cases: small sites with what is asked of them. All cases are
// served at once by one nginx, one Apache and one ssiedge over the same files
// and the same app, each case under a host name of its own. What a server
// prints stands nowhere in the cases but where ssiedge differs on purpose: such
// a case says why, and records both answers, and fails when the two are the same.
// TestOracle runs the cases, and TestGenerated compares random documents with
// nginx, the same ones in every run; -rapid.seed and -rapid.checks make others.
//
// case_test.go describes the format. -update writes what is recorded anew.
package oracle
