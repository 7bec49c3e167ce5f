package pagecache

// Page is a whole response kept for reuse. It is immutable once it was given
// to a caller or a tier: any number of goroutines may read it without a lock,
// and its slices may be sent without a copy.
type Page struct {
	Status   int
	Head     []byte
	Body     []byte
	Type     string
	ETag     string
	Modified int64
	Name     string
	Length   int64
	Kept     bool
}

// Derive returns what build made of the page.
func (p *Page) Derive(build func(*Page) (v any, size int)) any {
	v, _ := build(p)
	return v
}
