package main

import (
	"errors"
	"slices"

	"github.com/ssiedge/ssiedge/conf"
)

// reload reads the configuration again and reopens the access log. A bad file
// changes nothing: its mistakes are logged and returned.
func (s *service) reload() error {
	if s.access != nil {
		if err := s.access.Reopen(); err != nil {
			s.log.Error("access log not reopened, the old file goes on", "error", err)
		}
	}
	if s.load == nil {
		return errors.New("nothing to reload from")
	}
	cfg, err := s.load()
	if err != nil {
		s.edge.ReloadFailed()
		s.logMistakes(err)
		return err
	}
	for _, w := range cfg.Warnings {
		s.log.Warn(w.Error())
	}
	options := cfg.Edge
	options.Log, options.Access, options.Version = s.log, s.access, version()
	if err := s.edge.Reload(options); err != nil {
		s.log.Error("reload failed: nothing has changed", "error", err)
		return err
	}
	s.level.Set(cfg.Log.Level)
	s.warnFixed(s.cfg.Swap(cfg), cfg)
	return nil
}

func (s *service) logMistakes(err error) {
	var list conf.ErrorList
	if !errors.As(err, &list) {
		s.log.Error("reload failed: nothing has changed", "error", err)
		return
	}
	for _, p := range list {
		s.log.Error("reload failed: nothing has changed", "error", p.Error())
	}
}

// diskPath is the folder of the disk tier; "": there is none.
func diskPath(cfg *conf.Config) string {
	if cfg.Edge.Disk == nil {
		return ""
	}
	return cfg.Edge.Disk.Path
}

// warnFixed names the settings that only a new start applies.
func (s *service) warnFixed(old, cfg *conf.Config) {
	limits, before := cfg.Edge.Limits, old.Edge.Limits
	for _, fixed := range []struct {
		name    string
		changed bool
	}{
		{"listen", !slices.Equal(old.Listen, cfg.Listen)},
		{"admin", old.Admin != cfg.Admin},
		{"state", old.Edge.State != cfg.Edge.State},
		{"disk.path", diskPath(old) != diskPath(cfg)},
		{"log.access", old.Log.Access != cfg.Log.Access},
		{"log.format", old.Log.Format != cfg.Log.Format},
		{"limits.header", limits.Header != before.Header},
		{"limits.connections", limits.Connections != before.Connections},
		{"limits.header_timeout", limits.HeaderTimeout != before.HeaderTimeout},
	} {
		if fixed.changed {
			s.log.Warn("changed, but in force only after a new start", "setting", fixed.name)
		}
	}
}
