// Speed compares ssiedge with nginx, Varnish and a bare fasthttp handler: the
// same pages, one processor for the server and another for wrk, the servers in
// turn, several rounds, and the medians of what a request costs.
//
// bench/README.md says how to run it and how to read its table.
package main
