package conf

import "testing"

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		broad, narrow string
		want          bool
	}{
		{"*", "/a", true},
		{"*", "*", true},
		{"/a", "/a", true},
		{"/a", "/b", false},
		{"/a", "/a/*", false},
		{"/a*", "/a/*", true},
		{"/a/*", "/a*", false},
		{"/a/*", "/a/", true},
		{"*.png", "/images/*.png", true},
		{"*.png", "/images/*", false},
		{"/images/*", "/images/*.png", true},
		{"/*/b", "/a/*/b", true},
		{"/a*b", "/a*b", true},
		{"/a*b*", "/a*b", true},
		{"/a*b", "/a*b*", false},
		{"/a**b", "/a*b", true},
		{"", "", true},
		{"*", "", true},
		{"/a*a", "/a", false},
	} {
		if got := covers(c.broad, c.narrow); got != c.want {
			t.Errorf("%q covers %q: %v, want %v", c.broad, c.narrow, got, c.want)
		}
	}
}
