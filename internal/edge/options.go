package edge

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/ssiedge/ssiedge/internal/accesslog"
	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
	"github.com/ssiedge/ssiedge/ssi"
)

// Defaults of Options, as docs/configuration.md lists them.
const (
	DefaultHeaderLimit   = 16 << 10
	DefaultBodyLimit     = 64 << 20
	DefaultConnections   = 65536
	DefaultHeaderTimeout = 10 * time.Second
	DefaultIdleTimeout   = 75 * time.Second
	DefaultWriteTimeout  = 60 * time.Second
	DefaultMaxKeep       = 16 << 20
	DefaultMemory        = 256 << 20
	DefaultErrorMessage  = "[an error occurred while processing the directive]"
	DefaultSSITimeout    = 5 * time.Second
	DefaultFlushAfter    = time.Millisecond
	DefaultMaxDepth      = 16
	DefaultMaxIncludes   = 512
	DefaultMaxFragment   = 1 << 20
	DefaultMaxPage       = 16 << 20
)

// Options is everything an Edge is built from. Package conf fills it from
// ssiedge.toml, with every default in place: no field of it has a meaning of
// its own for the zero value unless its comment says so. An Edge keeps it and
// never changes it.
type Options struct {
	Sites          []Site
	TrustedProxies []netip.Prefix             // whose Forwarded and X-Forwarded-* count
	HealthPath     string                     // answered with 200 on the public listener; "": none
	Memory         int64                      // bytes of the memory tier; 0: off
	Disk           *Disk                      // nil: none
	Memcache       *pagecache.MemcacheOptions // nil: none
	Limits         Limits
	Log            *slog.Logger
	Access         *accesslog.Log // nil: no access log
	State          string         // folder of the purge journal; "": that of Disk, else it is in memory
	Version        string         // said in nothing but the edge's own error pages; "" is fine
}

// Disk is [disk]. Its path is that of the start: a reload changes the size only.
type Disk struct {
	Path string // folder of the pages, and of the journal where State is empty
	Size int64  // bytes
}

// Limits bound what one visitor can make the edge hold.
type Limits struct {
	Header        int   // bytes of a request head
	Body          int64 // bytes of a request body; 0: no limit
	Connections   int   // open at once, over all listeners
	HeaderTimeout time.Duration
	IdleTimeout   time.Duration
	WriteTimeout  time.Duration // without progress
	MaxKeep       int64         // bytes of a body that is kept or assembled
}

// bodies bounds the bytes of all bodies that come in to be kept: as much as is
// kept in memory, and never less than a few of the largest.
func (o *Options) bodies() int64 { return max(o.Memory, 4*o.Limits.MaxKeep) }

// Site is one [[site]].
type Site struct {
	Where         string                      // file:line, for explanations
	Hosts         []string                    // lower case, without port; "*.example.com" allowed; none: every host
	Files         *pagecache.FilesOptions     // root; nil: none
	Published     *pagecache.PublishedOptions // nil: none
	TrailingSlash TrailingSlash
	Query         QueryFilter
	Origin        *origin.Options // nil: none
	SSI           SSI
	Cache         Cache
	Rules         []Rule // in file order
}

// Cache is [site.cache], and what else a site says of the pages it keeps.
type Cache struct {
	pagecache.Policy                // Lifetime is nil: only rules have one
	SoftWindow        time.Duration // for which a softly purged page may be served while it is filled
	NotKeepable       time.Duration // for which a key is known as not keepable; 0: not at all
	FillWait          time.Duration // how long a request waits for another's fill
	RequestDirectives bool          // a visitor's Cache-Control is honoured
	PurgeRoot         bool          // a purge of a URL removes its file under root
}

// CookieMode says what of a visitor's cookies the origin sees on a fill.
type CookieMode uint8

const (
	CookiesAll    CookieMode = iota // all of them, and the key knows none
	CookiesNone                     // none
	CookiesListed                   // those that are named, and the key holds them
)

// Cookies is a rule's cookies setting.
type Cookies struct {
	Mode  CookieMode
	Names []string // of CookiesListed
}

// Lifetime is a rule's cache setting.
type Lifetime struct {
	Off bool          // nothing is looked up, filled or kept
	For time.Duration // else how long a page is fresh, whatever it says
}

// TrailingSlash says what becomes of the slash at the end of a path.
type TrailingSlash uint8

const (
	StripSlash    TrailingSlash = iota // /a/ is /a, inside
	RedirectSlash                      // 308 from /a/ to /a
	KeepSlash                          // /a/ and /a differ
)

// QueryMode says what a QueryFilter does with the parameters of a query.
type QueryMode uint8

const (
	QueryAll  QueryMode = iota // all stay
	QueryNone                  // the query is not looked at: every parameter goes
	QueryKeep                  // only those named stay
	QueryDrop                  // those named go
)

// QueryFilter is the query setting. The bytes and the order of what stays are
// never changed, but for Sort.
type QueryFilter struct {
	Mode  QueryMode
	Names []string // of QueryKeep and QueryDrop; one may end in "*"
	Sort  bool     // parameters by name, stable
}

// SSI is [site.ssi].
type SSI struct {
	Enabled          bool
	Types            []string // media types, lower case; "*": all
	UnknownIsError   bool     // unknown = "error"
	Dialect          ssi.Dialect
	Expressions      ssi.Expressions // of the apache dialect
	Printenv         bool            // the directive that prints all variables is allowed
	ErrorMessage     string          // "": that of the dialect
	SilentErrors     bool
	PasteErrors      bool // fragment_errors = "paste"
	KeepLastModified bool // last_modified = "keep"
	ETag             bool
	Timezone         *time.Location
	Timeout          time.Duration // the whole assembly, nested included
	FlushAfter       time.Duration // how long the head waits for fragments
	MaxDepth         int
	MaxIncludes      int
	MaxFragment      int64
	MaxPage          int64 // assembled bytes
}

// Rule is one [[site.rule]]: settings for some paths of a site. A nil field is
// not set by the rule; of the rules that match a path, the last one that sets
// a field wins.
type Rule struct {
	Where    string   // file:line
	Paths    []string // of canonical, decoded paths; * is any run of characters
	Expires  *time.Duration
	Internal *bool
	Required *bool // as a fragment: its failure is the page's
	SSI      *bool
	Query    *QueryFilter
	Origin   *origin.Options
	Timeout  *time.Duration // until the origin's head
	Bypass   *Bypass
	Headers  *HeaderEdits // response_headers
	Redirect *string      // "{uri}" is the canonical path and query

	Cache                *Lifetime
	StaleWhileRevalidate *time.Duration
	StaleIfError         *time.Duration
	Negative             *time.Duration
	Heuristic            *bool
	SetCookie            *pagecache.CookiePolicy
	Targets              []string // nil: not set
	Cookies              *Cookies // nil: CookiesAll, or CookiesNone where Cache gives a lifetime
	KeyHeaders           []string // headers: forwarded and in the key; nil: not set
	Invalidate           *bool    // an unsafe method removes the URL's pages; nil: true
	ForwardSetCookie     *bool    // of fragments
}

// Bypass sends the requests it matches past every tier, published pages
// included.
type Bypass struct {
	Cookies []string
	Headers []string
}

// HeaderEdits change the fields of an answer.
type HeaderEdits struct {
	Set    []Field // in file order
	Remove []string
}

// Field is one header field.
type Field struct{ Name, Value string }
