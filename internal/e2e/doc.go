// Package e2e drives the real ssiedge binary as its users do, in front of real
// servers: it holds tests only.
//
// The parity tests send one table of requests to nginx with the configuration
// of 2008 and to ssiedge, over the same files, the same memcached and the same
// Rails app, and want the same status and body; rows that differ on purpose
// say why, and what ssiedge answers instead. The others replay public bug
// reports, a recorded trace, and what an operator does: start, check, reload,
// drain, stop. Package realtest says what has to be installed.
package e2e
