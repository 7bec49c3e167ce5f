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
	// Apache: those without ? [ ], and with the apostrophe.
	if got, want := kept(encodeURLApache), "!$&'()*+,-./"+digits+":;=@"+upper+"_"+small+"~"; got != want {
		t.Errorf("Apache's url keeps %q, wanted %q", got, want)
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
		{encodeURLApache, "a b<\xc3\xa9", "a%20b%3c%c3%a9"},
		{encodeURLEncoded, "a b<\xc3\xa9", "a+b%3c%c3%a9"},
		{encodeEntity, `a<b>&"'`, `a&lt;b&gt;&amp;&quot;'`},
		{encodeBase64, "ab", "YWI="},
		{encodeBase64, "", ""},
		{encodeNone, "<", "<"},
	} {
		if got := string(encode([]byte(tt.in), tt.e)); got != tt.want {
			t.Errorf("%s of %q is %q, wanted %q", encodingNames[tt.e%5], tt.in, got, tt.want)
		}
	}
}

// The wanted values are what mod_include printed.
func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		e        encoding
		in, want string
	}{
		{encodeNone, "%41", "%41"},
		{encodeURLApache, "a%20b%2fc%3", "a b/c%3"},
		{encodeURLApache, "%%41%4%zz%", "%A%4%zz%"},
		{encodeURLApache, "a+b%00c", "a+b"},
		{encodeURLEncoded, "a+b%2B", "a b+"},
		{encodeURLEncoded, "a", "a"},
		{encodeBase64, "YSZi", "a&b"},
		{encodeBase64, "YSZi!!!!x", "a&b"},
		{encodeBase64, "YQ==", "a"},
		{encodeBase64, "YWI", "ab"},
		{encodeBase64, "YSZiY", "a&b"},
		{encodeBase64, "", ""},
		{encodeEntity, "&lt;&gt;&amp;&quot;", `<>&"`},
		{encodeEntity, "&Agrave;&Aring;&eth;&szlig;&yuml;", "\xc0\xc5\xf0\xdf\xff"},
		{encodeEntity, "&#65;&#233;&#9;", "A\xe9\t"},
		{encodeEntity, "a&#1;&#11;&#127;&#160;&#256;&#x41;&#;&#4a;b", "ab"},
		{encodeEntity, "&nbsp;&foo;&LT;&-;&;&lt &#65", "&nbsp;&foo;&LT;&-;&;&lt &#65"},
		{encodeEntity, "&amp;lt;", "&lt;"},
	} {
		in := []byte(tt.in)
		if got := string(decode(in, tt.e)); got != tt.want || string(in) != tt.in {
			t.Errorf("decoding %d of %q is %q, wanted %q", tt.e, tt.in, got, tt.want)
		}
	}
}
