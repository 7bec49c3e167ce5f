package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// How the admin endpoint is found and asked.
const (
	defaultAdmin = "http://127.0.0.1:8081"
	tokenVar     = "SSIEDGE_ADMIN_TOKEN"
	purgeTimeout = time.Minute
	// maxPurgeAnswer bounds what is read of an answer, in bytes: one that names
	// each of many URLs is long.
	maxPurgeAnswer = 16 << 20
)

// purgeCall is the body of POST /purge.
type purgeCall struct {
	URLs   []string `json:"urls,omitempty"`
	All    bool     `json:"all,omitempty"`
	Site   string   `json:"site,omitempty"`
	Soft   bool     `json:"soft,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// purgeAnswer is the answer to it: a receipt, or a refusal.
type purgeAnswer struct {
	ID      string         `json:"id"`
	Seq     uint64         `json:"seq"`
	Matched map[string]int `json:"matched"`
	DryRun  bool           `json:"dry_run"`
	Left    []string       `json:"left"`

	Error string `json:"error"`
	Cure  string `json:"cure"`
}

func purgeCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var call purgeCall
	var admin, token string
	cmd := &cobra.Command{
		Use:   "purge [--admin URL] [--all] [--site HOST] [--soft] [--dry-run] [--token T] [URL...]",
		Short: "Make pages invalid: those of URLs, or all",
		Long: "Make pages invalid. A URL is http://host/path, for both schemes, or /path, for every host;\n" +
			"without a query it covers the page with every query.",
		RunE: func(_ *cobra.Command, urls []string) error {
			call.URLs = urls
			if err := call.validate(); err != nil {
				return err
			}
			if token == "" {
				token = os.Getenv(tokenVar)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			var err error
			*code, err = purge(ctx, admin, token, call, stdout, stderr)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&admin, "admin", defaultAdmin, "the admin endpoint of the edge")
	f.BoolVar(&call.All, "all", false, "purge every page")
	f.StringVar(&call.Site, "site", "", "only pages of the site that answers this host")
	f.BoolVar(&call.Soft, "soft", false, "pages count as expired, and are served while they are filled again")
	f.BoolVar(&call.DryRun, "dry-run", false, "only say what would be purged")
	f.StringVar(&token, "token", "", "token of the admin endpoint (default $"+tokenVar+")")
	return cmd
}

// validate says what is wrong with a call before it is sent. What only the
// server knows, it tells.
func (c *purgeCall) validate() error {
	if len(c.URLs) == 0 && !c.All {
		return errors.New("nothing to purge: name URLs, or say --all")
	}
	for _, u := range c.URLs {
		if err := validatePurgeURL(u); err != nil {
			return err
		}
	}
	return nil
}

func validatePurgeURL(written string) error {
	if strings.HasPrefix(written, "/") {
		return nil
	}
	scheme, rest, ok := strings.Cut(written, "://")
	if !ok {
		return fmt.Errorf("URL %q: want http://host/path, or a path that begins with a slash", written)
	}
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return fmt.Errorf("URL %q: scheme %q, want http or https", written, scheme)
	}
	host, _, _ := strings.Cut(rest, "/")
	switch {
	case host == "":
		return fmt.Errorf("URL %q: no host", written)
	case host == rest || strings.ContainsAny(host, "?#"):
		return fmt.Errorf("URL %q: no slash after the host: %s://HOST/ is its front page, --all --site HOST all of it", written, scheme)
	}
	return nil
}

// purge sends the call and prints the receipt. It returns the exit code, or an
// error in the call itself.
func purge(ctx context.Context, admin, token string, call purgeCall, stdout, stderr io.Writer) (int, error) {
	endpoint, err := purgeEndpoint(admin)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	status, a, err := postPurge(ctx, endpoint, token, call)
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: purge: %v\n", err)
		return exitFailed, nil
	}
	if status != http.StatusOK {
		fmt.Fprintf(stderr, "ssiedge: purge: %s\n", a.refusal(endpoint, status))
		if status < 500 {
			return exitUsage, nil
		}
		return exitFailed, nil
	}
	fmt.Fprintln(stdout, a.receipt())
	for _, left := range a.Left {
		fmt.Fprintf(stderr, "left: %s\n", left)
	}
	return exitDone, nil
}

// purgeEndpoint gives the URL to post to.
func purgeEndpoint(admin string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--admin %q: want a URL like %s", admin, defaultAdmin)
	}
	return u.JoinPath("purge").String(), nil
}

// postPurge asks once. A redirect is not followed: the token is for one server.
func postPurge(ctx context.Context, endpoint, token string, call purgeCall) (status int, a purgeAnswer, err error) {
	body, err := json.Marshal(call)
	if err != nil {
		return 0, a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, a, err
	}
	req.Header.Set("Content-Type", "application/json")
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
		return 0, a, unreached(ctx, endpoint, err)
	}
	defer res.Body.Close()
	err = json.NewDecoder(io.LimitReader(res.Body, maxPurgeAnswer)).Decode(&a)
	if err != nil && res.StatusCode == http.StatusOK {
		return 0, a, fmt.Errorf("%s: the answer is no receipt: %w", endpoint, err)
	}
	return res.StatusCode, a, nil
}

// unreached says why there is no answer, and what to do.
func unreached(ctx context.Context, endpoint string, err error) error {
	switch cause := errors.Unwrap(err); { // without the method and the URL
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: connection refused: is ssiedge running there? --admin names another address", endpoint)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %v: it may have been purged all the same", endpoint, purgeTimeout)
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%s: interrupted: it may have been purged all the same", endpoint)
	case cause != nil:
		return fmt.Errorf("%s: %w", endpoint, cause)
	}
	return err
}

// receipt is the answer in one line.
func (a *purgeAnswer) receipt() string {
	did := fmt.Sprintf("purged: seq %d, id %s", a.Seq, a.ID)
	if a.DryRun {
		did = "dry run, nothing purged"
	}
	if a.Matched == nil {
		return did + ", matched not counted"
	}
	var tiers []string
	for _, tier := range slices.Sorted(maps.Keys(a.Matched)) {
		tiers = append(tiers, fmt.Sprintf("%d in %s", a.Matched[tier], tier))
	}
	if tiers == nil {
		tiers = []string{"none"}
	}
	return did + ", matched " + strings.Join(tiers, ", ")
}

// refusal is the server's reason and cure, or the status of a server that gives
// neither.
func (a *purgeAnswer) refusal(endpoint string, status int) string {
	switch {
	case a.Error == "":
		return fmt.Sprintf("%s: status %d, and no reason that ssiedge would give: is that its admin endpoint?", endpoint, status)
	case status == http.StatusUnauthorized:
		return a.Error + ": give the admin.token of the edge's configuration as --token or in " + tokenVar
	case a.Cure == "":
		return a.Error
	}
	return a.Error + "; " + a.Cure
}
