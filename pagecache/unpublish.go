package pagecache

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Remove removes the file that Get would answer a path with, and its
// precompressed copies. name is the file's, with its leading slash; "" where
// there is none. Nothing outside root is removed: of a link its name goes, not
// what it means, and a file in a directory that a link leads out to stays. An
// error says what is left. The next Get may find another file: the next of
// Try. path is not kept.
func (f *Files) Remove(path []byte, exactOnly bool) (name string, err error) {
	name, _, ok := f.Name(path, exactOnly)
	h := f.root.now.Load()
	if !ok || h == nil {
		return "", nil
	}
	if err := h.root.Remove(name[1:]); err != nil && !errors.Is(err, os.ErrNotExist) {
		return name, fmt.Errorf("pagecache: %q under root %q: %w", name, f.root.path, cause(err))
	}
	var all []error
	for _, c := range codings {
		if err := h.root.Remove(name[1:] + c.suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, fmt.Errorf("pagecache: %q under root %q: %w", name+c.suffix, f.root.path, cause(err)))
		}
	}
	f.forget(name)
	return name, errors.Join(all...)
}

// forget removes the copies of a file from memory: with Check they would
// answer for a while without a look at it.
func (f *Files) forget(name string) {
	for _, path := range f.Paths(name) {
		f.memory.Delete(append([]byte(f.pages), path...))
	}
	for _, c := range codings {
		f.memory.Delete(append([]byte(f.siblings), name+c.suffix...))
	}
}

// Delete removes the values of a request from memcached, under all keys that
// it could be answered from. Where Host is empty it is not known, and keys that
// name {host} are passed over; where Scheme is, both are meant. Copies in
// memory go too, and a value that is being asked for does not become one. An
// error says that a value may still be there.
func (p *Published) Delete(k PublishedKey) error {
	schemes := []string{k.Scheme}
	if k.Scheme == "" {
		schemes = []string{"http", "https"}
	}
	var deleted []string
	var all []error
	for i := range p.keys {
		if len(k.Host) == 0 && p.keys[i].names("{host}") {
			continue
		}
		for _, k.Scheme = range schemes {
			key, ok := p.appendKey(nil, i, &k)
			if !ok || slices.Contains(deleted, string(key)) {
				continue
			}
			deleted = append(deleted, string(key))
			all = append(all, p.remove(key))
		}
	}
	return errors.Join(all...)
}

// UsesHost says whether some key names {host}.
func (p *Published) UsesHost() bool {
	return slices.ContainsFunc(p.keys, func(t keyTemplate) bool { return t.names("{host}") })
}

// remove removes one value. The flight comes after memcached: a question that
// begins later finds nothing there, and one from before is noticed by ask.
func (p *Published) remove(key []byte) error {
	name := string(key[len(p.prefix):])
	err := p.client.remove(name, true) // a purge is worth a wait
	p.flights.InvalidateKey(key)
	p.memory.Delete(key)
	if err != nil {
		p.errors.Add(1)
		return fmt.Errorf("key %q: %w", name, err)
	}
	return nil
}

func (t *keyTemplate) names(word string) bool { return slices.Contains(t.parts, word) }
