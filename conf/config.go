package conf

import (
	"log/slog"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// Config is what a configuration file, or the flags of serve, say: checked, and
// with every default in place.
type Config struct {
	Listen   []string // public listeners: "host:port", ":8080" or "unix:/path"; at least one
	Admin    Admin
	Log      Log
	Edge     edge.Options // all but Log, Access and Version, which the caller sets
	Warnings []Problem    // in file order; none of them keeps the edge from starting
	File     string       // the name given to Load or Parse; "" from flags
}

// Admin is [admin].
type Admin struct {
	Listen   string // "host:port" or "unix:/path"
	Token    string // ""; or the bearer token every call needs
	Loopback bool   // only this machine can reach Listen; without a token it always is so
}

// Log is [log].
type Log struct {
	Level  slog.Level
	Access string // a path that this process can open, "stdout", "stderr" or "off"
	Format string // "combined" or "json"
}
