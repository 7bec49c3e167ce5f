package pagecache

import (
	"bytes"
	"fmt"
	"strings"
)

// PublishedKey is what the keys of a request are made of. Its slices are not
// kept.
type PublishedKey struct {
	Path    []byte // canonical and decoded
	RawPath []byte // canonical, still escaped
	Query   []byte // what is left of it after filtering, without "?"
	Host    []byte // lower case, without a default port
	Scheme  string // "http" or "https"
}

// keyWords are the words of a key template.
var keyWords = []string{"{path}", "{raw_path}", "{query}", "{host}", "{scheme}"}

// keyTemplate is a compiled template: literals, escaped, and words.
type keyTemplate struct {
	parts []string
	query bool // it names {query}
}

// ValidateKey says what is wrong with a key template of PublishedOptions, and
// what would be right: an unknown word, a brace that is not closed, no path in
// it (every page would have the same key), a key that memcached cannot have.
func ValidateKey(template string) error {
	_, err := parseKey(template)
	return err
}

func parseKey(template string) (keyTemplate, error) {
	var k keyTemplate
	fail := func(what string) (keyTemplate, error) {
		return keyTemplate{}, fmt.Errorf("key %q: %s", template, what)
	}
	if template == "" {
		return fail(`is empty, want one like "{path}"`)
	}
	path := false
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if literal != "" {
			k.parts = append(k.parts, string(appendEscaped(nil, literal, true)))
		}
		if !found {
			break
		}
		name, after, found := strings.Cut(after, "}")
		if !found {
			return fail(fmt.Sprintf("{%s is not closed, want a } after the word", name))
		}
		word := "{" + name + "}"
		if !isKeyWord(word) {
			return fail(fmt.Sprintf("unknown word %s, want one of %s", word, strings.Join(keyWords, " ")))
		}
		path = path || word == "{path}" || word == "{raw_path}"
		k.query = k.query || word == "{query}"
		k.parts = append(k.parts, word)
		rest = after
	}
	switch literals := k.literals(); {
	case strings.Contains(literals, "\x7f"):
		return fail("holds the byte 0x7f, which no key of memcached may have")
	case len(literals) > maxMemcacheKey:
		return fail(fmt.Sprintf("is %d bytes long without its words, want at most %d", len(literals), maxMemcacheKey))
	case !path:
		return fail("names no path, so every page would have the same key: add {path} or {raw_path}")
	}
	return k, nil
}

func isKeyWord(s string) bool {
	for _, w := range keyWords {
		if s == w {
			return true
		}
	}
	return false
}

func (t *keyTemplate) literals() string {
	var b strings.Builder
	for _, part := range t.parts {
		if !isKeyWord(part) {
			b.WriteString(part)
		}
	}
	return b.String()
}

// appendKey appends the key that the template gives. It is one that memcached
// may have only if validKey says so.
func (t *keyTemplate) appendKey(dst []byte, k *PublishedKey) []byte {
	for _, part := range t.parts {
		switch part {
		case "{path}":
			dst = appendEscaped(dst, view(k.Path), true)
		case "{raw_path}":
			dst = appendEscaped(dst, view(k.RawPath), false)
		case "{query}":
			dst = appendEscaped(dst, view(k.Query), false)
		case "{host}":
			dst = appendEscaped(dst, view(k.Host), true)
		case "{scheme}":
			dst = appendEscaped(dst, k.Scheme, true)
		default:
			dst = append(dst, part...)
		}
	}
	return dst
}

// appendEscaped appends s as nginx escapes a key for memcached: bytes up to
// the space, and "%" where s is not escaped already, as %XX in upper case;
// all others, also those beyond ASCII, as they are.
func appendEscaped(dst []byte, s string, percent bool) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > ' ' && (c != '%' || !percent) {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '%', hex[c>>4], hex[c&15])
	}
	return dst
}

// validKey says whether memcached may have the escaped key.
func validKey(key []byte) bool {
	return len(key) > 0 && len(key) <= maxMemcacheKey && bytes.IndexByte(key, 0x7f) < 0
}
