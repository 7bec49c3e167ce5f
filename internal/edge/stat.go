package edge

import (
	"errors"
	"time"

	"github.com/ssiedge/ssiedge/ssi"
)

var _ ssi.Stater = (*assembly)(nil)

var errNotAtHand = errors.New("no file, no published value and no fresh page in memory")

// Stat tells size and time of the page that an include of the URL would get: a
// file, a published memcached value or a pulled page in memory. The app is
// never asked, and no fill begins.
func (a *assembly) Stat(inc *ssi.Include) (size int64, modified time.Time, err error) {
	in, err := a.resolve(inc)
	if err != nil {
		return 0, modified, err
	}
	f, ok := a.kept(in)
	if !ok {
		return 0, modified, errNotAtHand
	}
	f.close()
	if f.pulled() {
		a.parts.addPage(f.Page, time.Now())
		if in.settings.keep.keyed() {
			a.parts.readPersonal()
		}
	}
	if f.Page.Status >= 400 || f.Page.Field("content-encoding") != nil {
		return 0, modified, errNotAtHand
	}
	if f.Page.Modified != 0 {
		modified = time.Unix(f.Page.Modified, 0)
	}
	return f.Page.Length, modified, nil
}

// kept finds what would answer an include without anybody being asked for it.
func (a *assembly) kept(in *inner) (found, bool) {
	if in.past || in.settings.redirect != "" {
		return found{}, false
	}
	if f, ok := in.lookup(a.visitor.route, a.visitor.scheme); ok {
		return f, true
	}
	if !in.pulls() {
		return found{}, false
	}
	in.keyed.take(&in.target, a.visitor, a.visitor.route, a.visitor.scheme)
	return in.keyed.peek(a.visitor.began)
}
