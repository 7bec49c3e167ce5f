package pagecache

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// asked is a request for a page, of a visitor or of a crawler.
type asked struct {
	key     string
	size    int
	visitor bool
}

const largestAsked = 8 << 20 // bytes of a body

// plainLRU is what the tier would be without admission: the least recently used
// page goes, whatever comes.
type plainLRU struct {
	size, used int64
	order      list.List
	pages      map[string]*list.Element
}

type plainPage struct {
	key  string
	cost int64
}

func (c *plainLRU) get(key string) bool {
	e, ok := c.pages[key]
	if ok {
		c.order.MoveToFront(e)
	}
	return ok
}

func (c *plainLRU) put(key string, p *Page) {
	if int64(len(p.Body)) > c.size/LargestShare {
		return
	}
	cost := footprint(key, p)
	c.pages[key] = c.order.PushFront(plainPage{key, cost})
	for c.used += cost; c.used > c.size; {
		old := c.order.Remove(c.order.Back()).(plainPage)
		delete(c.pages, old.key)
		c.used -= old.cost
	}
}

// ratios gives the share of visitors' requests that plain LRU and the tier hit.
func ratios(size int64, requests []asked) (plain, tier float64) {
	body := make([]byte, largestAsked)
	lru := &plainLRU{size: size, pages: map[string]*list.Element{}}
	m := NewMemory(size)
	var hits [2]float64
	visits := 0.0
	for _, r := range requests {
		p := &Page{Status: 200, Body: body[:r.size:r.size], Length: int64(r.size), Kept: true}
		_, ok := m.Get([]byte(r.key))
		if !ok {
			m.Put([]byte(r.key), p)
		}
		found := lru.get(r.key)
		if !found {
			lru.put(r.key, p)
		}
		if !r.visitor {
			continue
		}
		visits++
		if found {
			hits[0]++
		}
		if ok {
			hits[1]++
		}
	}
	return hits[0] / visits, hits[1] / visits
}

// zipf is a load whose popular pages are asked for most, of a fixed seed; every
// crawl-th request brings a crawler's three pages, which nobody else wants. The
// bytes of all pages of visitors come with it.
func zipf(requests, crawl int) (all []asked, total int64) {
	random := rand.New(rand.NewPCG(1, 2))
	popular := rand.NewZipf(random, 1.1, 8, 20_000)
	seen := map[string]bool{}
	crawled := 0
	for i := range requests {
		n := popular.Uint64()
		r := asked{key: fmt.Sprintf("/p/%d", n), size: 1000 + int(n*7919%20_000), visitor: true}
		all = append(all, r)
		if !seen[r.key] {
			seen[r.key] = true
			total += int64(r.size)
		}
		if crawl > 0 && i%crawl == 0 {
			for range 3 {
				crawled++
				all = append(all, asked{key: fmt.Sprintf("/crawl/%d", crawled), size: 1000 + crawled*7919%20_000})
			}
		}
	}
	return all, total
}

// A crawl does not flush the working set: figures of a fixed seed, which are in
// docs/architecture.md. The tier's own vary a little, for its hash has another
// seed each time.
func TestMemoryAdmission(t *testing.T) {
	for _, c := range []struct {
		name    string
		crawl   int
		percent int64
		gain    float64
	}{
		{"visitors", 0, 5, 0},
		{"visitors and a crawler", 3, 1, 0.08},
		{"visitors and a crawler", 3, 5, 0.05},
	} {
		requests, total := zipf(40_000, c.crawl)
		plain, tier := ratios(total*c.percent/100, requests)
		t.Logf("%s, %d %% of all bytes: plain LRU %.3f, the tier %.3f", c.name, c.percent, plain, tier)
		if tier < plain+c.gain {
			t.Errorf("%s, %d %% of all bytes: plain LRU hits %.3f, the tier %.3f, want %.2f more", c.name, c.percent, plain, tier, c.gain)
		}
	}
}

// The same with what visitors and crawlers asked a real site for.
func TestMemoryAdmissionOnTheTrace(t *testing.T) {
	text, err := os.ReadFile(realtest.Shared(t, "traces/blog-2015.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var requests []asked
	total, sizes := int64(0), map[string]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		size, err := strconv.Atoi(f[len(f)-1])
		if err != nil || len(f) != 6 || f[2] != "GET" || f[4] != "200" {
			continue
		}
		if _, known := sizes[f[3]]; !known {
			sizes[f[3]] = size / 16 // so that a test machine has the room
			total += int64(size / 16)
		}
		requests = append(requests, asked{f[3], sizes[f[3]], true})
	}
	for _, percent := range []int64{1, 5, 10} {
		plain, tier := ratios(total*percent/100, requests)
		t.Logf("the trace, %d %% of all bytes: plain LRU %.3f, the tier %.3f", percent, plain, tier)
		if tier < plain {
			t.Errorf("the trace, %d %% of all bytes: plain LRU hits %.3f, the tier %.3f", percent, plain, tier)
		}
	}
}
