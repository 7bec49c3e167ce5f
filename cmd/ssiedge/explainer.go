package main

import (
	"context"
	"errors"

	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/edge"
)

// explainer is an edge as the admin endpoint asks it.
type explainer struct{ edge *edge.Edge }

var _ admin.Explainer = explainer{}

func (e explainer) Explain(_ context.Context, r admin.ExplainRequest) (any, error) {
	x, err := e.edge.Explain(edge.ExplainRequest{URL: r.URL, Fields: r.Fields})
	if bad, ok := errors.AsType[*edge.BadExplain](err); ok {
		return nil, &admin.BadExplain{Reason: bad.Reason, Cure: bad.Cure}
	}
	return x, err
}
