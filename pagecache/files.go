package pagecache

import (
	"log/slog"
	"os"
	"time"
)

// FilesOptions describes the published files of one site.
type FilesOptions struct {
	Root    string
	Links   []string
	Try     []string
	Check   time.Duration
	MaxKeep int64
}

// DefaultTry returns the patterns used where FilesOptions.Try is nil.
func DefaultTry() []string { return []string{"{path}.html", "{path}/index.html", "{path}"} }

// Hit is a page that was found.
type Hit struct {
	Page   *Page
	File   *os.File
	Memory bool
}

// FilesStats is what a Files counted.
type FilesStats struct{ Hits, Misses, Reads, Errors uint64 }

// Files finds the published files of a site.
type Files struct{}

// OpenFiles opens the root.
func OpenFiles(o FilesOptions, m *Memory, log *slog.Logger) (*Files, error) { return &Files{}, nil }

// Get finds the published page of a path.
func (f *Files) Get(path []byte, exactOnly bool) (Hit, bool) { return Hit{}, false }

// Sibling finds the precompressed copy of a page.
func (f *Files) Sibling(h Hit, coding string) (Hit, bool) { return Hit{}, false }

// HasSiblings says whether a page has a precompressed copy.
func (f *Files) HasSiblings(h Hit) bool { return false }

// Stats returns the counts.
func (f *Files) Stats() FilesStats { return FilesStats{} }

// Close releases the root.
func (f *Files) Close() error { return nil }
