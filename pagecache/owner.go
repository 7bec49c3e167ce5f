package pagecache

import "time"

// Owner asks to whom the file of a page belongs that Get found; false: the file
// is no more. The page itself does not keep it, for few ask.
func (f *Files) Owner(p *Page) (uid uint32, ok bool) {
	h := f.root.current(time.Now().UnixMilli())
	if h == nil || p.published == nil || p.cname == "" {
		return 0, false
	}
	st, errno := h.stat(p.cname)
	return st.uid, errno == 0
}
