package pagecache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// DefaultMaxVariants is how many variants of a page are kept where the policy
// leaves it open.
const DefaultMaxVariants = 16

// longestVariant is the bytes from which on what tells a variant is hashed.
const longestVariant = 128

// variants is what is kept under the primary key of a page that varies: which
// fields of a request tell its variants apart (RFC 9111, section 4.1), and
// which there are. It is immutable.
type variants struct {
	names []string // canonical names of fields, sorted

	// generation is part of every variant's key. It is random, so what a
	// list that was removed led to is found by nobody any more.
	generation uint64
	held       []string // what tells each variant, the oldest first
}

// VariantKey appends the key of the variant that a request asks for: the
// primary key, and the values of the fields in vary. get gives all lines of a
// field of the request, joined by commas; nil: it has none, which is not the
// same as an empty one. White space around commas does not count, Accept-Encoding
// is reduced to the codings that there are, Accept-Language put in order; other
// values count byte for byte.
// Nothing is kept.
func VariantKey(dst, primary []byte, vary []string, get func(name string) []byte) []byte {
	return appendVariant(append(dst, primary...), vary, get)
}

// appendVariant appends what tells a variant, of longestVariant bytes at most.
// Values carry their length, so that no two lists of values are the same text.
func appendVariant(dst []byte, vary []string, get func(name string) []byte) []byte {
	start := len(dst)
	for _, name := range vary {
		value := get(name)
		if value == nil {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1, 0, 0, 0, 0)
		from := len(dst)
		switch name {
		case "Accept-Encoding":
			dst = appendCodings(dst, value)
		case "Accept-Language":
			dst = appendLanguages(dst, value)
		default:
			dst = appendListed(dst, value)
		}
		binary.BigEndian.PutUint32(dst[from-4:], uint32(len(dst)-from))
	}
	if len(dst)-start > longestVariant {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], 2), sum[:]...)
	}
	return dst
}

// appendListed appends a value without the white space around its commas and
// at its ends.
func appendListed(dst, value []byte) []byte {
	for {
		member, rest, more := bytes.Cut(value, []byte(","))
		dst = append(dst, trimSpace(member)...)
		if !more {
			return dst
		}
		dst = append(dst, ',')
		value = rest
	}
}

// knownCodings are the content codings that anybody here knows.
var knownCodings = [...]string{"br", "gzip", "zstd", "deflate", identity}

const identity = "identity"

// appendCodings appends which of the known codings the value of
// Accept-Encoding takes, in an order of ours (RFC 9110, section 12.5.3): those
// that are named with a weight above 0, or not named while "*" is. identity is
// taken unless it is refused, by name or by "*".
func appendCodings(dst, value []byte) []byte {
	var named, taken [len(knownCodings)]bool
	star, any := false, false
	for len(value) > 0 {
		var member []byte
		member, value, _ = bytes.Cut(value, []byte(","))
		coding, weight, _ := bytes.Cut(member, []byte(";"))
		coding = trimSpace(coding)
		if len(coding) == 1 && coding[0] == '*' {
			star, any = true, !isZeroWeight(weight)
		} else if i := knownCoding(coding); i >= 0 && !named[i] {
			named[i], taken[i] = true, !isZeroWeight(weight)
		}
	}
	for i, name := range knownCodings {
		if !named[i] {
			taken[i] = any || name == identity && !star
		}
		if taken[i] {
			dst = append(dst, '0'+byte(i))
		}
	}
	return dst
}

// knownCoding gives the place of a coding in knownCodings; -1: it is none.
func knownCoding(name []byte) int {
	if equalFold(name, "x-gzip") {
		name = name[2:]
	}
	for i, known := range knownCodings {
		if equalFold(name, known) {
			return i
		}
	}
	return -1
}

// isZeroWeight says whether a parameter is q=0.
func isZeroWeight(parameter []byte) bool {
	name, value, _ := bytes.Cut(parameter, []byte("="))
	if !equalFold(trimSpace(name), "q") {
		return false
	}
	value = trimSpace(value)
	return len(value) > 0 && len(bytes.Trim(value, "0.")) == 0
}

// appendKey appends the key in the tiers of the variant that a request asks
// for. The generation keeps it apart from those of earlier lists.
func (v *variants) appendKey(dst []byte, k *PulledKey) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, variantKind), v.generation)
	dst = append(dst, 0) // the length of what tells the variant
	from := len(dst)
	dst = appendVariant(dst, v.names, k.Field)
	dst[from-1] = byte(len(dst) - from)
	return append(dst, k.Key...)
}

// heldKey is the key of a variant that is held.
func (v *variants) heldKey(own string, primary []byte) []byte {
	dst := binary.BigEndian.AppendUint64([]byte{variantKind}, v.generation)
	dst = append(append(dst, byte(len(own))), own...)
	return append(dst, primary...)
}

// with returns the list with one more variant, the youngest, and those
// that have to go for it. v nil, or of other names: a new one. own is what
// tells the variant.
func (v *variants) with(own string, names []string, most int) (next *variants, gone []string) {
	if v == nil || !slices.Equal(v.names, names) {
		next = &variants{names: slices.Clone(names), generation: newGeneration(), held: []string{own}}
		return next, nil
	}
	held := make([]string, 0, len(v.held)+1)
	for _, h := range v.held {
		if h != own {
			held = append(held, h)
		}
	}
	held = append(held, own)
	if over := len(held) - most; over > 0 {
		gone = held[:over:over]
		held = slices.Clone(held[over:])
	}
	return &variants{names: v.names, generation: v.generation, held: held}, gone
}

// newVariantsPage makes the page that stands for a page's variants. It lives
// longer than they do, and leads to nothing then. The list lies where that
// which was derived lies in other pages, and counts as such.
func newVariantsPage(v *variants, f Freshness, seq uint64) *Page {
	p := &Page{Freshness: f, Seq: seq, Kept: true}
	p.Derive(func(*Page) (any, int) { return v, int(v.size()) })
	return p
}

// variants gives the list of a page that stands for one; nil: it does not.
func (p *Page) variants() *variants {
	if p.Status != 0 {
		return nil
	}
	if d := p.derived.Load(); d != nil && d.built.Load() {
		v, _ := d.value.(*variants)
		return v
	}
	return nil
}

func newGeneration() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// size is the bytes that it takes in memory.
func (v *variants) size() int64 {
	n := int64(64)
	for _, s := range v.names {
		n += 16 + int64(len(s))
	}
	for _, s := range v.held {
		n += 16 + int64(len(s))
	}
	return n
}

var errVariants = errors.New("pagecache: no list of variants")

// append appends the list as bytes: generation, then the counted names,
// then the counted variants, each with its length.
func (v *variants) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, v.generation)
	for _, list := range [][]string{v.names, v.held} {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(list)))
		for _, s := range list {
			dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
			dst = append(dst, s...)
		}
	}
	return dst
}

// readVariants reads what append wrote, all of b. b is not kept.
func readVariants(b []byte) (*variants, error) {
	if len(b) < 8 {
		return nil, errVariants
	}
	v := &variants{generation: binary.BigEndian.Uint64(b)}
	var ok bool
	if v.names, b, ok = readStrings(b[8:]); !ok || len(v.names) == 0 {
		return nil, errVariants
	}
	if v.held, b, ok = readStrings(b); !ok || len(b) > 0 {
		return nil, errVariants
	}
	return v, nil
}

func readStrings(b []byte) (list []string, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if n > len(b)/2 {
		return nil, nil, false
	}
	list = make([]string, 0, n)
	for range n {
		if len(b) < 2 {
			return nil, nil, false
		}
		size := int(binary.BigEndian.Uint16(b))
		if size > len(b)-2 {
			return nil, nil, false
		}
		list = append(list, string(b[2:2+size]))
		b = b[2+size:]
	}
	return list, b, true
}
