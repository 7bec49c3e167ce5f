package pagecache

import "errors"

// PublishedLook is what memcached has under one key of a page.
type PublishedLook struct {
	Key   string // as memcached is asked for it
	Bytes int    // of the value; 0: there is none
	Flags uint32 // of the value
	Err   error  // memcached did not answer
}

// IsPage says whether the value is a page.
func (l *PublishedLook) IsPage() bool { return l.Err == nil && l.Bytes > 0 && l.Flags == 0 }

// Look asks memcached for the keys of a page, in order, up to the first that
// has one. Nothing is kept, counted or logged, and no copy in memory answers:
// Get may give what memcached had, or had not, a moment ago. There is nothing
// to ask, and no result, where a query is left that no key names, or where
// memcached cannot have the keys.
func (p *Published) Look(k PublishedKey) []PublishedLook {
	var looks []PublishedLook
	for i := range p.keys {
		key, ok := p.appendKey(nil, i, &k)
		if !ok {
			continue
		}
		l := PublishedLook{Key: string(key[len(p.prefix):])}
		value, flags, err := p.client.Get(l.Key)
		if l.Bytes, l.Flags = len(value), flags; !errors.Is(err, ErrMiss) {
			l.Err = err
		}
		looks = append(looks, l)
		if l.IsPage() {
			break
		}
	}
	return looks
}
