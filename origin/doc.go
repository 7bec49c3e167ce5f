// Package origin sends a request to one server of a pool of interchangeable
// servers and streams the answer back.
//
// A [Pool] is the servers of an app; an [Exchange] is one request and its
// answer. Requests and answers are fasthttp's; its HostClient keeps the
// connections, over TCP or unix sockets. The round trip is our own, since
// fasthttp's is one of a client, not of a proxy: an answer may come before the
// request's body has been sent, 1xx answers are passed on, a 101 gives the
// connection, and nothing is added to the request.
//
// # When a request is sent again
//
// Only in these cases:
//   - No connection could be made: then the next server is tried, each at most
//     once a request. Nothing was sent.
//   - A connection that had served other requests ended before a byte of the
//     answer came. The request is sent once more, on a new connection, if
//     nothing of it was sent or its method is idempotent (RFC 9110 section
//     9.2.2: GET, HEAD, OPTIONS, PUT, DELETE, TRACE), and if it has no body
//     that was begun. If then no connection can be made, the first rule holds.
//
// So a POST is never sent twice. All attempts share one timeout.
//
// # Whose answer it is
//
// Before a kept connection is used again it is looked at: one that the server
// has closed, or on which a byte came that nobody asked for, is closed. So is
// one with more bytes than the answer has, one on which an answer came while
// the request's body was still being sent, and one whose answer was not read
// to its end. No visitor gets what was meant for another.
//
// Refused as [Malformed] are answers whose end is a matter of opinion: both
// Transfer-Encoding and Content-Length, lengths that differ or are no plain
// number, a space between such a name and its colon, a coding that is not
// chunked, chunked in HTTP/1.0, control characters, a status below 100. Folded
// lines are joined, single line feeds end lines. Trailers of an answer are
// read and dropped.
//
// # Time
//
// Timeout is from the start of Do to the head of the answer; with a body, to
// the connection, and from the body sent to the head. Of several servers each
// may take its share of it to connect. Between bytes of a body, sent or
// received, Idle may pass; there is no other limit on how long a body takes.
// A unix socket whose backlog is full is tried again until its share is over.
//
// # Ownership
//
// The caller owns Request, Response and Body; none is kept after Do has failed
// or Answer has been closed. Body is read on another goroutine that ends
// before that. Every Answer has to be closed, every Conn too. What the context
// of Do does to the exchange it does until then.
//
// A Pool runs nothing of its own. fasthttp's cleaner of idle connections, one
// goroutine a server, looks up every ten seconds and ends when none is left.
package origin
