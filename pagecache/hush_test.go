package pagecache

import (
	"fmt"
	"testing"
)

func TestHush(t *testing.T) {
	once, minutely := hush{}, hush{every: 60_000}
	for _, c := range []struct {
		h    *hush
		key  string
		now  int64
		want bool
	}{
		{&once, "a", 1, true}, {&once, "a", 2, false}, {&once, "a", 1e9, false}, {&once, "b", 2, true},
		{&minutely, "a", 1, true}, {&minutely, "a", 60_000, false}, {&minutely, "a", 60_001, true}, {&minutely, "a", 60_002, false},
	} {
		if got := c.h.let(c.key, c.now); got != c.want {
			t.Errorf("%q at %d: %v, want %v", c.key, c.now, got, c.want)
		}
	}
}

// A hush is bounded: too many keys and no other one may speak, until some have
// had their time.
func TestHushIsBounded(t *testing.T) {
	once, minutely := hush{}, hush{every: 60_000}
	for i := range hushKeys {
		if key := fmt.Sprint(i); !once.let(key, 1) || !minutely.let(key, 1) {
			t.Fatalf("key %d may not speak", i)
		}
	}
	if once.let("more", 2) || minutely.let("more", 2) || len(once.last) > hushKeys {
		t.Error("one key too many may speak")
	}
	if once.let("more", 1e9) || !minutely.let("more", 60_001) || len(minutely.last) != 1 {
		t.Errorf("after a minute %d keys are remembered", len(minutely.last))
	}
}
