package conf

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// log reads [log].
func (r *reader) log(n *node) Log {
	s := r.open(n, "log")
	return Log{
		Level:  level(s.word("level", "debug", "info", "warn", "error")),
		Access: r.access(s),
		Format: s.word("format", "combined", "json"),
	}
}

func level(word string) slog.Level {
	switch word {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// access reads where the access log goes. The folder of a file must be there: the
// log would be missed only when it is needed.
func (r *reader) access(s section) string {
	to := s.text("access")
	if to == "stdout" || to == "stderr" || to == "off" {
		return to
	}
	n := s.get("access")
	if n.kind != textKind {
		return ""
	}
	path := r.path(to)
	switch {
	case to == "":
		r.problem(n, "a path is wanted, not an empty string", `write a path, "stdout", "stderr" or "off"`)
	case strings.ContainsRune(to, 0):
		r.problem(n, fmt.Sprintf("the path %q holds a NUL", to), "take it out")
	case isDirectory(path):
		r.problem(n, fmt.Sprintf("%q is a directory", path), "name a file in it")
	case !isDirectory(filepath.Dir(path)):
		r.problem(n, fmt.Sprintf("there is no directory %q", filepath.Dir(path)), `make it, or write "stdout", "stderr" or "off"`)
	}
	return path
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
