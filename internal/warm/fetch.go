package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// fetcher gets sitemaps, from wherever they are.
type fetcher struct {
	limits    limits
	agent     string
	transport *http.Transport
	patience  *patience
}

func newFetcher(w *Warmer) *fetcher {
	f := &fetcher{limits: w.limits, agent: w.agent, transport: w.transport()}
	// A sitemap may be far away, and its server may have moved it.
	f.transport.Proxy = http.ProxyFromEnvironment
	f.transport.DisableCompression = false
	client := &http.Client{Transport: f.transport}
	f.patience = &patience{send: client.Do, silence: w.silence, pacer: newPacer(0, 0)}
	return f
}

func (f *fetcher) close() { f.transport.CloseIdleConnections() }

// fetch gets the body of url as a whole: its reader may take hours, by the pace
// of the edge, and no server waits that long.
func (f *fetcher) fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, plain(err)
	}
	req.Header.Set("User-Agent", f.agent)
	resp, err := f.patience.get(req)
	if err != nil {
		return nil, plain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d, 200 is wanted", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.limits.bytes+1))
	if int64(len(body)) > f.limits.bytes {
		return nil, fmt.Errorf("a sitemap of at most %d bytes is wanted", f.limits.bytes)
	}
	return body, err
}

// plain takes the method and the URL out of an error: both are known where it is
// printed.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
