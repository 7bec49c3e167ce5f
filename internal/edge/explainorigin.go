package edge

import (
	"bytes"
	"strings"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// ExplainedOrigin is what the origin would get, and what its answer would have
// to be so that it is kept.
type ExplainedOrigin struct {
	Name          string            `json:"name"`
	Asked         string            `json:"asked"` // no, fill, background or forward; no: the rest is what a fill would do if nobody had the page
	Method        string            `json:"method"`
	Target        string            `json:"target"`
	Fields        []string          `json:"fields"`                  // as they go out, but for an id that is made for each request
	Cookies       []ExplainedCookie `json:"cookies"`                 // of the request
	Authorization string            `json:"authorization,omitempty"` // withheld or forwarded; "": the request has none
	Replies       []ExplainedReply  `json:"replies"`                 // none: no answer is kept
}

// ExplainedCookie is a cookie of the request.
type ExplainedCookie struct {
	Name string `json:"name"`
	Sent string `json:"sent"` // keyed, forwarded or withheld
}

// ExplainedReply says what would become of an answer.
type ExplainedReply struct {
	Reply    string `json:"reply"` // its status and what counts of its head
	Kept     bool   `json:"kept"`
	TTL      int64  `json:"ttl,omitempty"`      // seconds
	Validate string `json:"validate,omitempty"` // of one that is kept: why each use of it asks the origin; the code of Cache-Status
	Stripped bool   `json:"stripped"`           // its Set-Cookie is not kept with it
	Reason   string `json:"reason,omitempty"`   // why it is not kept: the code of Cache-Status
}

// What becomes of cookies and Authorization.
const (
	sentKeyed     = "keyed"
	sentForwarded = "forwarded"
	sentWithheld  = "withheld"
)

// origin writes down the request to the origin. Where it is not asked, that is
// the fill there would be.
func (x *explainer) origin(asks asking) {
	if x.settings.origin == nil {
		return
	}
	fills := asks == askFill || asks == askBackground || asks == askNobody && x.keeps()
	v := x.snapshot()
	var o *outgoing
	var asked pagecache.Asked
	if fills {
		f := x.newFill(nil)
		if asks == askBackground {
			f.visitor = v.anonymous(&x.settings.keep)
		}
		f.offered = f.offers()
		o, asked = f.outgoing(), x.settings.keep.asked(f.visitor)
	} else {
		x.source = x.forwardSource()
		o = x.outgoing()
	}
	said := &ExplainedOrigin{
		Name: x.settings.origin.Name(), Asked: asks.String(),
		Method: string(o.method), Target: string(o.target), Fields: o.explainFields(v),
		Cookies: o.explainCookies(v), Replies: []ExplainedReply{},
	}
	if v.get("Authorization") != nil {
		said.Authorization = o.explainSecret("Authorization")
	}
	if fills {
		said.Replies = x.explainReplies(asked)
	}
	x.said.Origin = said
}

// explainFields are the lines of the head as they go out. An id that the
// visitor did not bring is another one for each request.
func (o *outgoing) explainFields(v *visitor) []string {
	lines := []string{}
	for i, line := range strings.Split(strings.TrimRight(string(o.appendHead(nil)), "\r\n"), "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		made := name == "X-Request-Id" || name == "Traceparent"
		if i == 0 || made && value != string(v.get(name)) {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// explainCookies tells of each cookie that the visitor sent, once.
func (o *outgoing) explainCookies(v *visitor) []ExplainedCookie {
	cookies, seen := []ExplainedCookie{}, map[string]bool{}
	for pair := range bytes.SplitSeq(v.line("Cookie"), []byte(";")) {
		name, _, _ := bytes.Cut(bytes.TrimSpace(pair), []byte("="))
		if len(name) == 0 || seen[string(name)] {
			continue
		}
		seen[string(name)] = true
		sent := o.explainSecret("Cookie")
		if o.fill != nil && o.fill.mode() == CookiesListed && named(name, o.fill.cookies.Names) {
			sent = sentKeyed
		}
		cookies = append(cookies, ExplainedCookie{Name: string(name), Sent: sent})
	}
	return cookies
}

// explainSecret says whether Cookie or Authorization of the visitor goes out.
func (o *outgoing) explainSecret(name string) string {
	if o.drops([]byte(name)) || o.visitor.get(name) == nil {
		return sentWithheld
	}
	return sentForwarded
}

// suppositions are answers that an app may give.
var suppositions = []struct {
	reply  string
	status int
	fields []string // names and values, in turn
}{
	{"200", 200, nil},
	{"200, Cache-Control: max-age=60", 200, []string{"Cache-Control", "max-age=60"}},
	{"200, Cache-Control: public, max-age=60", 200, []string{"Cache-Control", "public, max-age=60"}},
	{"200, Cache-Control: public, max-age=60, with Set-Cookie", 200, []string{"Cache-Control", "public, max-age=60", "Set-Cookie", "ssiedge=1"}},
	{"200, Cache-Control: no-cache, with ETag", 200, []string{"Cache-Control", "no-cache", "ETag", `"1"`}},
	{"200, Cache-Control: private", 200, []string{"Cache-Control", "private"}},
	{"200, Cache-Control: no-store", 200, []string{"Cache-Control", "no-store"}},
	{"404", 404, nil},
	{"302", 302, nil},
}

// explainReplies says what would become of some answers to a fill.
func (x *explainer) explainReplies(asked pagecache.Asked) []ExplainedReply {
	now := time.Now()
	said := make([]ExplainedReply, 0, len(suppositions))
	for _, s := range suppositions {
		r := &pagecache.Reply{Status: s.status, RequestTime: now, ResponseTime: now}
		for i := 0; i < len(s.fields); i += 2 {
			r.Fields = append(r.Fields, pagecache.Field{Name: []byte(s.fields[i]), Value: []byte(s.fields[i+1])})
		}
		d := pagecache.Decide(r, asked, &x.settings.keep.policy)
		e := ExplainedReply{Reply: s.reply, Kept: d.Keep, Stripped: d.Keep && d.StripPage}
		if d.Keep {
			e.TTL = max(0, d.TTL(now))
			if d.Validate != pagecache.ReasonNone {
				e.Validate = d.Validate.String()
			}
		} else {
			e.Reason = d.Reason.String()
		}
		said = append(said, e)
	}
	return said
}
