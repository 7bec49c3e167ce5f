// Command ssiedge serves a site's pages from memory, disk or memcached and asks
// the app behind it only for the few dynamic fragments in them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // ssi.timezone works on machines without zone files

	"github.com/spf13/cobra"
)

// Exit codes of every command.
const (
	exitDone   = 0
	exitFailed = 1 // the work failed, in part or whole
	exitUsage  = 2 // the call or the configuration is wrong
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, but for the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	code := exitDone
	root := rootCommand(stdout, stderr, &code)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(stderr, "ssiedge: %v\n", err)
		return exitUsage
	}
	return code
}

func rootCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "ssiedge",
		Short:         "An edge cache with server-side includes",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		RunE:          aCommand,

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("ssiedge {{.Version}}\n")
	root.SetFlagErrorFunc(misused)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		serveCommand(stdout, stderr, code),
		checkCommand(stdout, stderr, code),
		demoCommand(stdout, stderr, code),
		warmCommand(stdout, stderr, code),
		purgeCommand(stdout, stderr, code),
		explainCommand(stdout, stderr, code),
		versionCommand(stdout),
	)
	return root
}

func checkCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	file := defaultFile
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong with the configuration and the pages under root, at file:line:col, and the cure",
		Args:  noArguments,
		Run: func(*cobra.Command, []string) {
			*code = runCheck(file, os.LookupEnv, stdout, stderr)
		},
	}
	cmd.Flags().StringVarP(&file, "config", "c", file, "configuration file")
	return cmd
}

func demoCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Serve a sample site, with a sample app, from this one process",
		Args:  noArguments,
		Run: func(*cobra.Command, []string) {
			// SIGHUP: the terminal was closed, and the demo's folder has to go.
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			*code = runDemo(ctx, stdout, stderr)
		},
	}
}

func versionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintln(stdout, "ssiedge "+version())
		},
	}
}
