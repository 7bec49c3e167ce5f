package edge

import "github.com/ssiedge/ssiedge/ssi"

var _ ssi.Admitter = (*assembly)(nil)

// Admits says whether an include of that URL may be asked for: it leads
// somewhere within the site. Whether a page is there is not looked at, as
// Apache's -A does not.
func (a *assembly) Admits(inc *ssi.Include) bool {
	_, err := a.resolve(inc)
	return err == nil
}
