package pagecache

import "slices"

// Name tells which file Get would answer a path with, and its bytes, without
// reading it. Nothing is kept, and a file that is being written counts as
// there. path is not kept.
func (f *Files) Name(path []byte, exactOnly bool) (name string, size int64, ok bool) {
	h := f.root.current(f.clock.millis(f.clock.now()))
	if h == nil || !validPath(path) {
		return "", 0, false
	}
	var space [keySpace]byte
	for _, p := range f.try.order(path) {
		cname := p.appendName(space[:0], path)[1:]
		st, ok := f.servable(h, cname)
		if ok && exactOnly && !p.exact() {
			return "", 0, false // as in answer: it is the page, and may not speak
		}
		if ok {
			return "/" + string(cname[:len(cname)-1]), st.id.size, true
		}
	}
	return "", 0, false
}

// Paths tells which decoded paths lead to the file of a name below root, with
// its leading slash: "/a.html" answers "/a.html" and, unless another file goes
// before it, "/a". None: no URL reaches it. That there is a file of that name
// which may be served is the caller's word.
func (f *Files) Paths(name string) []string {
	h := f.root.current(f.clock.millis(f.clock.now()))
	if h == nil {
		return nil
	}
	var paths []string
	for _, p := range append(f.try.plain[:len(f.try.plain):len(f.try.plain)], f.try.home...) {
		for _, path := range p.undo(name) {
			if !slices.Contains(paths, path) && f.leads(h, []byte(path), name) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Largest tells up to which size, in bytes, the file of a name is read whole;
// a larger one is handed out open.
func (f *Files) Largest(name string) int64 { return f.largest(TypeByName(name)) }

// undo gives the paths that the pattern makes the name of, whatever goes
// before it.
func (p pattern) undo(name string) []string {
	if len(name) < len(p.before)+len(p.after) || name[:len(p.before)] != p.before || name[len(name)-len(p.after):] != p.after {
		return nil
	}
	path := name[len(p.before) : len(name)-len(p.after)]
	switch directory := len(p.after) > 0 && p.after[0] == '/'; {
	case directory && path == "":
		return []string{"/"}
	case directory:
		return []string{path, path + "/"}
	}
	return []string{path}
}

// leads says whether the first of the path's names that is there is name.
func (f *Files) leads(h *handle, path []byte, name string) bool {
	if !validPath(path) {
		return false
	}
	var space [keySpace]byte
	for _, p := range f.try.order(path) {
		cname := p.appendName(space[:0], path)[1:]
		if string(cname[:len(cname)-1]) == name[1:] {
			return true
		}
		if _, ok := f.servable(h, cname); ok {
			return false
		}
	}
	return false
}

// servable says whether a name, without its slash and with its NUL, means a
// file that may be served.
func (f *Files) servable(h *handle, cname []byte) (fileStat, bool) {
	st, errno := h.stat(view(cname))
	if errno != 0 || !st.regular() {
		return fileStat{}, false
	}
	file, err := f.root.open(h, string(cname[:len(cname)-1]))
	if err != nil {
		return fileStat{}, false
	}
	file.Close()
	return st, true
}
