package conformance

import (
	"strings"
	"testing"
	"time"
)

// Section 7: dates.

const (
	imf    = "Mon, 02 Jan 2006 15:04:05 GMT"
	rfc850 = "Monday, 02-Jan-06 15:04:05 GMT"
	ansi   = "Mon Jan _2 15:04:05 2006"
)

// later is the time in an hour.
func later(layout string) string { return time.Now().Add(time.Hour).UTC().Format(layout) }

func earlier(layout string) string { return time.Now().Add(-time.Hour).UTC().Format(layout) }

func TestDAT_1(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, layout := range []string{imf, rfc850, ansi} {
		w.keeps("Expires: " + later(layout))
		w.asksAgain("Expires: " + earlier(layout))
		w.asksAgain(cc("max-age=60"), "Date: "+earlier(layout))
		target := w.target(ok("body", cc("max-age=60"), "Last-Modified: "+earlier(layout)))
		w.get(target)
		w.reused(target, "If-Modified-Since: "+time.Now().UTC().Format(layout)).is(304, "")
		w.reused(target, "If-Modified-Since: "+time.Now().Add(-2*time.Hour).UTC().Format(layout)).is(200, "body")
	}
}

func TestDAT_2(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, layout := range []string{imf, rfc850, ansi} {
		w.keeps("Expires: " + strings.ToUpper(later(layout)))
		w.keeps("Expires: " + strings.ToLower(later(layout)))
	}
	w.keeps("Expires: " + strings.Replace(later(imf), "GMT", "gMT", 1))
	w.keeps("Expires: " + strings.Replace(later(rfc850), "GMT", "Gmt", 1))
}

func TestDAT_3(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, zone := range []string{"UTC", "AEST", "EST", "+0000", "Z", "GMT+1"} {
		w.asksAgain("Expires: " + strings.Replace(later(imf), "GMT", zone, 1))
		w.asksAgain("Expires: " + strings.Replace(later(rfc850), "GMT", zone, 1))
	}
}

// A year in two digits that would be more than 50 years ahead is of the past
// century, whenever now is.
func TestDAT_4(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	w.keeps("Expires: " + time.Now().AddDate(48, 0, 0).UTC().Format(rfc850))
	w.keeps("Expires: " + time.Now().AddDate(10, 0, 0).UTC().Format(rfc850))
	w.asksAgain("Expires: " + time.Now().AddDate(52, 0, 0).UTC().Format(rfc850))
	w.asksAgain("Expires: " + time.Now().AddDate(-10, 0, 0).UTC().Format(rfc850))
}

func TestDAT_5(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{
		later("Mon, 02 Jan 06 15:04:05 GMT"), later("Mon 02 Jan 2006 15:04:05 GMT"), later("Mon,  02 Jan 2006 15:04:05 GMT"),
		later("Mon, 02  Jan 2006 15:04:05 GMT"), later("Mon, 02 Jan 2006  15:04:05 GMT"), later("Mon, 02 Jan 2006 15:04:05  GMT"),
		later("Mon, 02-Jan-2006 15:04:05 GMT"), later("Mon, 02 Jan 2006 15.04.05 GMT"), later("Mon, 02 Jan 2006 15:04 GMT"),
		later("Mon, 02 Jan 2006 ") + "7:04:05 GMT", later("Mon, 02 Jan 2006 15:04:05"), later("2006-01-02T15:04:05Z"),
		later("Mon, 2 Jan 2006 15:04:05 GMT") + " x", "Mon, 32 Dec 2090 15:04:05 GMT", "Mon, 30 Feb 2090 15:04:05 GMT",
	} {
		w.asksAgain("Expires: " + value)
	}
}

func TestDAT_7(t *testing.T) {
	t.Parallel()
	w := given(t, nil)
	for _, value := range []string{"Tue, 19 Jan 2038 03:14:08 GMT", "Sun, 21 Nov 2286 04:46:39 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		w.keeps("Expires: " + value)
	}
	w.on("/p", ok("x", cc("max-age=60"), "Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT"))
	w.get("/p")
	w.reused("/p", "If-Modified-Since: Tue, 19 Jan 2038 03:14:08 GMT").is(200, "x")
}

func TestDAT_8(t *testing.T) {
	t.Parallel()
	w := given(t, nil, "[[site.rule]]\npath = [\"/made/*\"]\nexpires = \"1h\"")
	g := w.asksAgain("-Date")
	for _, name := range []string{"Date", "Expires"} {
		value := g.header.Get(name)
		if made, err := time.Parse(imf, value); err != nil || made.Format(imf) != value {
			t.Errorf("%s is %q, want it in the form of %q", name, value, imf)
		}
	}
}
