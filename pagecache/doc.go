// Package pagecache keeps pages in tiers, finds published ones, and says what
// may be kept and what a purge hits.
//
// A page is a whole response kept for reuse. A published page is one that
// somebody else wrote: a file below a root ([Files]), or a raw value in
// memcached ([Published]). Both keep copies in a [Memory], the tier in this
// process, and both make sure that a copy still is what was published before
// they use it again.
//
// A pulled page is one that the edge asked the origin for: filling is asking
// for it. [Decide] says by an answer's head whether it may be kept and for how
// long, as RFC 9111 has it for a shared cache; [Pulled] keeps it, in memory
// and in the tiers behind it, a [Disk] and a [MemcacheTier]; [Flights] lets one
// request fill for all who want the same page, an [Arrival] shares its body while
// it comes in, within a [Budget]. [Purges] is what is known to be
// gone, by the records of a [Journal].
//
// What is promised:
//
//   - A changed or removed file is seen by the very next request, a new one,
//     one that goes before it, and a root that means another directory within
//     a second. A value in memcached is seen when PublishedOptions.For is over.
//   - Never a torn page: a file that is being written is waited for, a little,
//     and else counts as absent. What is younger than a second is not kept.
//   - Never a file outside root, but through links into the directories that
//     the options name; no dot names but below /.well-known/.
//   - Of pulled pages: what the answer, the cookies or Authorization forbid is
//     not kept; of two requests that the key and Vary tell apart, none gets the
//     other's page; a page that was purged is found in no tier.
//   - A tier in trouble is a miss and a count, never a failed request.
//
// Limits: paths of 4096 bytes and segments of 255, keys of memcached of 250
// bytes, bodies in memory of a quarter of it.
//
// Everything here may be used from any number of goroutines at once, and
// nothing starts one of its own but [Disk.Run], until it ends. Pages do not
// change once they were handed out: reading one takes no lock, sending one no
// copy. The package needs a Unix: files are compared by device, inode and times.
package pagecache
