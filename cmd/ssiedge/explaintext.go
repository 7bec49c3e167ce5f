package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// explainText prints an Explanation in paragraphs, each under its word.
type explainText struct{ w *tabwriter.Writer }

// printExplanation prints x for people.
func printExplanation(w io.Writer, x *edge.Explanation) {
	t := explainText{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	hosts := strings.Join(x.Site.Hosts, ", ")
	if hosts == "" {
		hosts = "every host"
	}
	t.line("url", "%s", x.URL)
	t.line("site", "%s (%s)", x.Site.Where, hosts)
	for i := range x.Rules {
		t.rule(&x.Rules[i])
	}
	t.answer(&x.Answer)
	if x.Key != nil {
		t.line("key", "%s", keyText(x.Key))
	}
	for i := range x.Tiers {
		t.tier(&x.Tiers[i])
	}
	if x.Origin != nil {
		t.origin(x.Origin)
	}
	t.w.Flush()
}

// line prints a line under a word; "": it goes on with the paragraph.
func (t *explainText) line(word, format string, args ...any) {
	fmt.Fprintf(t.w, "%s\t%s\n", word, fmt.Sprintf(format, args...))
}

func (t *explainText) rule(r *edge.ExplainedRule) {
	t.line("rule", "%s  path %s", r.Where, strings.Join(r.Paths, " "))
	for _, s := range r.Settings {
		by := ""
		if s.OverruledBy != "" {
			by = "  (overruled at " + s.OverruledBy + ")"
		}
		t.line("", "  %s = %s%s", s.Name, s.Value, by)
	}
}

func (t *explainText) answer(a *edge.ExplainedAnswer) {
	text := a.By
	if a.Stale {
		text += ", stale"
	}
	if a.Status != 0 {
		text += fmt.Sprintf(", %d", a.Status)
	}
	if a.Location != "" {
		text += " to " + a.Location
	}
	if a.Reason != "" {
		text += ", " + a.Reason
	}
	t.line("answer", "%s: %s", text, a.Why)
}

func keyText(k *edge.ExplainedKey) string {
	text := k.URL
	for _, p := range k.Parts {
		text += fmt.Sprintf("; %s %s %s", p.Kind, p.Name, valueText(p.Value))
	}
	if k.NotKeepable {
		text += " (known as not keepable)"
	}
	return text
}

func (t *explainText) tier(x *edge.ExplainedTier) {
	var parts []string
	if x.Name != "" {
		parts = append(parts, x.Name)
	}
	if x.Status != 0 {
		parts = append(parts, fmt.Sprint(x.Status))
	}
	if x.Bytes != 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", x.Bytes))
	}
	if x.TTL != nil && x.Age != nil {
		parts = append(parts, fmt.Sprintf("age %d s, ttl %d s", *x.Age, *x.TTL))
	}
	if x.Why != "" {
		parts = append(parts, x.Why)
	}
	text := x.State
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	t.line("tier", "%s %s", x.Tier, text)
}

// askedTexts says of Asked what it means.
var askedTexts = map[string]string{
	"no":         "not asked; if nobody had the page, this fill would go out",
	"fill":       "asked, to keep the answer",
	"background": "asked in the background, to keep the answer",
	"forward":    "asked as the visitor sent it; the answer is not kept",
}

func (t *explainText) origin(o *edge.ExplainedOrigin) {
	t.line("origin", "%q is %s", o.Name, askedTexts[o.Asked])
	t.line("", "  %s %s", o.Method, o.Target)
	for _, f := range o.Fields {
		t.line("", "  %s", f)
	}
	for _, c := range o.Cookies {
		t.line("cookie", "%s is %s", c.Name, c.Sent)
	}
	if o.Authorization != "" {
		t.line("auth", "Authorization is %s", o.Authorization)
	}
	for _, r := range o.Replies {
		t.line("reply", "%s: %s", r.Reply, replyText(&r))
	}
}

func replyText(r *edge.ExplainedReply) string {
	switch {
	case !r.Kept:
		return "not kept, " + r.Reason
	case r.Validate != "":
		return "kept, and each use asks the app first, " + r.Validate
	case r.Stripped:
		return fmt.Sprintf("kept for %d s, without its Set-Cookie", r.TTL)
	}
	return fmt.Sprintf("kept for %d s", r.TTL)
}
