package pagecache

import "bytes"

// mostLanguages bounds the members of an Accept-Language that are put in order;
// a longer one counts byte for byte.
const mostLanguages = 32

// language is a member of Accept-Language.
type language struct {
	tag    []byte
	weight int // thousandths
}

// before is the order of ours: by weight, then by tag.
func (l *language) before(m *language) bool {
	if l.weight != m.weight {
		return l.weight > m.weight
	}
	return compareFold(l.tag, m.tag) < 0
}

// appendLanguages appends what a value of Accept-Language says, so that those
// that say the same are the same bytes: tags in lower case, by weight and then
// by tag, since the order in which they stand means nothing (RFC 9110, section
// 12.5.4). A value that is malformed, or too long, counts as it is.
func appendLanguages(dst, value []byte) []byte {
	var space [mostLanguages]language
	list := space[:0]
	for rest := value; len(rest) > 0; {
		var member []byte
		member, rest, _ = bytes.Cut(rest, []byte(","))
		if len(trimSpace(member)) == 0 {
			continue
		}
		l, ok := readLanguage(member)
		if !ok || len(list) == mostLanguages {
			return appendListed(dst, value)
		}
		i := len(list)
		for list = append(list, l); i > 0 && l.before(&list[i-1]); i-- {
			list[i] = list[i-1]
		}
		list[i] = l
	}
	dst = append(dst, 1) // no value of a field begins so
	for i := range list {
		for _, c := range list[i].tag {
			dst = append(dst, lowerByte(c))
		}
		dst = append(dst, ';', byte(list[i].weight>>8), byte(list[i].weight))
	}
	return dst
}

// readLanguage reads "tag" or "tag;q=0.5".
func readLanguage(member []byte) (l language, ok bool) {
	tag, parameter, weighted := bytes.Cut(member, []byte(";"))
	l.tag, l.weight = trimSpace(tag), 1000
	if weighted {
		l.weight, ok = readWeight(trimSpace(parameter))
		if !ok {
			return l, false
		}
	}
	for _, c := range l.tag {
		if c = lowerByte(c); !isLower(c) && (c < '0' || c > '9') && c != '-' && c != '*' {
			return l, false
		}
	}
	return l, len(l.tag) > 0
}

// readWeight reads "q=0.123" in thousandths (RFC 9110, section 12.4.2).
func readWeight(parameter []byte) (thousandths int, ok bool) {
	name, value, _ := bytes.Cut(parameter, []byte("="))
	if !equalFold(name, "q") || len(value) == 0 || len(value) > len("0.123") || len(value) > 1 && value[1] != '.' {
		return 0, false
	}
	scale := 1000
	for i, c := range value {
		if i == 1 {
			continue
		}
		if c < '0' || c > '9' {
			return 0, false
		}
		thousandths += int(c-'0') * scale
		scale /= 10
	}
	return thousandths, thousandths <= 1000
}

// compareFold compares two texts in any case.
func compareFold(a, b []byte) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if d := int(lowerByte(a[i])) - int(lowerByte(b[i])); d != 0 {
			return d
		}
	}
	return len(a) - len(b)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
