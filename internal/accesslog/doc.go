// Package accesslog writes one line a request, off the request path.
//
// [Log.Log] formats a [Record] into a buffer in memory and returns; one
// goroutine writes what has gathered when 64 KiB are there, and a tenth of a
// second after the first line at the latest. A disk that is slow or full
// therefore costs lines, which are counted, and never a visitor's time.
//
// Lines are written in the order in which Log was called. All methods may be
// called from several goroutines.
package accesslog
