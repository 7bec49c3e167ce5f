package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/ssiedge/ssiedge/conf"
	"github.com/ssiedge/ssiedge/internal/accesslog"
	"github.com/ssiedge/ssiedge/internal/admin"
	"github.com/ssiedge/ssiedge/internal/edge"
)

// defaultFile is the configuration that is read where nothing else is said.
const defaultFile = "ssiedge.toml"

// drainTime bounds how long requests under way may take after SIGTERM.
const drainTime = 30 * time.Second

func serveCommand(stdout, stderr io.Writer, code *int) *cobra.Command {
	var flags conf.Flags
	var file string
	cmd := &cobra.Command{
		Use:   "serve [-c FILE | --root DIR --origin URL --listen ADDR --memcache ADDR]",
		Short: "Serve a site",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			load, err := loader(file, flags)
			if err != nil {
				return err
			}
			*code = serveUntilSignal(load, stdout, stderr)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "config", "c", "", "configuration file (default "+defaultFile+")")
	f.StringVar(&flags.Root, "root", "", "folder of published pages")
	f.StringVar(&flags.Origin, "origin", "", "the app: http://host:port or unix:/path")
	f.StringVar(&flags.Listen, "listen", "", "address to listen on, host:port or unix:/path")
	f.StringVar(&flags.Memcache, "memcache", "", "memcached that holds published pages, host:port")
	return cmd
}

// loader gives what reads the configuration, at the start and at each reload.
func loader(file string, flags conf.Flags) (func() (*conf.Config, error), error) {
	if flags != (conf.Flags{}) {
		if file != "" {
			return nil, errors.New("-c and the flags of a site exclude each other: put them into the file")
		}
		return func() (*conf.Config, error) { return conf.FromFlags(flags) }, nil
	}
	if file == "" {
		file = defaultFile
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("no %s here: write one, name one with -c, or say --root DIR and --origin URL", defaultFile)
		}
	}
	return func() (*conf.Config, error) { return conf.Load(file, os.LookupEnv) }, nil
}

// serveUntilSignal serves until SIGTERM or SIGINT, which drains; a second one
// stops at once. SIGHUP reloads.
func serveUntilSignal(load func() (*conf.Config, error), stdout, stderr io.Writer) int {
	cfg, err := load()
	if err != nil {
		printProblems(stderr, err)
		return exitUsage
	}
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)

	drain, drained := context.WithCancel(context.Background())
	quit, quitted := context.WithCancel(context.Background())
	defer drained()
	defer quitted()
	go func() { // ends with the process
		<-stop
		drained()
		<-stop
		quitted()
	}()
	return serve(drain, cfg, serveOptions{load: load, hangup: hangup, quit: quit, stdout: stdout, stderr: stderr})
}

// serveOptions is what serve needs beside the configuration.
type serveOptions struct {
	load   func() (*conf.Config, error) // nil: no reload
	hangup <-chan os.Signal             // nil: none
	quit   context.Context              // ends the drain; nil: only its bound does
	opened []net.Listener               // listeners of the configuration that are open already
	ready  func(addrs []net.Addr)       // called once all listeners are open; may be nil
	stdout io.Writer
	stderr io.Writer
}

// printProblems writes an error of package conf, each mistake on a line.
func printProblems(w io.Writer, err error) {
	var list conf.ErrorList
	if !errors.As(err, &list) {
		fmt.Fprintf(w, "ssiedge: %v\n", err)
		return
	}
	for _, p := range list {
		fmt.Fprintln(w, p.Error())
	}
}

// serve runs an edge by cfg until ctx ends, then drains.
func serve(ctx context.Context, cfg *conf.Config, o serveOptions) int {
	s, err := start(cfg, o)
	if err != nil {
		fmt.Fprintf(o.stderr, "ssiedge: %v\n", err)
		return exitFailed
	}
	defer s.close()
	if o.ready != nil {
		o.ready(s.addrs())
	}
	return s.run(ctx, o)
}

// service is a running edge: its listeners, its servers, its logs.
type service struct {
	cfg      atomic.Pointer[conf.Config]
	load     func() (*conf.Config, error)
	log      *slog.Logger
	level    *slog.LevelVar
	access   *accesslog.Log // nil: off
	edge     *edge.Edge
	server   *edge.Server
	admin    *admin.Server
	public   []net.Listener
	adminL   net.Listener
	draining atomic.Bool
}

// start opens everything that serving needs. Where something cannot be opened,
// what was opened is closed, and the error says what is wrong.
func start(cfg *conf.Config, o serveOptions) (_ *service, err error) {
	s := &service{load: o.load, level: new(slog.LevelVar)}
	s.cfg.Store(cfg)
	s.level.Set(cfg.Log.Level)
	s.log = slog.New(slog.NewTextHandler(o.stderr, &slog.HandlerOptions{Level: s.level}))
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for _, w := range cfg.Warnings {
		s.log.Warn(w.Error())
	}
	if s.access, err = openAccess(cfg.Log, o, s.log); err != nil {
		return nil, err
	}
	options := cfg.Edge
	options.Log, options.Access, options.Version = s.log, s.access, version()
	if s.edge, err = edge.New(options); err != nil {
		return nil, err
	}
	s.server = edge.NewServer(s.edge)
	s.admin = admin.New(admin.Options{
		Token: cfg.Admin.Token, Metrics: s.gatherer(), Ready: s.ready, Reload: s.reload,
		Purge:   purger{s.edge},
		Explain: explainer{s.edge},
		Version: version(), Log: s.log,
	})
	if err = s.listen(cfg, o.opened); err != nil {
		return nil, err
	}
	if err := s.edge.CheckMemcache(); err != nil {
		s.log.Warn("memcached does not answer: its pages are missing until it does", "error", err)
	}
	return s, nil
}

func openAccess(l conf.Log, o serveOptions, log *slog.Logger) (*accesslog.Log, error) {
	options := accesslog.Options{Log: log, Format: accesslog.Combined}
	if l.Format == "json" {
		options.Format = accesslog.JSON
	}
	switch l.Access {
	case "off":
		return nil, nil
	case "stdout":
		options.Out = o.stdout
	case "stderr":
		options.Out = o.stderr
	default:
		options.Path = l.Access
	}
	return accesslog.Open(options)
}

func (s *service) gatherer() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(s.edge, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// listen opens what cfg says but for what is open already.
func (s *service) listen(cfg *conf.Config, opened []net.Listener) error {
	for _, addr := range cfg.Listen {
		l, err := openedAt(addr, opened)
		if err != nil {
			return err
		}
		s.public = append(s.public, l)
	}
	var err error
	s.adminL, err = openedAt(cfg.Admin.Listen, opened)
	return err
}

func (s *service) addrs() []net.Addr {
	var addrs []net.Addr
	for _, l := range s.public {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// run serves until ctx ends or a listener fails, then drains.
func (s *service) run(ctx context.Context, o serveOptions) int {
	var wg sync.WaitGroup
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	serveOn := func(l net.Listener, name string, serve func(net.Listener) error) {
		s.log.Info("listening", "on", l.Addr().String(), "for", name)
		wg.Go(func() {
			if err := serve(l); err != nil && !s.draining.Load() {
				stop(fmt.Errorf("%s: %w", l.Addr(), err))
			}
		})
	}
	for _, l := range s.public {
		serveOn(l, "visitors", s.server.Serve)
	}
	serveOn(s.adminL, "admin", s.admin.Serve)
	s.wait(ctx, o.hangup)
	err := s.drain(o.quit)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err != nil {
		s.log.Error("stopped", "error", err)
		return exitFailed
	}
	s.log.Info("stopped")
	return exitDone
}

// wait reloads at every hangup until ctx ends.
func (s *service) wait(ctx context.Context, hangup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			if err := s.reload(); err == nil {
				s.log.Info("reloaded")
			}
		}
	}
}

// drain lets requests under way end, for drainTime at most or until quit ends.
func (s *service) drain(quit context.Context) error {
	s.draining.Store(true)
	s.log.Info("draining: requests under way may end", "at_most", drainTime)
	if quit == nil {
		quit = context.Background()
	}
	ctx, cancel := context.WithTimeout(quit, drainTime)
	defer cancel()
	err := s.server.Shutdown(ctx)
	for _, l := range s.public {
		l.Close() // Shutdown does not know those whose Serve has yet to begin
	}
	if adminErr := s.admin.Shutdown(ctx); err == nil {
		err = adminErr
	}
	if err != nil {
		return fmt.Errorf("requests were cut off: %w", err)
	}
	return nil
}

func (s *service) ready() error {
	if s.draining.Load() {
		return errors.New("draining")
	}
	return nil
}

// close ends what start began and drain did not.
func (s *service) close() {
	for _, l := range append(s.public, s.adminL) {
		if l != nil {
			l.Close()
		}
	}
	if s.edge != nil {
		s.edge.Close()
	}
	if s.access != nil {
		s.access.Close()
	}
}
