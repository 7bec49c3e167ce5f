package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// take measures a subject once, after a moment in which it gets warm.
func (w *workshop) take(s *subject) error {
	if _, err := w.wrk(s, time.Second); err != nil {
		return err
	}
	before, err := s.server.used()
	if err != nil {
		return err
	}
	began := time.Now()
	requests, err := w.wrk(s, w.settings.each)
	if err != nil {
		return err
	}
	took := time.Since(began)
	after, err := s.server.used()
	if err != nil {
		return err
	}
	n := float64(requests)
	s.samples = append(s.samples, sample{rate: n / took.Seconds(), cost: float64((after - before).Microseconds()) / n})
	return nil
}

// wrk asks for as long as it is told, and gives the number of answers.
func (w *workshop) wrk(s *subject, long time.Duration) (requests int, err error) {
	command := pinned(clientProcessor, "wrk", "-t", "1", "-c", strconv.Itoa(w.settings.connections),
		"-d", strconv.Itoa(int(long.Seconds())), "-H", "Host: "+s.host, s.url)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w: %s", err, stderr.String())
	}
	return answers(string(out))
}

// answers reads what wrk prints. An answer that was no 200, and a connection in
// trouble, make the measurement worthless.
func answers(printed string) (requests int, err error) {
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		switch {
		case strings.Contains(line, "Non-2xx") || strings.Contains(line, "Socket errors"):
			return 0, fmt.Errorf("wrk says %q", strings.TrimSpace(line))
		case len(words) > 2 && words[1] == "requests" && words[2] == "in":
			if requests, err = strconv.Atoi(words[0]); err != nil {
				return 0, fmt.Errorf("wrk says %q, want a number of requests", strings.TrimSpace(line))
			}
		}
	}
	if requests == 0 {
		return 0, fmt.Errorf("wrk got no answer: %q", printed)
	}
	return requests, nil
}

// pinned is a command on one processor.
func pinned(processor int, name string, args ...string) *exec.Cmd {
	return exec.Command("taskset", append([]string{"-c", strconv.Itoa(processor), name}, args...)...)
}
