package edge

import (
	"fmt"

	"github.com/ssiedge/ssiedge/pagecache"
)

// States of a tier.
const (
	tierHit   = "hit"
	tierStale = "stale"
	tierMiss  = "miss"
	tierOff   = "off" // nothing of this URL is looked for there
)

// ExplainedTier is what one tier has for the request.
type ExplainedTier struct {
	Tier   string `json:"tier"`             // file, published, memory, disk or memcache, as in Cache-Status
	State  string `json:"state"`            // hit, stale, miss or off
	Name   string `json:"name,omitempty"`   // of a file, below root; of a memcached value: its key
	Bytes  int64  `json:"bytes,omitempty"`  // of the body
	Status int    `json:"status,omitempty"` // of a pulled page
	TTL    *int64 `json:"ttl,omitempty"`    // seconds, of a pulled page; negative: stale
	Age    *int64 `json:"age,omitempty"`    // seconds, of a pulled page
	Why    string `json:"why,omitempty"`
}

func (x *explainer) tell(t ExplainedTier) { x.said.Tiers = append(x.said.Tiers, t) }

// published looks for a published page, and names the tier that has one.
func (x *explainer) published() (tier string) {
	file := x.explainFile()
	x.tell(file)
	if file.State == tierHit {
		tier = file.Tier
	}
	if x.inMemcached() && tier == "" {
		tier = "published"
	}
	return tier
}

func (x *explainer) explainFile() ExplainedTier {
	t := ExplainedTier{Tier: "file", State: tierMiss}
	files := x.site.files
	switch {
	case files == nil:
		t.State, t.Why = tierOff, "the site has no root"
		return t
	case x.url.encoded:
		t.Why = "a path with an encoded slash or backslash matches no file"
		return t
	}
	exactly := x.answersExactly()
	if name, size, ok := files.Name(x.url.path, exactly); ok {
		t.State, t.Name, t.Bytes = tierHit, name, size
		return t
	}
	t.Why = "no file has a name of the path"
	if name, size, ok := files.Name(x.url.path, false); exactly && ok {
		t.Name, t.Bytes = name, size
		t.Why = "a query is left, and the file is not the path itself"
	}
	return t
}

// inMemcached asks memcached for what an app published there.
func (x *explainer) inMemcached() (hit bool) {
	if x.site.published == nil {
		x.tell(ExplainedTier{Tier: "published", State: tierOff, Why: "the site has no published keys"})
		return false
	}
	looks := x.site.published.Look(x.publishedKey(x.host, x.client.scheme))
	if len(looks) == 0 {
		x.tell(ExplainedTier{Tier: "published", State: tierMiss, Why: "no key that memcached could have: a query is left that none names, or it is too long"})
	}
	for i := range looks {
		l := &looks[i]
		t := ExplainedTier{Tier: "published", State: tierMiss, Name: l.Key, Bytes: int64(l.Bytes)}
		switch {
		case l.IsPage():
			t.State, hit = tierHit, true
		case l.Err != nil:
			t.Why = "memcached does not answer: " + l.Err.Error()
		case l.Flags != 0:
			t.Why = fmt.Sprintf("the value has flags %d, so it is no page", l.Flags)
		default:
			t.Why = "memcached has no bytes under the key"
		}
		x.tell(t)
	}
	return hit
}

// pulled looks for the pulled page in every tier, and gives the one that would
// be found: the first fresh one, else the first.
func (x *explainer) pulled() (page found) {
	if !x.keeps() {
		why := "there is no origin"
		if x.settings.origin != nil {
			why = `cache = "off"` + x.setBy("cache")
		}
		x.tell(ExplainedTier{Tier: pagecache.MemoryTier, State: tierOff, Why: why})
		return found{}
	}
	k, purged := &x.keyed, false
	asked := k.at(x.began)
	asked.Check = func(p *pagecache.Page) pagecache.Verdict {
		v := k.verdict(p)
		purged = purged || v == pagecache.Gone
		return v
	}
	x.state.store.pulled.Look(&asked, func(tier string, p *pagecache.Page) {
		f, fresh := k.found(p, tier, x.began)
		x.tell(x.explainPulled(tier, f, purged))
		if f.Page != nil && (page.Page == nil || fresh && page.source == sourceStale) {
			page, x.tier = f, tier
		}
		purged = false
	})
	return page
}

func (x *explainer) explainPulled(tier string, f found, purged bool) ExplainedTier {
	t := ExplainedTier{Tier: tier, State: tierMiss}
	switch {
	case f.Page == nil && purged:
		t.Why = "there is one, but it was purged, or nobody knows that it was not"
		return t
	case f.Page == nil:
		return t
	}
	freshness := x.keyed.freshness(f.Page)
	age := freshness.Age(x.began)
	t.State, t.Status, t.Bytes, t.TTL, t.Age = tierHit, f.Page.Status, f.Page.Length, &f.ttl, &age
	if f.source != sourceStale {
		return t
	}
	t.State, t.Why = tierStale, "expired"
	if x.keyed.verdict(f.Page) == pagecache.Expired {
		t.Why = "purged softly"
	}
	switch {
	case x.keyed.mayServeWhile(f.Page, x.began):
		t.Why += "; may be served while one fill runs"
	case x.keyed.mayServeOnError(f.Page, x.began):
		t.Why += "; may be served where the origin fails"
	}
	return t
}
