package ssi

import "testing"

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"**", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"*a*b*c*", "xaybzc", true}, {"*a*b*c*", "xaybz", false}, {"?", "", false}, {"[a-c]x", "bx", true}, {"[a-c]x", "dx", false},
		{"[]]", "]", true}, {"[!]]", "]", false}, {"[!]]", "a", true}, {"[a", "[a", true}, {"[]", "[]", true}, {"[!]", "[!]", true},
		{`[\]]`, "]", true}, {`[\]`, "[]", true}, {`\[a]`, "[a]", true}, {`a\`, `a\`, true}, {"[a-]", "-", true}, {"[--/]", ".", true},
		{"[z-a]", "m", false}, {"*[", "x[", true},
	} {
		if got := newGlob([]byte(tt.pattern), false, false).match([]byte(tt.text)); got != tt.want {
			t.Errorf("%q with %q: %v", tt.text, tt.pattern, got)
		}
	}
}

// All small patterns with all small texts, against a matcher that tries everything.
func TestGlobAgainstSimple(t *testing.T) {
	texts := words("a/]-", 3)
	for _, pattern := range words(`a/*?[]\-!`, 4) {
		for _, text := range texts {
			for _, path := range []bool{false, true} {
				g := newGlob([]byte(pattern), false, path)
				if got, want := g.match([]byte(text)), simpleGlob(pattern, text, path); got != want {
					t.Fatalf("%q with %q, path %v: %v, wanted %v", text, pattern, path, got, want)
				}
			}
		}
	}
}

// words are all strings of up to n letters.
func words(letters string, n int) []string {
	list, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, c := range letters {
				next = append(next, w+string(c))
			}
		}
		list, last = append(list, next...), next
	}
	return list
}

func simpleGlob(pattern, text string, path bool) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '*' {
		for i := 0; ; i++ {
			if simpleGlob(pattern[1:], text[i:], path) {
				return true
			}
			if i == len(text) || path && text[i] == '/' {
				return false
			}
		}
	}
	if text == "" {
		return false
	}
	set, n := simpleElement(pattern)
	return set[text[0]] && !(path && text[0] == '/' && (pattern[0] == '?' || pattern[0] == '[' && n > 1)) &&
		simpleGlob(pattern[n:], text[1:], path)
}

// simpleElement gives the bytes that the first element of a pattern matches, and its length.
func simpleElement(pattern string) (set [256]bool, n int) {
	switch {
	case pattern[0] == '?':
		for c := range set {
			set[c] = true
		}
		return set, 1
	case pattern[0] == '\\' && len(pattern) > 1:
		set[pattern[1]] = true
		return set, 2
	case pattern[0] == '[':
		if set, n := simpleClass(pattern); n > 0 {
			return set, n
		}
	}
	set[pattern[0]] = true
	return set, 1
}

func simpleClass(pattern string) (set [256]bool, n int) {
	rest := pattern[1:]
	not := len(rest) > 0 && rest[0] == '!'
	if not {
		rest = rest[1:]
	}
	next := func() byte {
		c := rest[0]
		rest = rest[1:]
		if c == '\\' && len(rest) > 0 {
			c, rest = rest[0], rest[1:]
		}
		return c
	}
	for first := true; len(rest) > 0 && (first || rest[0] != ']'); first = false {
		lo := next()
		hi := lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			rest = rest[1:]
			hi = next()
		}
		for c := int(lo); c <= int(hi); c++ {
			set[c] = true
		}
	}
	if rest == "" {
		return set, 0
	}
	for c := range set {
		set[c] = set[c] != not
	}
	return set, len(pattern) - len(rest) + 1
}
