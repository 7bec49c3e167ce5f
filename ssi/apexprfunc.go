package ssi

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
)

// funcCall is a function of one operand.
type funcCall struct {
	f   func(d *document, arg []byte) []byte
	arg operand
}

func (c *funcCall) value(d *document) ([]byte, error) {
	arg, err := c.arg.value(d)
	if err != nil {
		return nil, err
	}
	out := c.f(d, arg)
	if len(out) > maxExpanded {
		return nil, errExpanded
	}
	return out, d.run.spend(len(arg) + len(out))
}

// functions of ap_expr, by name in lower case. An argument that one cannot read gives nothing, as in Apache.
var functions = [...]struct {
	name string
	f    func(d *document, arg []byte) []byte
}{
	{"v", variableNamed}, {"env", variableNamed}, {"reqenv", variableNamed},
	{"http", headerNamed}, {"req", headerNamed}, {"req_novary", headerNamed},
	{"tolower", func(_ *document, arg []byte) []byte { return mapped(arg, lower) }},
	{"toupper", func(_ *document, arg []byte) []byte { return mapped(arg, upper) }},
	{"escape", func(_ *document, arg []byte) []byte { return encode(arg, encodeURLApache) }},
	{"unescape", func(_ *document, arg []byte) []byte { return unescapePath(arg) }},
	{"base64", func(_ *document, arg []byte) []byte { return encode(arg, encodeBase64) }},
	{"unbase64", func(_ *document, arg []byte) []byte { return decodeBase64(arg) }},
	{"md5", func(_ *document, arg []byte) []byte { sum := md5.Sum(arg); return hex.AppendEncode(nil, sum[:]) }},
	{"sha1", func(_ *document, arg []byte) []byte { sum := sha1.Sum(arg); return hex.AppendEncode(nil, sum[:]) }},
}

func mapped(s []byte, f func(byte) byte) []byte {
	out := make([]byte, len(s))
	for i, c := range s {
		out[i] = f(c)
	}
	return out
}

// function compiles the call of a function that stands at at.
func (a *apParser) function(name []byte, at int, arg operand) (operand, *fault) {
	for i := range functions {
		if equalFold(name, functions[i].name) {
			return &funcCall{functions[i].f, arg}, nil
		}
	}
	switch lowerString(name) {
	case "file", "filesize":
		return nil, &fault{off: a.off + at, kind: KindRefused, message: clip(name) + " reads files, which pages may not", cure: "include the file instead"}
	case "osenv", "note", "resp":
		return nil, &fault{off: a.off + at, kind: KindRefused, message: clip(name) + " shows what is the server's own", cure: "have the app put it into a header or the page"}
	}
	return nil, a.wrong(at, quoted(name)+" is no function",
		"functions are v http tolower toupper escape unescape base64 unbase64 md5 sha1")
}

// variableNamed is a variable of the page, else of the surroundings.
func variableNamed(d *document, name []byte) []byte {
	v, _ := d.variable(lowerString(name))
	return v
}

// headerNamed is a header of the visitor's request.
func headerNamed(d *document, name []byte) []byte {
	v, _ := outside("http_" + lowerString(bytes.ReplaceAll(name, []byte("-"), []byte("_")))).value(d)
	return v
}

// unescapePath decodes %XX but for %2F; a broken or zero byte spoils the whole.
func unescapePath(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		var b [1]byte
		if i+2 >= len(s) {
			return nil
		}
		if _, err := hex.Decode(b[:], s[i+1:i+3]); err != nil || b[0] == 0 {
			return nil
		}
		if b[0] == '/' {
			out = append(out, s[i:i+3]...)
		} else {
			out = append(out, b[0])
		}
		i += 2
	}
	return out
}
