package pagecache

import "sync"

// flights lets one caller a key ask, and the others wait for that.
type flights struct {
	mu    sync.Mutex
	byKey map[string]*flight
}

// flight is one question under way. page is set before done is closed; nil:
// none, also when who asked panicked.
type flight struct {
	done chan struct{}
	page *Page
}

// join starts the flight of a key, or finds the one under way. Whoever starts
// one must land it.
func (f *flights) join(key string) (mine, other *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.byKey[key]; ok {
		return nil, other
	}
	if f.byKey == nil {
		f.byKey = make(map[string]*flight)
	}
	mine = &flight{done: make(chan struct{})}
	f.byKey[key] = mine
	return mine, nil
}

// land ends a flight: those who wait go on.
func (f *flights) land(key string, mine *flight) {
	f.mu.Lock()
	delete(f.byKey, key)
	f.mu.Unlock()
	close(mine.done)
}
