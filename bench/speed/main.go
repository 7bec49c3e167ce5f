package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// settings are the flags.
type settings struct {
	edge        string // path of the ssiedge binary
	rounds      int
	each        time.Duration // of wrk, a server and a round
	connections int
	only        *regexp.Regexp // names of works
	trace       string         // where a profile of each work goes; "": none is taken
}

// run is main. The program is also its own app and bare handler: they are
// processes, so that each has a processor time of its own.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 3 && args[0] == "serve" {
		fmt.Fprintln(stderr, serveBuiltIn(args[1], args[2]))
		return 1
	}
	s, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if err := measure(s, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "speed:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (*settings, error) {
	s := new(settings)
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.edge, "edge", "bin/ssiedge", "`path` of the ssiedge binary")
	flags.IntVar(&s.rounds, "rounds", 5, "how often each server is measured")
	flags.DurationVar(&s.each, "for", 2*time.Second, "how long one measurement takes, in whole seconds")
	flags.IntVar(&s.connections, "connections", 64, "connections of wrk")
	flags.StringVar(&s.trace, "profile", "", "`folder` for a CPU profile of ssiedge at each work")
	only := flags.String("only", "", "`regexp` of the works to measure")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if s.only, err = regexp.Compile(*only); err == nil && (s.rounds < 1 || s.each < time.Second || s.connections < 1) {
		err = errors.New("want at least one round, one second and one connection")
	}
	if err != nil {
		fmt.Fprintln(stderr, "speed:", err)
	}
	return s, err
}

// measure starts the servers, measures them in turn, and prints the table.
func measure(s *settings, stdout, stderr io.Writer) error {
	w, err := newWorkshop(s)
	if err != nil {
		return err
	}
	defer w.close()
	var works []*work
	for _, k := range w.works() {
		if s.only.MatchString(k.name) {
			works = append(works, k)
		}
	}
	if err := same(works); err != nil {
		return err
	}
	for round := range s.rounds {
		for _, k := range works {
			fmt.Fprintf(stderr, "round %d of %d: %s\n", round+1, s.rounds, k.name)
			for _, subject := range k.subjects {
				if err := w.take(subject); err != nil {
					return fmt.Errorf("%s: %s: %w", k.name, subject.name, err)
				}
			}
		}
	}
	for _, k := range works {
		if s.trace == "" {
			break
		}
		if err := w.profile(k); err != nil {
			return err
		}
	}
	return print(stdout, works)
}
