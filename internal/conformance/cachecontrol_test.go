package conformance

import "testing"

// Section 3: how Cache-Control is read.

func cc(value string) string { return "Cache-Control: " + value }

func TestCCP_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("foo"), cc("max-age=60"))
	w.keeps(cc("max-age=0"), cc("s-maxage=60"))
	w.asksAgain(cc("max-age=60"), cc("no-store"))
	w.asksAgain(cc("max-age=60"), cc("s-maxage=0"))
}

func TestCCP_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("MaX-aGe=60"))
	w.keeps(cc("S-MAXAGE=60"))
	w.asksAgain(cc("max-age=60, No-Store"))
	w.asksAgain(cc("max-age=60, NO-CACHE"))
	w.asksAgain(cc("max-age=60, PRIVATE"))
}

func TestCCP_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc(`foo="max-age=60"`))
	w.asksAgain(cc(`foo="a, max-age=60, b"`))
	w.asksAgain(cc(`foo="\", max-age=60"`))
	w.keeps(cc(`foo="a, no-store, b", max-age=60`))
	w.keeps(cc(`max-age=60, foo="\", no-store"`))
}

func TestCCP_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, unknown := range []string{"foobar", "foo=bar", `foo="b a r"`, "no-stores", "privates", "x-no-cache=60"} {
		w.keeps(cc(unknown + ", max-age=60"))
		w.keeps(cc("max-age=60, " + unknown))
	}
}

func TestCCP_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc(`max-age="60"`))
	w.keeps(cc(`max-age=0, s-maxage="60"`))
	w.asksAgain(cc(`max-age="0"`))
}

func TestCCP_6(t *testing.T) {
	t.Parallel()
	given(t, nil).asksAgain(cc("max-age='60'"))
}

func TestCCP_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps(cc("max-age=003600"))
	for _, value := range []string{"-3600", "+3600", "3600.0", "3.6", "a100", "100a", "0x60", "", `""`, "1 0"} {
		w.asksAgain(cc("max-age=" + value))
	}
	w.asksAgain(cc("max-age"))
}

func TestCCP_8(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"2147483647", "2147483648", "2147483649", "4294967296", "99999999999", "18446744073709551616"} {
		w.keeps(cc("max-age=" + value))
	}
}

func TestCCP_9(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc("max-age=-1"), "Expires: "+date(3600e9))
	w.asksAgain(cc("max-age=60s"), "Expires: "+date(3600e9))
	w.asksAgain(cc("s-maxage=x, max-age=60"), "Expires: "+date(3600e9))
}

func TestCCP_10(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc("max-age=10, max-age=3600"), "Age: 100")
	w.asksAgain(cc("max-age=10"), cc("max-age=3600"), "Age: 100")
	w.keeps(cc("max-age=3600, max-age=10"), "Age: 100") // the first counts
}

func TestCCP_11(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc("max-age=60, no-store, public"))
	w.asksAgain(cc("max-age=60, no-cache, public"))
	w.asksAgain(cc("public, max-age=60, private"))
	w.asksAgain(cc("private, public, s-maxage=60"))
}

func TestCCP_12(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.asksAgain(cc("max-age =60"))
	w.asksAgain(cc("max-age= 60"))
	w.asksAgain(cc("max-age = 60"))
	w.asksAgain(cc("s-maxage= 60"))
}

func TestCCP_14(t *testing.T) {
	t.Parallel()
	lines := []string{`max-age=60, Foo="a,b" ,, bar`, "MUST-understand=x"}
	w := given(t, ok("x", cc(lines[0]), cc(lines[1])))
	w.fetched("/p", cc("max-age=0, Foo=1"), cc("only-if-bar")).has("Cache-Control", lines...)
	w.reused("/p").has("Cache-Control", lines...)
	if got := w.last().Header.Values("Cache-Control"); len(got) != 2 || got[0] != "max-age=0, Foo=1" || got[1] != "only-if-bar" {
		t.Errorf("the app got %q", got)
	}
}
