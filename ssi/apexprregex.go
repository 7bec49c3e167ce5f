package ssi

import "bytes"

// separators may stand for the slashes of a regular expression behind m.
const separators = "/#$%^|?!'\",;:._-"

// regex reads on behind =~ or !~. Variables are not inserted into the pattern, and $ is always the end of the text.
func (a *apParser) regex(left operand, not bool) (condition, *fault) {
	a.blanks()
	switch {
	case a.p+1 < len(a.s) && a.s[a.p] == 'm' && bytes.IndexByte([]byte(separators), a.s[a.p+1]) >= 0:
		a.p++
	case a.p == len(a.s) || a.s[a.p] != '/':
		return nil, a.wrong(a.p, "no regular expression behind the operator", "write /pattern/ or m#pattern#")
	}
	separator := a.s[a.p]
	from := a.p + 1
	end := from
	for end < len(a.s) && a.s[end] != separator {
		if a.s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(a.s) {
		return nil, a.wrong(a.p, "regular expression is not closed", "close it with "+string(separator))
	}
	a.p = end + 1
	flags, bad := a.flags()
	if bad != nil {
		return nil, bad
	}
	// A separator behind a backslash is itself for RE2 too.
	re, err := a.t.patterns.compile(flags + string(a.s[from:end]))
	if err != nil {
		return nil, err.fault(a.off + min(from+max(err.at-len(flags), 0), end))
	}
	return &match{left: left, re: re, not: not, t: a.t}, nil
}

// flags reads the letters behind a regular expression, and gives them as RE2 has them.
func (a *apParser) flags() (string, *fault) {
	at := a.p
	for a.p < len(a.s) && isWordByte(a.s[a.p]) {
		a.p++
	}
	flags := a.s[at:a.p]
	if len(flags) == 0 {
		return "", nil
	}
	if i := bytes.IndexFunc(flags, func(r rune) bool { return r != 'i' && r != 's' && r != 'm' }); i >= 0 || len(flags) > 3 {
		return "", a.wrong(at, quoted(flags)+" are no flags of a regular expression", "flags are i s m")
	}
	return "(?" + string(flags) + ")", nil
}
