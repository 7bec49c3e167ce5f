package conf

import (
	"fmt"

	"github.com/ssiedge/ssiedge/internal/edge"
	"github.com/ssiedge/ssiedge/pagecache"
)

// What a disk tier may be: a few pages at least.
const (
	smallestDisk = 1 << 20
	largestDisk  = 64 << 40
)

// disk reads [disk]; nil: there is none.
func (r *reader) disk(n *node) *edge.Disk {
	if n == nil {
		return nil
	}
	s := r.open(n, "disk")
	d := &edge.Disk{Size: s.size("size", smallestDisk, largestDisk)}
	at := s.written("path")
	switch {
	case s.table == nil || at != nil && at.broken:
	case at == nil || at.text == "":
		r.problem(n, "path is missing", `name the folder of the pages, path = "/var/cache/ssiedge" say`)
	default:
		d.Path = r.path(s.text("path"))
		if err := pagecache.CheckDisk(d.Path); at.kind == textKind && err != nil {
			r.fault(at, mistakeOf(err, ""))
			return d
		}
		r.warnDiskSize(s, d)
	}
	return d
}

// warnDiskSize notes a size that the disk does not have.
func (r *reader) warnDiskSize(s section, d *edge.Disk) {
	room, ok := pagecache.DiskRoom(d.Path)
	if !ok || d.Size <= room {
		return
	}
	n := s.table
	if size := s.written("size"); size != nil {
		n = size
	}
	r.warn(n.at, n.key, fmt.Sprintf("%s is more than the file system of %q holds, %s", sizeText(d.Size), d.Path, sizeText(room>>20<<20)),
		"make it less, and leave room for others: pages are not kept on a disk that is full")
}

// warnDisk notes a tier that keeps less than it could, or gives away more than
// it should.
func (r *reader) warnDisk(n *node, o *edge.Options) {
	if o.Disk == nil || len(r.problems) > 0 {
		return
	}
	if most := o.Disk.Size / pagecache.LargestShare; most < o.Limits.MaxKeep {
		r.warn(n.at, n.key, fmt.Sprintf("pages over %s, a quarter of its size, are not kept on the disk, although limits.max_keep is %s",
			sizeText(most), sizeText(o.Limits.MaxKeep)), "give it a larger size, or lower limits.max_keep")
	}
	if !r.pulls {
		r.warn(n.at, n.key, "no site or rule asks an origin, so no page is kept on the disk", "remove it, or add an origin")
	}
}
