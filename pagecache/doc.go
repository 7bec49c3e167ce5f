// Package pagecache keeps pages in tiers and finds published ones.
//
// A page is a whole response kept for reuse. A published page is one that
// somebody else wrote: a file below a root (Files), or a raw value in memcached
// (Published). Both keep copies in a Memory, the tier in this process, and both
// make sure that a copy is still what was published before it is used again.
package pagecache
