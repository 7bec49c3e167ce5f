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
	x, err := e.explain(r)
	if bad, ok := errors.AsType[*edge.BadExplain](err); ok {
		return nil, &admin.BadExplain{Reason: bad.Reason, Cure: bad.Cure}
	}
	return x, err
}

func (e explainer) explain(r admin.ExplainRequest) (any, error) {
	first := edge.ExplainRequest{URL: r.URL, Fields: r.Fields}
	if r.Against == nil {
		return e.edge.Explain(first)
	}
	return e.edge.Compare(first, first.Against(r.Against.URL, r.Against.Fields))
}
