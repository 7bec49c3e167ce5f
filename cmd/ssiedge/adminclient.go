package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

// How the admin endpoint is found and asked.
const (
	defaultAdmin = "http://127.0.0.1:8081"
	tokenVar     = "SSIEDGE_ADMIN_TOKEN"
	adminTimeout = time.Minute
	// maxAdminAnswer bounds what is read of an answer, in bytes: one that names
	// each of many URLs is long.
	maxAdminAnswer = 16 << 20
)

// adminCall is one call of an admin endpoint.
type adminCall struct {
	admin, token string // the flags; token "": that of the environment
	doubt        string // what has to be said where no answer came; "": nothing
}

// endpoint gives the URL of an endpoint.
func (c *adminCall) endpoint(name string) (*url.URL, error) {
	u, err := url.Parse(c.admin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("--admin %q: want a URL like %s", c.admin, defaultAdmin)
	}
	return u.JoinPath(name), nil
}

// ask asks once, and reads the answer. A redirect is not followed: the token is
// for one server. body nil: none. endpoint names the endpoint in errors.
func (c *adminCall) ask(ctx context.Context, method, target, endpoint string, body io.Reader) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	token := c.token
	if token == "" {
		token = os.Getenv(tokenVar)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, c.unreached(ctx, endpoint, err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAdminAnswer))
	if err != nil {
		return 0, nil, c.unreached(ctx, endpoint, fmt.Errorf("the answer broke off: %w", err))
	}
	return res.StatusCode, answer, nil
}

// unreached says why there is no answer, and what to do.
func (c *adminCall) unreached(ctx context.Context, endpoint string, err error) error {
	doubt := ""
	if c.doubt != "" {
		doubt = ": " + c.doubt
	}
	wrapped, ok := errors.AsType[*url.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: connection refused: is ssiedge running there? --admin names another address", endpoint)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %v%s", endpoint, adminTimeout, doubt)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: interrupted%s", endpoint, doubt)
	case ok:
		err = wrapped.Err // without the method and the URL
	}
	return fmt.Errorf("%s: %w", endpoint, err)
}

// adminRefusal is the answer to a call that was not done.
type adminRefusal struct {
	Error string `json:"error"`
	Cure  string `json:"cure"`
}

// refusalOf reads a refusal; an answer that is none gives an empty one.
func refusalOf(answer []byte) (r adminRefusal) {
	if json.Unmarshal(answer, &r) != nil {
		return adminRefusal{}
	}
	return r
}

// says is the server's reason and cure, or the status of a server that gives
// neither.
func (r *adminRefusal) says(endpoint string, status int) string {
	switch {
	case r.Error == "":
		return fmt.Sprintf("%s: status %d, and no reason that ssiedge would give: is that its admin endpoint?", endpoint, status)
	case status == http.StatusUnauthorized:
		return r.Error + ": give the admin.token of the edge's configuration as --token or in " + tokenVar
	case r.Cure == "":
		return r.Error
	}
	return r.Error + "; " + r.Cure
}

// refusedCode is the exit code for a status that is not 200.
func refusedCode(status int) int {
	if status < 500 {
		return exitUsage
	}
	return exitFailed
}
