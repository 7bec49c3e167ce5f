package ssi

import "bytes"

// maxCodings bounds how often a value is encoded or decoded in one go.
const maxCodings = 8

const encodingCure = "use none, url, entity, urlencoded or base64"

// codings are what is done to a value in the apache dialect: it is decoded, then encoded, each in the order of the list.
type codings struct{ decode, encode []encoding }

// read takes an encoding or decoding: a list of names between blanks or commas, which replaces the one before it.
func (c *codings) read(arg int, pm *param) *fault {
	var list []encoding
	for name := range bytes.FieldsFuncSeq(pm.value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		enc, ok := encodingOf(name, DialectApache)
		switch {
		case !ok:
			return parameter(pm.valueAt, "unknown encoding "+quoted(name), encodingCure)
		case len(list) == maxCodings:
			return parameter(pm.valueAt, "too many encodings", "name at most 8")
		case enc != encodeNone:
			list = append(list, enc)
		}
	}
	if arg == argDecoding {
		c.decode = list
	} else {
		c.encode = list
	}
	return nil
}

func (c *codings) none() bool { return len(c.decode) == 0 && len(c.encode) == 0 }

// single is the one encoding that does all; false: there is more to do.
func (c *codings) single() (encoding, bool) {
	switch {
	case len(c.decode) > 0 || len(c.encode) > 1:
		return 0, false
	case len(c.encode) == 0:
		return encodeNone, true
	}
	return c.encode[0], true
}

// cost is what applying them to v counts as work of a run.
func (c *codings) cost(v []byte) int { return len(v) * (len(c.decode) + len(c.encode)) }

func (c *codings) apply(v []byte) []byte {
	for _, enc := range c.decode {
		v = decode(v, enc)
	}
	for _, enc := range c.encode {
		v = encode(v, enc)
	}
	return v
}
