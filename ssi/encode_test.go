package ssi

import "testing"

func TestEncode(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	kept := func(e encoding) (s string) {
		for _, c := range all {
			if out := encode([]byte{c}, e); len(out) == 1 && out[0] == c {
				s += string(rune(c))
			}
		}
		return s
	}
	const digits, upper, small = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
	// nginx: all but controls, blank, " # % ' < > \ ^ { | }, the backtick and what is above 126.
	if got, want := kept(encodeURL), "!$&()*+,-./"+digits+":;=?@"+upper+"[]_"+small+"~"; got != want {
		t.Errorf("url keeps %q, wanted %q", got, want)
	}
	if got, want := kept(encodeURLEncoded), "*-."+digits+upper+"_"+small; got != want {
		t.Errorf("urlencoded keeps %q, wanted %q", got, want)
	}
	if got := len([]rune(kept(encodeEntity))); got != 252 {
		t.Errorf("entity keeps %d bytes, wanted all but four", got)
	}
	for _, tt := range []struct {
		e        encoding
		in, want string
	}{
		{encodeURL, "a b<\xc3\xa9", "a%20b%3C%C3%A9"},
		{encodeURLEncoded, "a b<\xc3\xa9", "a+b%3c%c3%a9"},
		{encodeEntity, `a<b>&"'`, `a&lt;b&gt;&amp;&quot;'`},
		{encodeBase64, "ab", "YWI="},
		{encodeBase64, "", ""},
		{encodeNone, "<", "<"},
	} {
		if got := string(encode([]byte(tt.in), tt.e)); got != tt.want {
			t.Errorf("%s of %q is %q, wanted %q", encodingNames[tt.e], tt.in, got, tt.want)
		}
	}
}
