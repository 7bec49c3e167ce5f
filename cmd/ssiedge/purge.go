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
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// purgeCall is the body of POST /purge.
type purgeCall struct {
	URLs   []string `json:"urls,omitempty"`
	All    bool     `json:"all,omitempty"`
	Site   string   `json:"site,omitempty"`
	Soft   bool     `json:"soft,omitempty"`
	DryRun bool     `json:"dry_run,omitempty"`
}

// purgeAnswer is the receipt.
type purgeAnswer struct {
	ID      string         `json:"id"`
	Seq     uint64         `json:"seq"`
	Matched map[string]int `json:"matched"`
	DryRun  bool           `json:"dry_run"`
	Left    []string       `json:"left"`

	refusal adminRefusal // where the status is not 200
}

func purgeCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var call purgeCall
	admin := adminCall{doubt: "it may have been purged all the same"}
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
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			var err error
			*code, err = purge(ctx, admin, call, stdout, stderr)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&admin.admin, "admin", defaultAdmin, "the admin endpoint of the edge")
	f.BoolVar(&call.All, "all", false, "purge every page")
	f.StringVar(&call.Site, "site", "", "only pages of the site that answers this host")
	f.BoolVar(&call.Soft, "soft", false, "pages count as expired, and are served while they are filled again")
	f.BoolVar(&call.DryRun, "dry-run", false, "only say what would be purged")
	f.StringVar(&admin.token, "token", "", "token of the admin endpoint (default $"+tokenVar+")")
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
func purge(ctx context.Context, admin adminCall, call purgeCall, stdout, stderr io.Writer) (int, error) {
	endpoint, err := admin.endpoint("purge")
	if err != nil {
		return 0, err
	}
	status, a, err := postPurge(ctx, admin, endpoint.String(), call)
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: purge: %v\n", err)
		return exitFailed, nil
	}
	if status != http.StatusOK {
		fmt.Fprintf(stderr, "ssiedge: purge: %s\n", a.refusal.says(endpoint.String(), status))
		return refusedCode(status), nil
	}
	fmt.Fprintln(stdout, a.receipt())
	for _, left := range a.Left {
		fmt.Fprintf(stderr, "left: %s\n", left)
	}
	return exitDone, nil
}

func postPurge(ctx context.Context, admin adminCall, endpoint string, call purgeCall) (status int, a purgeAnswer, err error) {
	body, err := json.Marshal(call)
	if err != nil {
		return 0, a, err
	}
	status, answer, err := admin.ask(ctx, http.MethodPost, endpoint, endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, a, err
	}
	if status != http.StatusOK {
		return status, purgeAnswer{refusal: refusalOf(answer)}, nil
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return 0, a, fmt.Errorf("%s: the answer is no receipt: %w", endpoint, err)
	}
	return status, a, nil
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
