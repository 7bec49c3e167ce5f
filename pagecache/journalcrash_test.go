package pagecache

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Variables that make this test program another process that uses a journal.
const (
	crashDir  = "PAGECACHE_TEST_JOURNAL"
	crashMode = "PAGECACHE_TEST_JOURNAL_MODE" // write | hold
)

// TestJournalProcess is that other process; run by itself it does nothing.
func TestJournalProcess(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	j, err := OpenFileJournal(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("open", j.Head())
	if os.Getenv(crashMode) == "hold" {
		io.Copy(io.Discard, os.Stdin) // until it is closed, or this is killed
		j.Close()
		return
	}
	for i := 0; ; i++ {
		var batch []Record
		for n := range 1 + i%3 {
			batch = append(batch, urlRecordNow(fmt.Sprintf("/%d/%d/%d", os.Getpid(), i, n)))
		}
		batch = append(batch, urlRecordNow("/copy")) // of which compactions leave one
		last, err := j.Append(batch)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("ack", last, len(batch), i)
		if i%2 == 1 {
			if err := j.Compact(1<<20, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// journalProcess starts one. It is killed at the end of the test.
func journalProcess(t *testing.T, dir, mode string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestJournalProcess$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashMode+"="+mode)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // closed with this process
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "open ") {
		cmd.Process.Kill()
		t.Fatalf("the other process says %q", lines.Text())
	}
	return cmd, lines
}

// acknowledged is what a process said that it had appended.
type acknowledged struct {
	last uint64
	n, i int
	pid  int
}

// crash runs a process until it has appended a few times, kills it in the middle
// of whatever it does then, and returns all that it had acknowledged.
func crash(t *testing.T, dir string, appends int) (acks []acknowledged) {
	t.Helper()
	cmd, lines := journalProcess(t, dir, "write")
	for lines.Scan() {
		a := acknowledged{pid: cmd.Process.Pid}
		if n, _ := fmt.Sscanf(lines.Text(), "ack %d %d %d", &a.last, &a.n, &a.i); n != 3 {
			continue // the last line may be cut off, or be the test's
		}
		acks = append(acks, a)
		if len(acks) == appends {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil || len(acks) < appends {
		t.Fatalf("the other process ended (%v) after %d appends, want it killed after %d", err, len(acks), appends)
	}
	return acks
}

// A process that is killed while it appends and compacts loses nothing that it
// had acknowledged, and no number is given twice.
func TestKilledJournal(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	dir := filepath.Join(t.TempDir(), "state")
	name, head := "", uint64(0)
	want := map[uint64]string{} // every record that was acknowledged, but the copies
	for round := range rounds {
		acks := crash(t, dir, 1+rand.IntN(12))
		for _, a := range acks {
			first := a.last - uint64(a.n) + 1
			if first <= head {
				t.Fatalf("round %d: number %d was given again, after %d", round, first, head)
			}
			head = a.last
			for n := range a.n - 1 {
				want[first+uint64(n)] = fmt.Sprintf("/%d/%d/%d", a.pid, a.i, n)
			}
		}
		j := openJournal(t, dir)
		if round == 0 {
			name = j.Name()
		}
		if j.Name() != name || j.Floor() != 0 || j.Head() < head {
			t.Fatalf("round %d: name %q, floor %d, head %d; want %q, 0, %d or more", round, j.Name(), j.Floor(), j.Head(), name, head)
		}
		head = j.Head()
		found, copies := map[uint64]string{}, uint64(0)
		for _, r := range replayed(t, j, 0) {
			if r.Pattern == "/copy" {
				copies = r.Seq
			} else {
				found[r.Seq] = r.Pattern
			}
		}
		for seq, pattern := range want {
			if found[seq] != pattern {
				t.Fatalf("round %d: record %d is %q, want %q", round, seq, found[seq], pattern)
			}
		}
		if copies != head { // it is the end of each Append: one that is there is there whole
			t.Fatalf("round %d: the last copy is %d, head %d", round, copies, head)
		}
		want = found // also what was appended and not acknowledged any more: it stays
		j.Close()
	}
}

// A second process is told who has the journal; it may have it when the first
// one is gone, however it went.
func TestJournalOfTwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	cmd, lines := journalProcess(t, dir, "hold")
	_, err := OpenFileJournal(dir, nil)
	if want := fmt.Sprintf("directory %q is in use by process %d", dir, cmd.Process.Pid); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	cmd.Process.Kill()
	for lines.Scan() {
	}
	cmd.Wait()
	j := openJournal(t, dir)
	if last := mustAppend(t, j, urlRecord("/a")); last != 1 {
		t.Errorf("record %d, want 1", last)
	}
}
