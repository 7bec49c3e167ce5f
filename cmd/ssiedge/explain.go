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
	url     string
	headers []string
	json    bool
}

func explainCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var call explainCall
	var admin adminCall
	cmd := &cobra.Command{
		Use:   "explain [--admin URL] [-H 'Name: value'] [--json] [--token T] URL",
		Short: "Say what the edge would do with a request, and why",
		Long: "Say what the edge would do with a GET of the URL, and why, without doing it. The URL is\n" +
			"http://host/path?query, or /path?query with -H 'Host: host'.",
		Args: cobra.ExactArgs(1),
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
	f.BoolVar(&call.json, "json", false, "print the answer of the admin endpoint as it is")
	f.StringVar(&admin.token, "token", "", "token of the admin endpoint (default $"+tokenVar+")")
	return cmd
}

// explain asks and prints. It returns the exit code, or an error in the call
// itself.
func explain(ctx context.Context, admin adminCall, call explainCall, stdout, stderr io.Writer) (int, error) {
	endpoint, err := admin.endpoint("explain")
	if err != nil {
		return 0, err
	}
	name := endpoint.String()
	endpoint.RawQuery = url.Values{"url": {call.url}, "header": call.headers}.Encode()
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
	var x edge.Explanation
	if err := json.Unmarshal(answer, &x); err != nil || x.Answer.By == "" {
		fmt.Fprintf(stderr, "ssiedge: explain: %s: the answer is no explanation\n", name)
		return exitFailed, nil
	}
	if call.json {
		fmt.Fprintln(stdout, strings.TrimSpace(string(answer)))
		return exitDone, nil
	}
	printExplanation(stdout, &x)
	return exitDone, nil
}
