package edge

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// ExplainRequest is a GET to be explained.
type ExplainRequest struct {
	URL    string   // http://host/path?query or https, as a visitor writes it; or /path?query, with Host among the fields
	Fields []string // header fields, "Name: value"
}

// Explanation tells what serving a request would do. Its JSON is documented in
// docs/explain.md.
type Explanation struct {
	URL    string           `json:"url"`  // canonical, its query filtered
	Site   ExplainedSite    `json:"site"` // that answers
	Rules  []ExplainedRule  `json:"rules"`
	Answer ExplainedAnswer  `json:"answer"`
	Key    *ExplainedKey    `json:"key"`    // of the pulled page; nil: none is pulled
	Tiers  []ExplainedTier  `json:"tiers"`  // in the order of look-up; none: no tier is asked
	Origin *ExplainedOrigin `json:"origin"` // nil: there is none, or it is never asked
}

// ExplainedSite is the site of the request's host.
type ExplainedSite struct {
	Where string   `json:"where"` // file:line
	Hosts []string `json:"hosts"` // none: every host
}

// ExplainedAnswer is what the visitor would get.
type ExplainedAnswer struct {
	By       string `json:"by"`                 // health, redirect, internal, file, published, memory, disk, memcache, origin or nobody
	Status   int    `json:"status,omitempty"`   // 0: what the page or the origin says
	Location string `json:"location,omitempty"` // of a redirect
	Stale    bool   `json:"stale,omitempty"`    // a pulled page after its time, while one fill runs
	Reason   string `json:"reason,omitempty"`   // code, as in Cache-Status, known before the origin is asked
	Why      string `json:"why"`                // the same for people
}

// ExplainedKey is the key of a pulled page. Vary comes on top.
type ExplainedKey struct {
	Site        string              `json:"site"` // its name in keys
	URL         string              `json:"url"`
	Parts       []ExplainedKeyField `json:"parts"`        // the listed cookies and headers
	NotKeepable bool                `json:"not_keepable"` // the last answer could not be kept, and that is remembered
}

// ExplainedKeyField is a listed cookie or header.
type ExplainedKeyField struct {
	Kind  string  `json:"kind"` // cookie or header
	Name  string  `json:"name"`
	Value *string `json:"value"` // nil: the request has none
}

// BadExplain says why a request cannot be explained: a visitor who sent it
// would be refused, or it cannot be sent.
type BadExplain struct {
	Reason string
	Cure   string
}

func (e *BadExplain) Error() string { return e.Reason + "; " + e.Cure }

// Explain tells what serving a GET would do, by the steps of serving, without
// asking an origin, and without a change to any tier, metric or log. memcached
// is asked, and the disk. The visitor counts as a stranger at 192.0.2.1, over
// plain HTTP or TLS as the URL says, so forwarding fields are not believed. An
// error is a *BadExplain. It may be called from any goroutine.
func (e *Edge) Explain(q ExplainRequest) (Explanation, error) {
	x, err := e.explain(&q)
	if err != nil {
		return Explanation{}, err
	}
	return x.said, nil
}

// explain goes the way of a request to its end.
func (e *Edge) explain(q *ExplainRequest) (*explainer, error) {
	ctx, err := q.context()
	if err != nil {
		return nil, err
	}
	r := new(request)
	r.begin(e, ctx)
	x := &explainer{request: r, said: Explanation{Rules: []ExplainedRule{}, Tiers: []ExplainedTier{}}}
	if err := x.route(); err != nil {
		return nil, err
	}
	if !x.answersItself() {
		x.fromTiers()
	}
	return x, nil
}

const (
	cureExplainURL  = "give http://host/path?query, escaped as a browser sends it"
	cureExplainHost = "give the host once: in the URL, or as the field Host"
)

// context makes the request that a server would have read.
func (q *ExplainRequest) context() (*fasthttp.RequestCtx, error) {
	head, err := q.head()
	if err != nil {
		return nil, err
	}
	ctx := new(fasthttp.RequestCtx)
	ctx.Init(new(fasthttp.Request), &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, nil)
	if err := ctx.Request.Header.Read(bufio.NewReaderSize(bytes.NewReader(head), max(len(head), 16))); err != nil {
		return nil, &BadExplain{"the request is refused with 400: " + err.Error(), "send what a browser would"}
	}
	return ctx, nil
}

// head writes the request as it would come over the wire.
func (q *ExplainRequest) head() ([]byte, error) {
	if strings.ContainsFunc(q.URL, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, &BadExplain{fmt.Sprintf("url %q: a space or control character", q.URL), cureExplainURL}
	}
	_, authority, absolute := absoluteForm([]byte(q.URL))
	if !absolute && !strings.HasPrefix(q.URL, "/") {
		return nil, &BadExplain{fmt.Sprintf("url %q: no http URL, and no path", q.URL), cureExplainURL}
	}
	hosts := 0
	b := append(append([]byte("GET "), q.URL...), " HTTP/1.1\r\n"...)
	if len(authority) > 0 {
		hosts++
		b = append(append(append(b, "Host: "...), authority...), "\r\n"...)
	}
	for _, f := range q.Fields {
		name, value, ok := strings.Cut(f, ":")
		if !ok || !isToken([]byte(name)) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, &BadExplain{fmt.Sprintf("header %q: no field", f), `give "Name: value"`}
		}
		if strings.EqualFold(name, "Host") {
			hosts++
		}
		b = append(append(append(append(b, name...), ": "...), strings.TrimSpace(value)...), "\r\n"...)
	}
	if hosts != 1 {
		return nil, &BadExplain{fmt.Sprintf("url %q: want one host, got %d", q.URL, hosts), cureExplainHost}
	}
	return append(b, "\r\n"...), nil
}

// explainer goes the way of a request and writes down what it sees.
type explainer struct {
	*request
	said Explanation
	tier string // that has the pulled page
}

// route is the way to site, URL and settings: the gate and steps 1 to 3.
func (x *explainer) route() error {
	h := &x.ctx.Request.Header
	if status, reason := gate(h); status != 0 {
		return &BadExplain{fmt.Sprintf("the request is refused with %d: %s", status, reason), cureExplainURL}
	}
	scheme, _, _ := absoluteForm(h.RequestURI())
	x.client.identify(h, x.ctx.RemoteAddr(), scheme == "https", nil)
	x.written = originForm(h)
	x.host = requestHost(h, x.client.scheme, x.host[:0])
	if x.site = x.state.router.find(x.host); x.site == nil {
		return &BadExplain{fmt.Sprintf("no site here has the host %q: visitors get 421", x.host), "give a host of the configuration"}
	}
	if err := x.resolve(x.written, x.site.options.TrailingSlash, false); err != nil {
		return &BadExplain{fmt.Sprintf("url %q is refused with 400: %v", x.written, err), cureExplainURL}
	}
	x.said.URL = x.canonicalURL()
	x.said.Site = ExplainedSite{Where: x.site.options.Where, Hosts: append([]string{}, x.site.options.Hosts...)}
	x.said.Rules = x.site.explainRules(x.url.path)
	return nil
}

func (x *explainer) canonicalURL() string {
	url := x.client.scheme + "://" + string(x.host) + string(x.url.raw)
	if len(x.url.query) > 0 {
		url += "?" + string(x.url.query)
	}
	return url
}

// answersItself is for what no page and no origin answers.
func (x *explainer) answersItself() bool {
	a := &x.said.Answer
	switch {
	case x.isHealthCheck():
		*a = ExplainedAnswer{By: "health", Status: fasthttp.StatusOK, Why: "it is health_path"}
	case x.settings.internal:
		*a = ExplainedAnswer{By: "internal", Status: fasthttp.StatusNotFound, Why: "internal" + x.setBy("internal") + ": only includes get it"}
	case x.redirected(x.site.options.TrailingSlash):
		res := &x.ctx.Response
		why := "trailing_slash: the canonical form has no slash at its end"
		if x.settings.redirect != "" {
			why = "redirect" + x.setBy("redirect")
		}
		*a = ExplainedAnswer{By: "redirect", Status: res.StatusCode(), Location: string(res.Header.Peek(fasthttp.HeaderLocation)), Why: why}
	default:
		return false
	}
	return true
}

// fromTiers asks the tiers, and says whether the origin is asked.
func (x *explainer) fromTiers() {
	if !x.fromCache() {
		x.said.Answer = ExplainedAnswer{By: "origin", Reason: "bypass", Why: "bypass" + x.setBy("bypass") + ": the request has " + x.bypassedBy()}
		x.origin(askForward)
		return
	}
	published := x.published()
	if x.keeps() {
		x.takeKey()
		x.wished = x.wishes()
		x.said.Key = x.explainKey()
	}
	page := x.pulled()
	asks := x.judge(published, page)
	x.origin(asks)
}

// asking is whether and how the origin is asked.
type asking uint8

const (
	askNobody     asking = iota
	askFill              // to keep the answer
	askBackground        // the same, while the visitor has a stale page
	askForward           // as the visitor sent it; the answer is not kept
)

func (a asking) String() string {
	return [...]string{askNobody: "no", askFill: "fill", askBackground: "background", askForward: "forward"}[a]
}

// judge says what answers: steps 5 and 6. published is the tier that has a
// published page, page the pulled one.
func (x *explainer) judge(published string, page found) asking {
	a := &x.said.Answer
	switch {
	case published != "":
		*a = ExplainedAnswer{By: published, Why: "a published page outranks a pulled one"}
		return askNobody
	case x.settings.origin == nil:
		*a = ExplainedAnswer{By: "nobody", Status: fasthttp.StatusNotFound, Why: "no page is published, and there is no origin"}
		return askNobody
	case !x.keeps():
		*a = ExplainedAnswer{By: "origin", Why: `no page is published, and cache = "off"` + x.setBy("cache")}
		return askForward
	case !x.pulls():
		*a = ExplainedAnswer{By: "origin", Why: "the request has an upgrade, or a condition that only the app may judge"}
		return askForward
	case x.unkeepable:
		return x.judgeUnkeepable()
	case page.Page != nil && x.suits(page, page.source != sourceStale):
		*a = ExplainedAnswer{By: x.tier, Why: fmt.Sprintf("fresh for %d more seconds", page.ttl)}
		if page.source == sourceStale {
			a.Stale, a.Why = true, "expired, and the request's max-stale takes it so"
		}
		return askNobody
	}
	x.stale, x.passedOver = page, page.Page != nil && page.source != sourceStale
	return x.judgeMiss()
}

// judgeUnkeepable is for a key whose last answer could not be kept.
func (x *explainer) judgeUnkeepable() asking {
	a := &x.said.Answer
	*a = ExplainedAnswer{By: "origin", Reason: "not-keepable", Why: "the last answer could not be kept, so no tier is asked and nobody waits for a fill"}
	if !x.mayFill() || x.particular() {
		return askForward
	}
	a.Why += "; this request has no cookies, Authorization, Range or condition, so its answer is kept if that can be"
	return askFill
}

// judgeMiss is for a key without a fresh page.
func (x *explainer) judgeMiss() asking {
	a := &x.said.Answer
	switch {
	case x.wished.onlyIfCached:
		*a = ExplainedAnswer{By: "nobody", Status: fasthttp.StatusGatewayTimeout, Why: "no tier has a page that will do, and the request says only-if-cached"}
		return askNobody
	case x.wished.noStore:
		*a = ExplainedAnswer{By: "origin", Reason: "request", Why: "no fresh page, and the request says no-store"}
		return askForward
	case !x.mayFill():
		*a = ExplainedAnswer{By: "origin", Why: "no fresh page, and a request with a body fills none"}
		return askForward
	case x.mayServeWhile():
		*a = ExplainedAnswer{By: x.tier, Stale: true, Why: "expired, and may be served while one fill runs"}
		return askBackground
	}
	*a = ExplainedAnswer{By: "origin", Why: x.whyMissed()}
	if x.stale.Page != nil && x.mayServeOnError(x.stale.Page, x.began) {
		a.Why += "; where that fails, the expired page is served"
	}
	return askFill
}

// whyMissed says why the origin is asked to fill, and how.
func (x *explainer) whyMissed() string {
	switch {
	case x.passedOver:
		return "a page is fresh, but the request's Cache-Control has the origin asked, as request_directives allows"
	case x.asksAlone():
		return "the page wants each use to be validated: each request asks if it is still good"
	case x.stale.Page != nil && x.stale.Page.HasValidator():
		return "no tier has a fresh page: one request asks if the expired one is still good"
	}
	return "no tier has a fresh page: one request fills it"
}

// explainKey shows the key.
func (x *explainer) explainKey() *ExplainedKey {
	keep := &x.settings.keep
	k := &ExplainedKey{Site: x.site.id, URL: x.said.URL, Parts: []ExplainedKeyField{}, NotKeepable: x.unkeepable}
	if keep.mode() == CookiesListed {
		for _, name := range keep.cookies.Names {
			value, ok := x.cookieFor(name)
			k.add("cookie", name, value, ok)
		}
	}
	for _, name := range keep.headers {
		value := x.line(name)
		k.add("header", name, value, value != nil)
	}
	return k
}

func (k *ExplainedKey) add(kind, name string, value []byte, ok bool) {
	f := ExplainedKeyField{Kind: kind, Name: name}
	if ok {
		s := string(value)
		f.Value = &s
	}
	k.Parts = append(k.Parts, f)
}

// bypassedBy names what made the request go past every tier.
func (x *explainer) bypassedBy() string {
	b := x.settings.bypass
	for _, name := range b.Headers {
		if len(x.ctx.Request.Header.PeekAll(name)) > 0 {
			return "the header " + name
		}
	}
	i := slices.IndexFunc(b.Cookies, func(name string) bool {
		_, ok := x.cookieFor(name)
		return ok
	})
	return "the cookie " + b.Cookies[i]
}

// setBy says which rule set a setting: " at file:line". "": none did.
func (x *explainer) setBy(name string) string {
	for _, r := range slices.Backward(x.said.Rules) {
		for _, s := range r.Settings {
			if s.Name == name {
				return " at " + r.Where
			}
		}
	}
	return ""
}
