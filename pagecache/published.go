package pagecache

import (
	"log/slog"
	"time"
)

// PublishedOptions describes the pages of a site in memcached.
type PublishedOptions struct {
	Keys    []string
	For     time.Duration
	MaxKeep int64
}

// PublishedKey is the request that a page is looked for.
type PublishedKey struct {
	Path, RawPath, Query, Host []byte
	Scheme                     string
}

// PublishedStats is what a Published counted.
type PublishedStats struct{ Hits, Misses, Errors, Refused uint64 }

// Published finds the pages of a site in memcached.
type Published struct{}

// ValidateKey says what is wrong with a key template.
func ValidateKey(template string) error { return nil }

// NewPublished returns the published pages of one site.
func NewPublished(o PublishedOptions, c *Memcache, m *Memory, log *slog.Logger) (*Published, error) {
	return &Published{}, nil
}

// Peek answers from memory.
func (p *Published) Peek(k PublishedKey) (page *Page, known bool) { return nil, false }

// Get answers from memory, else asks memcached.
func (p *Published) Get(k PublishedKey) (*Page, bool) { return nil, false }

// UsesQuery says whether some key names {query}.
func (p *Published) UsesQuery() bool { return false }

// Stats returns the counts.
func (p *Published) Stats() PublishedStats { return PublishedStats{} }
