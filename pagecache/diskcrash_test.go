package pagecache

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

const (
	crashedDisk = "PAGECACHE_TEST_DISK" // makes this test program another process that uses a disk
	crashKeys   = 20
)

// crashBody is what version v of a page holds: it is known whole.
func crashBody(key string, v int) string {
	return fmt.Sprintf("%s %d %s", key, v, strings.Repeat(fmt.Sprintf("%d.", v), v*577%20_000))
}

// TestDiskProcess is that other process; run by itself it does nothing. It puts
// pages under a few keys, in ever newer versions, and removes some; it says so
// after a Delete has returned.
func TestDiskProcess(t *testing.T) {
	dir := os.Getenv(crashedDisk)
	if dir == "" {
		return
	}
	first, _ := strconv.Atoi(os.Getenv(crashedDisk + "_FIRST"))
	d, err := openDisk(DiskOptions{Path: dir, Journal: "journal", Size: 40 * diskBlock}, testLimits)
	if err != nil {
		t.Fatal(err)
	}
	go d.Run(context.Background()) // until this is killed
	for v := first; ; v++ {
		key := fmt.Sprint("p", v%crashKeys)
		d.Put([]byte(key), pulledPage(crashBody(key, v)))
		if v%7 == 0 {
			if err := d.Delete([]byte(key)); err != nil {
				t.Fatal(err)
			}
			fmt.Println("deleted", key, v)
		}
		fmt.Println("put", key, v)
		tierBody(d, fmt.Sprint("p", (v+3)%crashKeys))
	}
}

// crashDisk runs a process until it has said so many lines, kills it in the
// middle of whatever it does then, and returns the last version of each key
// that was removed, and the last version there was.
func crashDisk(t *testing.T, dir string, first, lines int) (deleted map[string]int, last int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskProcess$")
	cmd.Env = append(os.Environ(), crashedDisk+"="+dir, fmt.Sprint(crashedDisk, "_FIRST=", first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deleted, n := map[string]int{}, 0
	for s := bufio.NewScanner(out); s.Scan(); n++ {
		var what, key string
		var v int
		if k, _ := fmt.Sscanf(s.Text(), "%s %s %d", &what, &key, &v); k == 3 {
			last = max(last, v)
			if what == "deleted" {
				deleted[key] = v
			}
		}
		if n == lines {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil || n < lines {
		t.Fatalf("the other process ended (%v) after %d lines, want it killed after %d", err, n, lines)
	}
	return deleted, last
}

// A process that is killed while it writes, at any moment, leaves whole pages
// and none that it had removed; what it had begun to write goes.
func TestDiskKilled(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	dir, first := t.TempDir(), 1
	deleted := map[string]int{}
	for round := range rounds {
		gone, last := crashDisk(t, dir, first, 1+rand.IntN(400))
		for key, v := range gone {
			deleted[key] = v
		}
		first = last + 1000 // what was put and not said is older than that
		d, stop := newTestDisk(t, dir, 1<<30)
		settle(t, d)
		wantConsistent(t, d) // no file that was being written is left
		for i := range crashKeys {
			key := fmt.Sprint("p", i)
			p, ok := d.Get([]byte(key))
			if !ok {
				continue
			}
			var k string
			var v int
			if n, _ := fmt.Sscanf(string(p.Body), "%s %d", &k, &v); n != 2 || string(p.Body) != crashBody(key, v) {
				t.Fatalf("round %d: %s is %.60q", round, key, p.Body)
			}
			if v <= deleted[key] {
				t.Fatalf("round %d: version %d of %s is back, %d was removed", round, v, key, deleted[key])
			}
		}
		if st := d.Stats(); st.Foreign+st.Errors != 0 {
			t.Fatalf("round %d: %+v", round, st)
		}
		stop()
	}
}
