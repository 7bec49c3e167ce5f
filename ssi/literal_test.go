package ssi

import (
	"fmt"
	"strings"
	"testing"
)

func TestLiterals(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"none", "text <!--#echo var=a -->", ""},
		{"places", "<!--#include virtual='/a' -->\n <!--#include file=\"b.html\" wait=no -->\n<!--#include file='b.html' -->", "/a 1:1\nb.html 3:1"},
		{"variables", "<!--#include virtual='/$a' --><!--#include virtual='/${a}' --><!--#include virtual='/\\$a' -->", "/$a 1:63"},
		{"empty", "<!--#include virtual='' -->", " 1:1"},
		{"wrong ones are none", "<!--#include file='../a' --><!--#include virtual=/a set=x stub=y --><!--#include -->", ""},
		{"list", "<!--#include virtual=/a file=../b virtual=/$c file=d onerror=/e --><!--#include virtual=/f -->", "/a 1:1\nd 1:1\n/e 1:1?\n/f 1:68"},
		{"in branches", "<!--#if expr=$a --><!--#include virtual=/a --><!--#elif expr=$b --><!--#include virtual=/b --><!--#else -->" +
			"<!--#include virtual=/c --><!--#endif --><!--#include virtual=/d -->", "/a 1:20?\n/b 1:68?\n/c 1:108?\n/d 1:149"},
		{"in nested branches", "<!--#if expr=$a --><!--#if expr=$b -->x<!--#endif --><!--#include virtual=/a --><!--#endif -->", "/a 1:54?"},
		{"in a block", "<!--#block name=b --><!--#include virtual=/a --><!--#endblock --><!--#include virtual=/b stub=b -->", "/a 1:22?\n/b 1:66"},
		{"in an if that is not closed", "<!--#include virtual=/a --><!--#if expr=$a --><!--#include virtual=/b -->", "/a 1:1\n/b 1:47?"},
		{"behind a wrong condition", "<!--#if expr='(' --><!--#include virtual=/a --><!--#endif --><!--#include virtual=/b -->", "/a 1:21?\n/b 1:62"},
		{"behind a second else", "<!--#if expr=$a --><!--#else --><!--#else --><!--#endif --><!--#include virtual=/a -->", "/a 1:60"},
	} {
		var got []string
		for _, l := range Compile("page", []byte(c.src), Options{}).Literals() {
			mark := ""
			if l.Conditional {
				mark = "?"
			}
			got = append(got, fmt.Sprintf("%s %d:%d%s", l.URL, l.Line, l.Col, mark))
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A literal outlives the bytes that it was read from.
func TestLiteralsAreCopies(t *testing.T) {
	src := []byte("<!--#include virtual='/abc' -->")
	list := Compile("page", src, Options{}).Literals()
	clear(src)
	if len(list) != 1 || list[0].URL != "/abc" {
		t.Errorf("got %v, want /abc", list)
	}
}
