package edge

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ssiedge/ssiedge/pagecache"
)

// store is what an Edge keeps: pages in tiers, and the purges that hit them.
// It outlives a reload as far as the tiers stay what they are.
type store struct {
	journal     pagecache.Journal
	purges      *pagecache.Purges
	memory      *pagecache.Memory
	disk        *diskTier           // nil: none
	memcache    *pagecache.Memcache // nil: none
	pulled      *pagecache.Pulled
	keeps       bool                    // there is a tier: memory may be off, and the others absent
	tier        *pagecache.MemcacheTier // nil: none
	flights     *pagecache.Flights
	notKeepable *pagecache.Marks // keys whose last answer may not be kept
	resting     *pagecache.Marks // keys whose last fill in the background failed
	epochs      *epochs
	running     *pagecache.Running // nil: nothing outlives the process, or it has not begun
	log         *slog.Logger
}

// newStore opens the journal, and the tiers of o.
func newStore(e *Edge, o *Options) (*store, error) {
	s := &store{journal: pagecache.NewMemoryJournal(), notKeepable: pagecache.NewMarks(), resting: pagecache.NewMarks(), log: e.log}
	var err error
	place := o.journalPlace()
	if place != "" {
		if s.journal, err = pagecache.OpenFileJournal(place, e.log); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
	}
	if s.purges, err = pagecache.NewPurges(s.journal); err != nil {
		s.journal.Close()
		return nil, fmt.Errorf("state: %w", err)
	}
	if place == "" {
		s.epochs = newEpochs()
	} else {
		s.epochs = openEpochs(place, s.purges.Name(), e.log)
	}
	if o.Disk != nil {
		if s.disk, err = openDisk(o.Disk, s.purges.Name(), e.log); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := s.openTiers(o); err != nil {
		s.close()
		return nil, err
	}
	if place != "" {
		if err := s.begin(place); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// begin notes that the process runs. Where an earlier one went down with the
// machine, everything is filled again.
func (s *store) begin(place string) error {
	r, lost := pagecache.FindRunning(place)
	if lost {
		s.log.Warn("the machine went down while ssiedge ran: what was removed last may be back, so everything is filled again", "folder", place)
		if _, _, err := s.purges.Add([]pagecache.Record{{Kind: pagecache.KindAll}}); err != nil {
			return fmt.Errorf("state: %w", err)
		}
	}
	if err := r.Begin(); err != nil {
		s.log.Warn("should the machine go down, what a POST removed last may be back after it", "folder", place, "error", err)
	}
	s.running = r
	return nil
}

// journalPlace is the folder of the journal; "": it is in memory.
func (o *Options) journalPlace() string {
	if o.State == "" && o.Disk != nil {
		return o.Disk.Path
	}
	return o.State
}

// openTiers makes memory and memcache, and what is kept in them, anew. The disk
// stays.
func (s *store) openTiers(o *Options) error {
	s.memory, s.memcache, s.tier = pagecache.NewMemory(o.Memory), nil, nil
	s.flights = new(pagecache.Flights)
	var further []pagecache.NamedTier
	if s.disk != nil {
		further = append(further, pagecache.NamedTier{Name: pagecache.DiskTier, Tier: s.disk})
	}
	if o.Memcache != nil {
		c, err := pagecache.NewMemcache(*o.Memcache)
		if err != nil {
			return fmt.Errorf("memcache: %w", err)
		}
		s.memcache = c
		s.tier = pagecache.NewMemcacheTier(c, s.purges.Name(), pagecache.MemcacheTierOptions{})
		further = append(further, pagecache.NamedTier{Name: "memcache", Tier: s.tier})
	}
	s.pulled = pagecache.NewPulled(s.memory, further...)
	s.keeps = o.Memory > 0 || len(further) > 0
	return nil
}

// reloaded gives the store for new options: the same where its tiers are, else
// one with new tiers over the same journal and disk, whose places stay those of
// the start.
func (s *store) reloaded(old, o *Options) (*store, error) {
	if old.Memory == o.Memory && sameMemcache(old.Memcache, o.Memcache) {
		return s, nil
	}
	next := *s
	if err := next.openTiers(o); err != nil {
		return nil, err
	}
	return &next, nil
}

func sameMemcache(a, b *pagecache.MemcacheOptions) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Timeout == b.Timeout && a.Pause == b.Pause && slices.Equal(a.Servers, b.Servers)
}

func (s *store) close() {
	if s.memcache != nil {
		s.memcache.Close()
	}
	err := s.closeDisk()
	err = errors.Join(err, s.epochs.close())
	if s.running != nil {
		if err == nil {
			err = s.running.End()
		}
		if err != nil {
			s.log.Warn("pages are filled again if the machine is started again before ssiedge ends well", "error", err)
		}
	}
	s.journal.Close()
}

func (s *store) closeDisk() error {
	if s.disk == nil {
		return nil
	}
	return s.disk.close()
}

// resize gives the disk the size of options that are in force.
func (s *store) resize(o *Options) {
	if s.disk != nil && o.Disk != nil {
		s.disk.SetSize(o.Disk.Size)
	}
}
