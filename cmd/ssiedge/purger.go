package main

import (
	"context"
	"errors"

	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/edge"
)

// purger lets the admin endpoint purge an edge: neither knows the other.
type purger struct{ edge *edge.Edge }

var _ admin.Purger = purger{}

// Purge is not cut short by ctx: it is brief, and half of it may be done.
func (p purger) Purge(_ context.Context, r admin.PurgeRequest) (admin.PurgeReceipt, error) {
	res, err := p.edge.Purge(edge.PurgeCall{
		URLs: r.URLs, All: r.All, Site: r.Site, Soft: r.Soft, DryRun: r.DryRun, Count: r.Count,
	})
	if bad, ok := errors.AsType[*edge.BadPurge](err); ok {
		return admin.PurgeReceipt{}, &admin.BadPurge{Reason: bad.Reason, Cure: bad.Cure}
	}
	if err != nil {
		return admin.PurgeReceipt{}, &admin.UnrecordedPurge{Err: err}
	}
	return admin.PurgeReceipt{
		ID: res.ID, Seq: res.Seq, Matched: res.Matched, DryRun: r.DryRun, Left: res.Left,
	}, nil
}
