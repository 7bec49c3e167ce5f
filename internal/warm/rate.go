package warm

import (
	"context"
	"sync"
	"time"
)

// pacer is a token bucket: it gives one token an interval, and saves up at most
// burst of them. It starts with one token, so that a run does not begin with a
// burst.
type pacer struct {
	interval time.Duration // 0: no bound
	burst    int

	mu   sync.Mutex
	full time.Time // when the bucket will be full, if nobody takes any more
}

// newPacer gives a pacer for requests a second; 0 is no bound.
func newPacer(rate float64, burst int) *pacer {
	if rate == 0 {
		return &pacer{}
	}
	return &pacer{interval: time.Duration(float64(time.Second) / rate), burst: burst}
}

// wait takes a token, and waits until it is there. Its error is that of ctx.
func (p *pacer) wait(ctx context.Context) error {
	if p.interval == 0 {
		return ctx.Err()
	}
	return sleep(ctx, p.take(time.Now()))
}

// take takes the next token and says in what time it will be there.
func (p *pacer) take(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	saved := time.Duration(p.burst-1) * p.interval
	if p.full.IsZero() {
		p.full = now.Add(saved)
	}
	wait := p.full.Add(-saved).Sub(now)
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(p.interval)
	return max(wait, 0)
}

// sleep waits for d, or until ctx ends; then its error is that of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
