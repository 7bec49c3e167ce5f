package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ExplainRequest is a GET to be explained.
type ExplainRequest struct {
	URL     string          // http://host/path?query, or /path?query with Host among the fields
	Fields  []string        // header fields, "Name: value"
	Against *ExplainAgainst // another GET that it is to be compared with; nil: none
}

// ExplainAgainst is in what another request is not the same.
type ExplainAgainst struct {
	URL    string   // "": the same
	Fields []string // in place of those of that name; one with an empty value is left out
}

// Explainer tells what the edge would do with a request, without doing it. What
// it returns is marshalled as JSON. Its error is a *BadExplain, or else a
// failure that is not the caller's.
type Explainer interface {
	Explain(ctx context.Context, r ExplainRequest) (any, error)
}

// BadExplain says that a request cannot be explained as it is: 400.
type BadExplain struct {
	Reason string
	Cure   string
}

func (e *BadExplain) Error() string { return e.Reason + "; " + e.Cure }

// explain answers GET /explain?url=...&header=...&vs=...&vs_header=...
func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	call, err := parseExplain(r.URL.RawQuery)
	var explanation any
	if err == nil {
		explanation, err = s.options.Explain.Explain(r.Context(), call)
	}
	if bad, ok := errors.AsType[*BadExplain](err); ok {
		refuse(w, http.StatusBadRequest, bad.Reason, bad.Cure)
		return
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "not explained: "+err.Error(), "see the log")
		return
	}
	answer(w, http.StatusOK, explanation)
}

// parseExplain reads the query of a call, strictly: a word that is not
// understood could have changed the answer. The error is a *BadExplain.
func parseExplain(query string) (ExplainRequest, error) {
	const cure = "ask GET /explain?url=http://host/path&header=Name:+value, and vs and vs_header alike for a comparison, all percent-encoded"
	values, err := url.ParseQuery(query)
	if err != nil {
		return ExplainRequest{}, &BadExplain{"the query is malformed: " + err.Error(), cure}
	}
	var unknown []string
	for name := range values {
		if !slices.Contains([]string{"url", "header", "vs", "vs_header"}, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	slices.Sort(unknown)
	switch {
	case len(unknown) > 0: // a "&" in the URL that was not escaped looks like this
		return ExplainRequest{}, &BadExplain{"unknown parameter " + strings.Join(unknown, ", "), cure}
	case len(values["url"]) != 1 || values.Get("url") == "":
		return ExplainRequest{}, &BadExplain{"want one url", cure}
	case len(values["vs"]) > 1 || values.Has("vs") && values.Get("vs") == "":
		return ExplainRequest{}, &BadExplain{"want one vs, or none", cure}
	}
	call := ExplainRequest{URL: values.Get("url"), Fields: values["header"]}
	if values.Has("vs") || values.Has("vs_header") {
		call.Against = &ExplainAgainst{URL: values.Get("vs"), Fields: values["vs_header"]}
	}
	return call, nil
}
