package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ssiedge/ssiedge/internal/edge"
)

// explainCall is what to explain, and how to print it.
type explainCall struct {
	url       string
	headers   []string
	vs        string // another URL to compare with; "": the same, or no comparison
	vsHeaders []string
	json      bool
}

func explainCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var call explainCall
	var admin adminCall
	cmd := &cobra.Command{
		Use:   "explain [--admin URL] [-H 'Name: value'] [--vs URL] [--vs-header 'Name: value'] [--json] [--token T] URL",
		Short: "Say what the edge would do with a request, and why",
		Long: "Say what the edge would do with a GET of the URL, and why, without doing it. The URL is\n" +
			"http://host/path?query, or /path?query with -H 'Host: host'. With --vs, or --vs-header, say why\n" +
			"that request and another do or do not share a page.",
		Args: oneURL,
		RunE: func(_ *cobra.Command, args []string) error {
			call.url = args[0]
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			var err error
			*code, err = explain(ctx, admin, call, stdout, stderr)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&admin.admin, "admin", defaultAdmin, "the admin endpoint of the edge")
	f.StringArrayVarP(&call.headers, "header", "H", nil, "a header field of the request, 'Name: value'; may be given several times")
	f.StringVar(&call.vs, "vs", "", "the URL of another request, to compare with (default with --vs-header: the same)")
	f.StringArrayVar(&call.vsHeaders, "vs-header", nil, "a header field of the other request, in place of that of -H; 'Name:' takes it out")
	f.BoolVar(&call.json, "json", false, "print the answer of the admin endpoint as it is")
	f.StringVar(&admin.token, "token", "", "token of the admin endpoint (default $"+tokenVar+")")
	return cmd
}

// compares says whether there are two requests.
func (c *explainCall) compares() bool { return c.vs != "" || len(c.vsHeaders) > 0 }

func (c *explainCall) query() string {
	values := url.Values{"url": {c.url}, "header": c.headers, "vs_header": c.vsHeaders}
	if c.vs != "" {
		values.Set("vs", c.vs)
	}
	return values.Encode()
}

// explain asks and prints. It returns the exit code, or an error in the call
// itself.
func explain(ctx context.Context, admin adminCall, call explainCall, stdout, stderr io.Writer) (int, error) {
	endpoint, err := admin.endpoint("explain")
	if err != nil {
		return 0, err
	}
	name := endpoint.String()
	endpoint.RawQuery = call.query()
	status, answer, err := admin.ask(ctx, http.MethodGet, endpoint.String(), name, nil)
	if err != nil {
		fmt.Fprintf(stderr, "ssiedge: explain: %v\n", err)
		return exitFailed, nil
	}
	if status != http.StatusOK {
		refusal := refusalOf(answer)
		fmt.Fprintf(stderr, "ssiedge: explain: %s\n", refusal.says(name, status))
		return refusedCode(status), nil
	}
	show, ok := call.printer(answer)
	if !ok {
		fmt.Fprintf(stderr, "ssiedge: explain: %s: the answer is no explanation\n", name)
		return exitFailed, nil
	}
	if call.json {
		fmt.Fprintln(stdout, strings.TrimSpace(string(answer)))
		return exitDone, nil
	}
	show(stdout)
	return exitDone, nil
}

// printer gives what prints an answer for people; false: it is no answer.
func (c *explainCall) printer(answer []byte) (show func(io.Writer), ok bool) {
	if c.compares() {
		var x edge.Comparison
		err := json.Unmarshal(answer, &x)
		return func(w io.Writer) { printComparison(w, &x) }, err == nil && x.Why != ""
	}
	var x edge.Explanation
	err := json.Unmarshal(answer, &x)
	return func(w io.Writer) { printExplanation(w, &x) }, err == nil && x.Answer.By != ""
}
