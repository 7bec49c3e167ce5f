package pagecache

// Memory is the tier in this process.
type Memory struct{}

// MemoryStats is what a Memory counted.
type MemoryStats struct {
	Pages, Bytes, Size      int64
	Hits, Misses, Evictions uint64
}

// NewMemory returns an empty tier of size bytes.
func NewMemory(size int64) *Memory { return &Memory{} }

// Get finds a page.
func (m *Memory) Get(key []byte) (*Page, bool) { return nil, false }

// Put keeps a page.
func (m *Memory) Put(key []byte, p *Page) {}

// Delete forgets a page.
func (m *Memory) Delete(key []byte) error { return nil }

// Stats returns the counts.
func (m *Memory) Stats() MemoryStats { return MemoryStats{} }
