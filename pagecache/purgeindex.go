package pagecache

// purgeIndex has, for each pattern, the newest records: what a URL is compared
// with takes as long with a hundred thousand records as with one. It is guarded
// by its owner.
type purgeIndex struct {
	urls map[string]marks // by pattern
	all  marks
	live int // marks that are set
}

func newPurgeIndex() *purgeIndex {
	return &purgeIndex{urls: make(map[string]marks)}
}

// mark is the newest hard record of one pattern and site, and the newest soft one.
type mark struct {
	hard, soft uint64 // 0: none
	softAt     int64  // when the soft one was made, in Unix nanoseconds
}

// newer gives the newer of each.
func (m mark) newer(o mark) mark {
	m.hard = max(m.hard, o.hard)
	if o.soft > m.soft {
		m.soft, m.softAt = o.soft, o.softAt
	}
	return m
}

// marks are the marks of one pattern.
type marks struct {
	every mark            // of records for every site
	sites map[string]mark // of the others, by site; nil: none
}

// of gives what holds for a site.
func (m *marks) of(site string) mark {
	if m.sites == nil {
		return m.every
	}
	return m.every.newer(m.sites[site])
}

// add notes a record, the newest so far. It returns how many marks it set that
// were not.
func (m *marks) add(r *Record) int {
	k := m.every
	if r.Site != "" {
		k = m.sites[r.Site]
	}
	before := k.count()
	if r.Soft {
		k.soft, k.softAt = r.Seq, r.Time.UnixNano()
	} else {
		k.hard = r.Seq
	}
	if r.Site == "" {
		m.every = k
	} else {
		if m.sites == nil {
			m.sites = make(map[string]mark)
		}
		m.sites[r.Site] = k
	}
	return k.count() - before
}

func (m mark) count() (n int) {
	if m.hard > 0 {
		n++
	}
	if m.soft > 0 {
		n++
	}
	return n
}

// add notes a record, the newest so far.
func (x *purgeIndex) add(r *Record) {
	if r.Kind == KindAll {
		if r.Site == "" && !r.Soft { // it is all that still counts
			*x = *newPurgeIndex()
		}
		x.live += x.all.add(r)
		return
	}
	m := x.urls[r.Pattern]
	x.live += m.add(r)
	x.urls[r.Pattern] = m
}

// newest gives the newest records that match u. A record's pattern is one of
// host/path, /path, host/path?query and /path?query.
func (x *purgeIndex) newest(u *PageURL) mark {
	newest := x.all.of(u.Site)
	if len(x.urls) == 0 {
		return newest
	}
	var space [keySpace]byte
	b := append(space[:0], u.Host...)
	b = append(b, u.Path...)
	newest = newest.newer(x.ofPattern(b, u)).newer(x.ofPattern(b[len(u.Host):], u))
	if len(u.Query) > 0 {
		b = append(b, '?')
		b = append(b, u.Query...)
		newest = newest.newer(x.ofPattern(b, u)).newer(x.ofPattern(b[len(u.Host):], u))
	}
	return newest
}

func (x *purgeIndex) ofPattern(pattern []byte, u *PageURL) mark {
	m, ok := x.urls[string(pattern)]
	if !ok {
		return mark{}
	}
	return m.of(u.Site)
}
