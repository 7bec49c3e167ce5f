package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The two processors: what is measured has one for itself, and everything else
// shares the other.
const (
	serverProcessor = 0
	clientProcessor = 1
)

// process is a server that was started, with its children.
type process struct {
	cmd   *exec.Cmd
	addr  string
	ended chan struct{} // closed when it has ended
}

// start starts a server on a processor and waits until it listens on addr.
func start(processor int, addr, log, name string, args ...string) (*process, error) {
	p := &process{cmd: pinned(processor, name, args...), addr: addr, ended: make(chan struct{})}
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is seen in its log
		close(p.ended)
	}()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			return p, c.Close()
		}
		select {
		case <-p.ended:
			said, _ := os.ReadFile(log)
			return nil, fmt.Errorf("%s ended before it listened on %s:\n%s", name, addr, said)
		default:
		}
	}
	p.stop()
	return nil, fmt.Errorf("%s does not listen on %s", name, addr)
}

// stop ends the server.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// used is the processor time of the server and its children so far.
func (p *process) used() (time.Duration, error) {
	const tick = 10 * time.Millisecond // USER_HZ, which Linux tells every program
	stats, err := allStats()
	if err != nil {
		return 0, err
	}
	own := map[int]bool{p.cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for pid, s := range stats {
			if !own[pid] && own[s.parent] {
				own[pid], grown = true, true
			}
		}
	}
	var ticks int64
	for pid := range own {
		s, ok := stats[pid]
		if !ok {
			return 0, errors.New("the server has ended")
		}
		ticks += s.ticks
	}
	return time.Duration(ticks) * tick, nil
}

// stat is what counts here of /proc/PID/stat.
type stat struct {
	parent int
	ticks  int64 // user and system
}

func allStats() (map[int]stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("no /proc here"), err)
	}
	all := map[int]stat{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if all[pid], err = parseStat(text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// parseStat reads proc_pid_stat(5). The second field is a name in parentheses,
// which may hold anything.
func parseStat(text []byte) (s stat, err error) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return s, fmt.Errorf("%d fields behind the name, want 13 or more", len(fields))
	}
	s.parent, err = strconv.Atoi(fields[1])
	for _, field := range fields[11:13] {
		n, broken := strconv.ParseInt(field, 10, 64)
		s.ticks, err = s.ticks+n, errors.Join(err, broken)
	}
	return s, err
}

// freeAddr gives an address on 127.0.0.1 that nobody listens on, below the ports
// that the kernel hands out by itself.
func freeAddr() (string, error) {
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(20000+rand.IntN(12000)))
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port between 20000 and 32000")
}
