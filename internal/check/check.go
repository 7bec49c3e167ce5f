package check

import (
	"hash/maphash"
	"io/fs"
	"syscall"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// Counts is what a Run saw and found.
type Counts struct {
	Files    int // under the roots, that some URL leads to; a file of several sites is one
	Pages    int // of them, files with directives that are run
	Problems int // without the warnings
	Warnings int
}

// Run looks at every page under the root of each site of o, and tells report
// what is wrong: site by site, folder by folder, each file in its own order,
// loops last. Where several sites would say the same of a file it is said once.
// The error is that of edge.New: then nothing was looked at.
func Run(o edge.Options, report func(Problem)) (Counts, error) {
	// Of the whole only what says where URLs lead: an edge that runs has the
	// rest, and some of it is locked.
	o = edge.Options{Sites: o.Sites, Limits: o.Limits, Memory: o.Memory, Memcache: o.Memcache}
	e, err := edge.New(o)
	if err != nil {
		return Counts{}, err
	}
	defer e.Close()
	c := &checker{report: report, files: map[fileID]look{}}
	if len(o.Sites) > 1 {
		c.said, c.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	for i := range o.Sites {
		if o.Sites[i].Files != nil {
			newSite(c, &o, i, e.Resolver(i)).check()
		}
	}
	return c.counts, nil
}

// checker is what the sites of a Run share.
type checker struct {
	report func(Problem)
	counts Counts
	files  map[fileID]look
	said   map[uint64]struct{} // hashes of problems; nil: there is one site only, which says nothing twice
	seed   maphash.Seed
}

// look is what was seen of a file.
type look struct {
	site int  // the last one that took it for a page, from 1; 0: none
	page bool // it was counted as one with directives
}

// fileID tells files and folders apart, whatever names they have.
type fileID struct{ device, inode uint64 }

func identify(info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}

// add counts a problem and tells it, unless it was told before.
func (c *checker) add(p Problem) {
	if c.said != nil {
		hash := maphash.String(c.seed, p.String())
		if _, ok := c.said[hash]; ok {
			return
		}
		c.said[hash] = struct{}{}
	}
	if p.Warning {
		c.counts.Warnings++
	} else {
		c.counts.Problems++
	}
	c.report(p)
}
