package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"text/tabwriter"
	"time"
)

// work is one line of the performance contract: ssiedge first, then whom it is
// compared with.
type work struct {
	name     string
	subjects []*subject
}

// subject is a server at a work.
type subject struct {
	name     string
	server   *process
	url      string
	host     string  // of the Host field
	want     int     // bytes of the body
	contract float64 // how many times its requests ssiedge has to answer in the same time; 0: nothing is said
	samples  []sample
}

// sample is one measurement.
type sample struct {
	rate float64 // requests a second
	cost float64 // microseconds of processor time a request, of all processes of the server
}

// same makes sure that every server answers, and with the bytes that it should.
func same(works []*work) error {
	for _, k := range works {
		for _, s := range k.subjects {
			if err := s.answers(); err != nil {
				return fmt.Errorf("%s: %s: %w", k.name, s.name, err)
			}
		}
	}
	return nil
}

// answers asks twice: what is kept is kept by then.
func (s *subject) answers() error {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	for range 2 {
		request, err := http.NewRequest(http.MethodGet, s.url, nil)
		if err != nil {
			return err
		}
		request.Host = s.host
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK || len(body) != s.want {
			return fmt.Errorf("GET %s: status %d and %d bytes, want 200 and %d", s.url, answer.StatusCode, len(body), s.want)
		}
	}
	return nil
}

// median gives the median of what part tells of the samples.
func (s *subject) median(part func(sample) float64) float64 {
	var all []float64
	for _, one := range s.samples {
		all = append(all, part(one))
	}
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2
	}
	return all[len(all)/2]
}

// print prints the table. Ratios are of this run, and above 1 where ssiedge is
// the faster one.
func print(w io.Writer, works []*work) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tserver\trequests/s\tCPU us/request\tby rate\tby CPU\tcontract")
	for _, k := range works {
		us := k.subjects[0]
		for i, s := range k.subjects {
			rate, cost := s.median(func(s sample) float64 { return s.rate }), s.median(func(s sample) float64 { return s.cost })
			fmt.Fprintf(t, "%s\t%s\t%.0f\t%.2f\t", k.name, s.name, rate, cost)
			if i == 0 {
				fmt.Fprint(t, "\t\t\n")
				continue
			}
			fmt.Fprintf(t, "%.2f\t%.2f\t", us.median(func(s sample) float64 { return s.rate })/rate, cost/us.median(func(s sample) float64 { return s.cost }))
			if s.contract != 0 {
				fmt.Fprintf(t, "%.2f", s.contract)
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}
