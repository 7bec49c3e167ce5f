package pagecache

// The kinds of keys in the tiers of pulled pages; those of published ones
// begin with other letters. A primary key follows its letter; with a variant
// there stand between them 8 bytes of generation, a length, and as many bytes
// of what tells the variant.
const (
	primaryKind = 'p'
	variantKind = 'v'

	variantPrefix = 1 + 8 + 1
)

func appendPrimary(dst, primary []byte) []byte { return append(append(dst, primaryKind), primary...) }

// primaryOf gives the primary key in a key of the tiers; ok is false for a key
// of something else.
func primaryOf(key string) (primary []byte, ok bool) { return primaryPart([]byte(key)) }

// primaryPart is primaryOf without a copy.
func primaryPart(key []byte) (primary []byte, ok bool) {
	switch {
	case len(key) > 0 && key[0] == primaryKind:
		return key[1:], true
	case len(key) >= variantPrefix && key[0] == variantKind && len(key) >= variantPrefix+int(key[variantPrefix-1]):
		return key[variantPrefix+int(key[variantPrefix-1]):], true
	}
	return nil, false
}
