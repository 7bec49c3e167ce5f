package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ssiedge/ssiedge/internal/warm"
)

// warmFlags are the flags of ssiedge warm.
type warmFlags struct {
	options warm.Options
	sitemap string
	urls    string
	json    bool
}

func warmCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var flags warmFlags
	cmd := &cobra.Command{
		Use:   "warm --edge URL (--sitemap URL|FILE | --urls FILE|-)",
		Short: "Ask an edge for pages, so that they are there",
		Long: `Ask an edge for each page of a sitemap or a list once, so that it is there for
the first visitor, and say what the edge kept, had already, did not keep (and
why), and what failed.

Exit code: 0 done, 1 some of it failed or it was interrupted, 2 the call is wrong.`,
		Example: `  ssiedge warm --edge http://127.0.0.1:8080 --sitemap https://www.example.com/sitemap.xml
  ssiedge warm --edge http://127.0.0.1:8080 --host www.example.com --urls paths.txt --rate 50`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, stdout, stderr, code)
		},
	}
	flags.define(cmd)
	return cmd
}

func (w *warmFlags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.options.Edge, "edge", "", "the edge to ask, like http://127.0.0.1:8080")
	f.StringVar(&w.sitemap, "sitemap", "", "sitemap or index of sitemaps, plain or gzip: a URL or a file")
	f.StringVar(&w.urls, "urls", "", "file with a URL or a path on each line; - is standard input")
	f.StringVar(&w.options.Host, "host", "", "Host to ask for, in place of that of each URL")
	f.StringArrayVar(&w.options.Header, "header", nil, `further field of each request, "Name: value"; may be repeated`)
	f.StringArrayVar(&w.options.Cookies, "cookie", nil, `cookie of each request, "name=value"; may be repeated`)
	f.StringArrayVar(&w.options.Exclude, "exclude", nil, "pattern of paths not to ask for, * is any run of characters; may be repeated")
	f.IntVar(&w.options.Concurrency, "concurrency", warm.DefaultConcurrency, "requests under way at once")
	f.Float64Var(&w.options.Rate, "rate", 0, "requests a second at most; 0 is no bound")
	f.BoolVar(&w.json, "json", false, "print the summary as JSON")
}

// run warms. Its error means that the call is wrong.
func (w *warmFlags) run(cmd *cobra.Command, stdout, stderr io.Writer, code *int) error {
	if w.options.Concurrency == 0 { // the package takes it for unset
		return fmt.Errorf("warm: --concurrency 0: a number from 1 to %d is wanted", warm.MaxConcurrency)
	}
	bar := w.watch(stderr)
	w.options.Version = version()
	warmer, err := warm.New(w.options)
	if err != nil {
		return fmt.Errorf("warm: --%w", err)
	}
	source, closer, err := w.source(cmd.InOrStdin())
	if err != nil {
		return fmt.Errorf("warm: %w", err)
	}
	defer closer.Close()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process at once
	report := warmer.Run(ctx, source)
	if bar != nil {
		bar.Clear()
	}
	*code = w.finish(report, stdout, stderr)
	return nil
}

// watch has entries that cannot be asked for reported as they are met, and
// progress drawn where somebody looks: the bar is nil elsewhere.
func (w *warmFlags) watch(stderr io.Writer) *warm.Bar {
	var bar *warm.Bar
	if f, ok := stderr.(*os.File); ok && !w.json && term.IsTerminal(int(f.Fd())) {
		bar = warm.NewBar(stderr)
		w.options.Progress = bar.Show
	}
	w.options.Mistake = func(f warm.Failure) {
		if bar != nil {
			bar.Clear()
		}
		fmt.Fprintln(stderr, f)
	}
	return bar
}

// source opens what the flags name. The caller closes it.
func (w *warmFlags) source(stdin io.Reader) (warm.Source, io.Closer, error) {
	none := io.NopCloser(nil)
	switch {
	case w.sitemap != "" && w.urls != "":
		return nil, nil, errors.New("--sitemap and --urls exclude each other: one source is wanted")
	case w.sitemap == "" && w.urls == "":
		return nil, nil, errors.New("which pages? Give --sitemap URL|FILE, or --urls FILE (- is standard input)")
	case w.urls == "-":
		return warm.List("stdin", stdin), none, nil
	case isURL(w.sitemap):
		return warm.SitemapURL(w.sitemap), none, nil
	}
	name := w.sitemap + w.urls // one of them is empty
	f, err := openFile(name)
	if err != nil {
		return nil, nil, err
	}
	if w.urls != "" {
		return warm.List(name, f), f, nil
	}
	return warm.SitemapFile(name, f), f, nil
}

// isURL tells a URL from the name of a file.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// openFile opens a file to read; a directory is none.
func openFile(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%q is a directory, a file is wanted", name)
	}
	return f, nil
}

// finish prints what came of it, and gives the exit code.
func (w *warmFlags) finish(report *warm.Report, stdout, stderr io.Writer) int {
	write := report.WriteText
	if w.json {
		write = report.WriteJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintf(stderr, "ssiedge: warm: %v\n", err)
		return exitFailed
	}
	if !report.OK() {
		return exitFailed
	}
	return exitDone
}
