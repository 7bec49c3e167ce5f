package edge

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssiedge/ssiedge/pagecache"
)

// metrics are the edge's own counts. On the path of a request they are atomic
// additions and one histogram; the rest is read when somebody asks.
type metrics struct {
	requests [sources][6]atomic.Uint64 // by source and class of status; class 0: none
	duration [sources]prometheus.Histogram
	panics   atomic.Uint64
	broken   atomic.Uint64 // answers that broke off

	includes       [includeOutcomes]atomic.Uint64
	droppedCookies atomic.Uint64 // Set-Cookie lines of fragments
	assembled      atomic.Uint64
	fills          atomic.Uint64
	collapsed      atomic.Uint64 // requests that got the page of another's fill
	purges         atomic.Uint64
	purgesFailed   atomic.Uint64

	refused       atomic.Uint64 // connections over the limit
	reloads       atomic.Uint64
	reloadsFailed atomic.Uint64
}

// outcomes are the names of the sources in metrics.
var outcomes = [sources]string{
	sourceNone: "own", sourceFile: "file", sourcePublished: "published",
	sourceMemory: "memory", sourceDisk: "disk", sourceMemcache: "memcache", sourceStale: "stale", sourceStored: "stored",
	sourceMiss: "miss", sourceMethod: "method", sourceBypass: "bypass",
}

// includeOutcome is how an include was answered.
type includeOutcome uint8

const (
	includePublished includeOutcome = iota // by a published page
	includeKept                            // by a pulled page
	includeOrigin                          // by the origin
	includeFailed
	includeOutcomes
)

var includeNames = [includeOutcomes]string{"published", "kept", "origin", "failed"}

func newMetrics() *metrics {
	m := &metrics{}
	for i := range m.duration {
		m.duration[i] = prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:        "ssiedge_request_duration_seconds",
			Help:        "Time from the head of a request to the end of its answer.",
			ConstLabels: prometheus.Labels{"outcome": outcomes[i]},
			Buckets:     []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		})
	}
	return m
}

func (m *metrics) observe(s source, status int, took time.Duration) {
	class := status / 100
	if class >= len(m.requests[s]) {
		class = 0
	}
	// In this order, and the other way round in Collect: whoever finds a request
	// counted finds its duration, too.
	m.duration[s].Observe(took.Seconds())
	m.requests[s][class].Add(1)
}

// Descriptions of what Collect gives.
var (
	descRequests    = desc("requests_total", "Requests answered.", "outcome", "code")
	descPanics      = desc("panics_total", "Panics recovered; each is in the log with its stack.")
	descBroken      = desc("answers_broken_total", "Answers whose body broke off.")
	descAssembled   = desc("pages_assembled_total", "Pages whose directives were run.")
	descIncludes    = desc("includes_total", "Includes, by what answered them.", "outcome")
	descProblems    = desc("problems_total", "Problems with pages, fragments and their surroundings; the log tells of them, each page and kind once a minute.", "kind")
	descCookies     = desc("fragment_cookies_dropped_total", "Set-Cookie fields of fragments, which are not passed on.")
	descConnections = desc("connections", "Open connections of visitors.")
	descRefused     = desc("connections_refused_total", "Connections closed at once, over limits.connections.")
	descReloads     = desc("reloads_total", "Reloads of the configuration.", "result")
	descLogDropped  = desc("access_log_dropped_total", "Access log lines dropped because the log could not keep up.")

	descMemoryPages     = desc("memory_pages", "Pages in the memory tier.")
	descMemoryBytes     = desc("memory_bytes", "Bytes in the memory tier, overhead counted.")
	descMemoryEvictions = desc("memory_evictions_total", "Pages evicted from the memory tier for want of room.")
	descMemoryRefusals  = desc("memory_refusals_total", "Pages that the full memory tier did not take, since those in it are asked for more.")
	descMemoryHits      = desc("memory_hits_total", "Look-ups in the memory tier that found something.")
	descMemoryMisses    = desc("memory_misses_total", "Look-ups in the memory tier that found nothing.")

	descFilesHits       = desc("files_hits_total", "Published files answered from memory.")
	descFilesMisses     = desc("files_misses_total", "Paths without a published file.")
	descFilesReads      = desc("files_reads_total", "Published files read from disk.")
	descFilesErrors     = desc("files_errors_total", "Trouble with published files; each was a miss.")
	descPublishedHits   = desc("published_hits_total", "Published memcached values found.")
	descPublishedMisses = desc("published_misses_total", "Published memcached values not found.")
	descPublishedErrors = desc("published_errors_total", "Requests for published memcached values that failed, and values that are no page.")
	descPublishedSpared = desc("published_skipped_total", "Published memcached values that were not asked for, because the server had just failed.")

	descFills        = desc("fills_total", "Times that an origin was asked for a page, to keep it.")
	descCollapsed    = desc("fills_collapsed_total", "Requests and includes that waited for another's fill and got its page.")
	descFillsRunning = desc("fills_running", "Fills under way that others may wait for.")
	descFillsBytes   = desc("fills_bytes", "Bytes of memory of bodies that come in to be kept, or that somebody still reads who asked while they came.")

	descPurges  = desc("purges_total", "Purges.", "result")
	descRecords = desc("purge_records", "Records of the journal that pages are checked against.")
	descApplied = desc("purge_seq", "Number of the newest record in force.")
	descFloor   = desc("purge_floor", "Number of the record before which pages are too old to be used.")

	descDiskPages     = desc("disk_pages", "Pages on the disk; after a start those that were counted so far.")
	descDiskBytes     = desc("disk_bytes", "Bytes of their files, each rounded up to 4 KiB.")
	descDiskScanning  = desc("disk_scanning", "1 while the files of an earlier process are being counted.")
	descDiskHits      = desc("disk_hits_total", "Pulled pages found on the disk.")
	descDiskMisses    = desc("disk_misses_total", "Pulled pages asked for on the disk and not found, trouble included.")
	descDiskForeign   = desc("disk_foreign_total", "Files that were no page, or another's, and were removed.")
	descDiskErrors    = desc("disk_errors_total", "Calls of the system that failed for the disk tier.")
	descDiskEvictions = desc("disk_evictions_total", "Pages evicted from the disk for want of room.")
	descDiskSwept     = desc("disk_swept_total", "Purged pages removed from the disk.")
	descDiskSkipped   = desc("disk_skipped_total", "Pages that were not written to the disk.", "why")

	descMemcacheHits    = desc("memcache_hits_total", "Pulled pages found in the memcache tier.")
	descMemcacheMisses  = desc("memcache_misses_total", "Pulled pages asked for in the memcache tier and not found, trouble included.")
	descMemcacheErrors  = desc("memcache_errors_total", "Requests of the memcache tier that failed.")
	descMemcacheSkipped = desc("memcache_skipped_total", "Requests and pages that the memcache tier was spared.", "why")

	descOriginRequests = desc("origin_requests_total", "Requests sent to origins.", "origin", "server")
	descOriginErrors   = desc("origin_errors_total", "Requests that origins did not answer.", "origin", "server", "kind")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ssiedge_"+name, help, labels, nil)
}

var _ prometheus.Collector = (*Edge)(nil)

// Describe says nothing, which makes the Edge an unchecked collector: which
// origins there are changes with a reload.
func (e *Edge) Describe(chan<- *prometheus.Desc) {}

// Collect gives the counts for a scrape of /metrics.
func (e *Edge) Collect(ch chan<- prometheus.Metric) {
	m := e.metrics
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
	for s := range m.requests {
		for class := range m.requests[s] {
			if n := m.requests[s][class].Load(); n > 0 {
				count(descRequests, n, outcomes[s], strconv.Itoa(class)+"xx")
			}
		}
		ch <- m.duration[s]
	}
	for i := range m.includes {
		count(descIncludes, m.includes[i].Load(), includeNames[i])
	}
	for kind, n := range e.reports.totals() {
		count(descProblems, n, kind)
	}
	count(descPanics, m.panics.Load())
	count(descBroken, m.broken.Load())
	count(descAssembled, m.assembled.Load())
	count(descCookies, m.droppedCookies.Load())
	count(descFills, m.fills.Load())
	count(descCollapsed, m.collapsed.Load())
	count(descPurges, m.purges.Load(), "done")
	count(descPurges, m.purgesFailed.Load(), "failed")
	count(descRefused, m.refused.Load())
	count(descReloads, m.reloads.Load(), "done")
	count(descReloads, m.reloadsFailed.Load(), "failed")
	if e.access != nil {
		count(descLogDropped, e.access.Dropped())
	}
	gauge(descConnections, int64(e.visitors.count()))
	e.collectTiers(count, gauge)
	e.collectOrigins(count)
}

func (e *Edge) collectTiers(count func(*prometheus.Desc, uint64, ...string), gauge func(*prometheus.Desc, int64)) {
	st := e.state.Load().store
	s := st.memory.Stats()
	gauge(descMemoryPages, int64(s.Pages))
	gauge(descMemoryBytes, int64(s.Bytes))
	count(descMemoryEvictions, uint64(s.Evictions))
	count(descMemoryRefusals, s.Refusals)
	count(descMemoryHits, uint64(s.Hits))
	count(descMemoryMisses, uint64(s.Misses))
	e.collectPublished(count)
	gauge(descFillsRunning, int64(st.flights.Len()))
	gauge(descFillsBytes, e.bodies.Used())
	purges := st.purges.Stats()
	gauge(descRecords, int64(purges.Live))
	gauge(descApplied, int64(purges.Applied))
	gauge(descFloor, int64(purges.Floor))
	e.collectDisk(st.disk, count, gauge)
	if st.tier == nil {
		return
	}
	t := st.tier.Stats()
	count(descMemcacheHits, t.Hits)
	count(descMemcacheMisses, t.Misses)
	count(descMemcacheErrors, t.Errors)
	count(descMemcacheSkipped, t.Skipped, "large")
	count(descMemcacheSkipped, t.LeftAlone, "trouble")
}

func (e *Edge) collectDisk(d *diskTier, count func(*prometheus.Desc, uint64, ...string), gauge func(*prometheus.Desc, int64)) {
	if d == nil {
		return
	}
	s := d.Stats()
	gauge(descDiskPages, s.Pages)
	gauge(descDiskBytes, s.Bytes)
	scanning := int64(0)
	if s.Scanning {
		scanning = 1
	}
	gauge(descDiskScanning, scanning)
	count(descDiskHits, s.Hits)
	count(descDiskMisses, s.Misses)
	count(descDiskForeign, s.Foreign)
	count(descDiskErrors, s.Errors)
	count(descDiskEvictions, s.Evictions)
	count(descDiskSwept, s.Swept)
	count(descDiskSkipped, s.Large, "large")
	count(descDiskSkipped, s.Busy, "busy")
	count(descDiskSkipped, s.Trouble, "trouble")
}

// collectPublished gives what all sites together found of published pages since
// the last reload.
func (e *Edge) collectPublished(count func(*prometheus.Desc, uint64, ...string)) {
	var files pagecache.FilesStats
	var published pagecache.PublishedStats
	for _, s := range e.state.Load().router.sites {
		if s.files != nil {
			f := s.files.Stats()
			files.Hits += f.Hits
			files.Misses += f.Misses
			files.Reads += f.Reads
			files.Errors += f.Errors
		}
		if s.published != nil {
			p := s.published.Stats()
			published.Hits += p.Hits
			published.Misses += p.Misses
			published.Errors += p.Errors + p.Refused
			published.LeftAlone += p.LeftAlone
		}
	}
	count(descFilesHits, files.Hits)
	count(descFilesMisses, files.Misses)
	count(descFilesReads, files.Reads)
	count(descFilesErrors, files.Errors)
	count(descPublishedHits, published.Hits)
	count(descPublishedMisses, published.Misses)
	count(descPublishedErrors, published.Errors)
	count(descPublishedSpared, published.LeftAlone)
}

// collectOrigins gives what the pools counted since they were made; a reload
// makes them anew, which a scraper sees as a restart of those counters. Pools of
// one name, which only sites with unnamed origins can have, are one series.
func (e *Edge) collectOrigins(count func(*prometheus.Desc, uint64, ...string)) {
	type series struct{ origin, server, kind string }
	requests, errors := map[series]uint64{}, map[series]uint64{}
	for _, p := range e.state.Load().pools {
		for _, server := range p.Stats().Servers {
			at := series{origin: p.Name(), server: server.Server}
			requests[at] += server.Requests
			for kind, n := range map[string]uint64{
				"dial": server.Errors.Dial, "timeout": server.Errors.Timeout,
				"reset": server.Errors.Reset, "malformed": server.Errors.Malformed,
			} {
				at.kind = kind
				errors[at] += n
			}
		}
	}
	for at, n := range requests {
		count(descOriginRequests, n, at.origin, at.server)
	}
	for at, n := range errors {
		count(descOriginErrors, n, at.origin, at.server, at.kind)
	}
}
