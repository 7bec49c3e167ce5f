// Package ssi compiles a document with server-side includes and runs it.
package ssi
