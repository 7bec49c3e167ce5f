package edge

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/pagecache"
)

// parts gathers what the page and its fragments say of keeping the assembled
// answer. Fragments arrive on goroutines of their own.
type parts struct {
	mu       sync.Mutex
	limits   restrictions
	lifetime int64    // seconds that remain; smallest of the parts that state one
	stated   bool     // some part states a lifetime
	personal bool     // something of the visitor that no URL names was read
	own      bool     // cookies of a fragment go to the visitor, or the answer stands and falls with one
	vary     [][]byte // tokens, as first written
}

// restrictions are the directives that forbid something (RFC 9111, section
// 5.2.2); the answer carries every one that any part states.
type restrictions uint8

const (
	noStore restrictions = 1 << iota
	noCache
	private
	mustRevalidate
	proxyRevalidate
	noTransform
)

// restrictionNames are in the order in which they are written.
var restrictionNames = []struct {
	bit  restrictions
	name string
}{
	{private, "private"}, {noStore, "no-store"}, {noCache, "no-cache"},
	{mustRevalidate, "must-revalidate"}, {proxyRevalidate, "proxy-revalidate"}, {noTransform, "no-transform"},
}

// said is what the head of a part says of how long it may be kept. Its slices
// are the head's.
type said struct {
	control       cacheControl
	expires, date []byte
	age           int64 // seconds
}

// remaining is what is left of the lifetime that the part states.
func (s *said) remaining(now time.Time) (seconds int64, stated bool) {
	seconds, stated = s.control.lifetime, s.control.stated
	if !stated {
		seconds, stated = s.expiresIn()
	}
	if !stated {
		return 0, false
	}
	return max(0, seconds-max(s.age, s.apparentAge(now))), true
}

// add counts one part in, the page or a fragment, by its head.
func (p *parts) add(h *fasthttp.ResponseHeader, now time.Time) {
	s := said{
		control: parseCacheControl(h.PeekAll(fasthttp.HeaderCacheControl)),
		expires: h.Peek(fasthttp.HeaderExpires), date: h.Peek(fasthttp.HeaderDate), age: age(h),
	}
	p.count(&s, now)
	for _, line := range h.PeekAll(fasthttp.HeaderVary) {
		p.addVary(line)
	}
}

// addPage is add for a pulled page. It reads the head as it is kept, which is
// many times cheaper than to make a header of it.
func (p *parts) addPage(page *pagecache.Page, now time.Time) {
	s := said{expires: page.Field("expires"), date: page.Field("date"), age: page.Age(now)}
	for line := range page.Lines("cache-control") {
		s.control.addLine(line)
	}
	p.count(&s, now)
	for line := range page.Lines("vary") {
		p.addVary(line)
	}
}

// count counts in what a part says.
func (p *parts) count(s *said, now time.Time) {
	remaining, stated := s.remaining(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits |= s.control.limits
	if stated && (!p.stated || remaining < p.lifetime) {
		p.lifetime, p.stated = remaining, true
	}
}

func (p *parts) addVary(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(line) > 0 {
		var name []byte
		name, line, _ = bytes.Cut(line, []byte(","))
		name = bytes.TrimSpace(name)
		if len(name) == 0 || p.varies(name) {
			continue
		}
		p.vary = append(p.vary, bytes.Clone(name))
	}
}

func (p *parts) varies(name []byte) bool {
	for _, v := range p.vary {
		if equalFold(v, string(name)) {
			return true
		}
	}
	return false
}

// readPersonal notes that a run read something of the visitor that is not in
// the page's URL.
func (p *parts) readPersonal() {
	p.mu.Lock()
	p.personal = true
	p.mu.Unlock()
}

// alone notes that the answer is this visitor's: nobody may keep it, for cookies
// of a fragment go out with it, or it stands and falls with a fragment.
func (p *parts) alone() {
	p.mu.Lock()
	p.own = true
	p.mu.Unlock()
}

// forbid adds restrictions that the edge itself has reason for.
func (p *parts) forbid(limits restrictions) {
	p.mu.Lock()
	p.limits |= limits
	p.mu.Unlock()
}

// mayTag says whether an answer that is complete has use for an entity-tag: not
// one that nobody may keep.
func (p *parts) mayTag(failed bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.own && !failed && p.limits&noStore == 0
}

// write states on an assembled answer what its parts allow. complete is false
// where some include is still pending: then nothing is known, and nobody may
// keep the answer. bound is a rule's expires, which may only shorten.
func (p *parts) write(h *fasthttp.ResponseHeader, complete, failed bool, bound *expiry) {
	for _, name := range []string{"Expires", "Pragma", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges", "Age", "Cdn-Cache-Control"} {
		h.Del(name)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.vary) > 0 {
		replaceField(h, fieldVary, bytes.Join(p.vary, []byte(", ")))
	}
	if p.own {
		replaceField(h, fieldCacheControl, []byte("private, no-store"))
		return
	}
	if !complete {
		replaceField(h, fieldCacheControl, []byte("private, no-cache"))
		return
	}
	if value := p.cacheControl(failed, bound); len(value) > 0 {
		replaceField(h, fieldCacheControl, value)
	} else {
		h.Del("Cache-Control")
	}
}

func (p *parts) cacheControl(failed bool, bound *expiry) []byte {
	limits := p.limits
	if p.personal {
		limits |= private
	}
	if failed {
		limits |= noStore
	}
	var b []byte
	for _, r := range restrictionNames {
		if limits&r.bit != 0 {
			b = append(append(b, r.name...), ", "...)
		}
	}
	if p.stated && limits&noStore == 0 {
		lifetime := p.lifetime
		if bound != nil {
			lifetime = min(lifetime, int64(bound.after.Seconds()))
		}
		b = strconv.AppendInt(append(b, "max-age="...), lifetime, 10)
	}
	return bytes.TrimSuffix(b, []byte(", "))
}

// expiresIn is the lifetime that Expires states: from the answer's own Date,
// not from our clock. What is no date has expired.
func (s *said) expiresIn() (seconds int64, stated bool) {
	if len(s.expires) == 0 {
		return 0, false
	}
	expires, ok := parseHTTPDate(s.expires)
	date, dated := parseHTTPDate(s.date)
	if !ok || !dated {
		return 0, true
	}
	return max(0, expires-date), true
}

// apparentAge is how old an answer is by its own Date (RFC 9111, section 4.2.3),
// which an assembled one does not pass on. A Date states whole seconds, so one
// that is no more than that old says nothing.
func (s *said) apparentAge(now time.Time) int64 {
	date, ok := parseHTTPDate(s.date)
	if old := now.Unix() - date; ok && old > 1 {
		return old
	}
	return 0
}

func age(h *fasthttp.ResponseHeader) int64 {
	n, err := strconv.ParseUint(string(h.Peek(fasthttp.HeaderAge)), 10, 31)
	if err != nil {
		return 0
	}
	return int64(n)
}
