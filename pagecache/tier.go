package pagecache

// Tier keeps pages by key. Its methods may be called from any goroutine.
// Trouble is a miss that the tier counts, never a failed request.
type Tier interface {
	Get(key []byte) (*Page, bool) // key is not kept
	Put(key []byte, p *Page)      // key is copied; p is frozen from here on
	Delete(key []byte) error      // a purge must know whether the page is gone
}

var _ Tier = (*Memory)(nil)
