package pagecache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// written makes a journal in dir with some records, of which two were appended
// as one, in two parts: what a compaction left and what came later. It returns
// the file and the journal's name.
func written(t testing.TB, dir string) (file []byte, name string) {
	t.Helper()
	j := openJournal(t, dir)
	mustAppend(t, j, urlRecord("/a"))
	mustAppend(t, j, urlRecord("/b"))
	mustAppend(t, j, urlRecord("/a"))
	if err := j.Compact(10, time.Time{}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, urlRecord("/c"), Record{Kind: KindURL, Pattern: "www.example.com/d?e", Site: "shop", Soft: true, Time: when})
	mustAppend(t, j, Record{Kind: KindAll, Time: when}) // 6
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, journalFileName))
	if err != nil {
		t.Fatal(err)
	}
	return file, j.Name()
}

// replace writes over a journal's file, in place: it stays the same file.
func replace(t testing.TB, dir string, file []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, journalFileName), file, 0o640); err != nil {
		t.Fatal(err)
	}
}

// The file is for people, too. Its form is a contract with journals there are.
func TestJournalFileForm(t *testing.T) {
	file, name := written(t, filepath.Join(t.TempDir(), "state"))
	lines := strings.SplitAfter(string(file), "\n")
	birth, ok := strings.CutPrefix(strings.Split(lines[0], " ")[3], "file=")
	if !ok {
		t.Fatalf("header %q", lines[0])
	}
	want := []string{
		"ssiedge-journal 1 name=" + name + " file=" + birth + " floor=0 head=3 records=2",
		`2 0 2026-11-30T17:05:00.123456789Z url hard "" "/b"`,
		`3 0 2026-11-30T17:05:00.123456789Z url hard "" "/a"`,
		`4 1 2026-11-30T17:05:00.123456789Z url hard "" "/c"`,
		`5 0 2026-11-30T17:05:00.123456789Z url soft "shop" "www.example.com/d?e"`,
		`6 0 2026-11-30T17:05:00.123456789Z all hard "" ""`,
		"",
	}
	for i, line := range lines {
		text, sum, _ := strings.Cut(line, " #")
		if text != want[i] || i < len(want)-1 && len(sum) != 9 {
			t.Errorf("line %d is %q, want %q and a checksum", i+1, line, want[i])
		}
	}
	if line := "6 0 2026-11-30T17:05:00.123456789Z all hard \"\" \"\" #f9bf29d1\n"; lines[5] != line {
		t.Errorf("the last line is %q, want %q", lines[5], line)
	}
}

// A write that was cut off anywhere leaves what was acknowledged before it, and
// of it nothing: records appended as one are there together or not at all.
func TestTornJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	lines := bytes.SplitAfter(file, []byte("\n"))
	compacted := len(lines[0]) + len(lines[1]) + len(lines[2]) // was there at once, by a rename
	for size := compacted; size <= len(file); size++ {
		whole, size64 := uint64(3), compacted
		for n, end := 3, compacted; n < len(lines) && end+len(lines[n]) <= size; n++ {
			end += len(lines[n])
			if r, left, err := parseRecord(lines[n]); err == nil && left == 0 {
				whole, size64 = r.Seq, end
			}
		}
		scan, err := scanJournal(bytes.NewReader(file[:size]), func(Record) error { return nil })
		if err != nil || scan.lost != nil || scan.head != whole || scan.size != int64(size64) || scan.torn != (size64 < size) {
			t.Fatalf("cut after %d bytes: %+v (%v), want head %d, %d bytes", size, scan, err, whole, size64)
		}
		if size%13 > 0 && size != len(file)-1 { // disks take their time
			continue
		}
		replace(t, dir, file[:size])
		j := openJournal(t, dir)
		before := replayed(t, j, 0)
		if j.Name() != name || j.Head() != whole || j.Floor() != 0 || before[len(before)-1].Seq != whole {
			t.Fatalf("cut after %d bytes: name %q, head %d, floor %d; want %q, %d", size, j.Name(), j.Head(), j.Floor(), name, whole)
		}
		if next := mustAppend(t, j, urlRecord("/next")); next != whole+1 {
			t.Fatalf("cut after %d bytes: then record %d, want %d", size, next, whole+1)
		}
		j.Close()
		j = openJournal(t, dir)
		if after := replayed(t, j, 0); len(after) != len(before)+1 || j.Name() != name {
			t.Fatalf("cut after %d bytes: %d records after one more, want %d", size, len(after), len(before)+1)
		}
		j.Close()
	}
}

// What was cut off is gone: it does not come out from behind a shorter record.
func TestTornJournalEndsShort(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	long := Record{Seq: 7, Kind: KindURL, Pattern: "/" + strings.Repeat("a", 500), Time: when}
	for what, torn := range map[string][]byte{
		"within a line":     appendRecord(nil, &long, 0)[:400],
		"between two lines": appendRecord(nil, &long, 1),
	} {
		replace(t, dir, append(bytes.Clone(file), torn...))
		j := openJournal(t, dir)
		mustAppend(t, j, urlRecord("/z"))
		j.Close()
		got, err := os.ReadFile(filepath.Join(dir, journalFileName))
		if want := appendRecord(bytes.Clone(file), &Record{Seq: 7, Kind: KindURL, Pattern: "/z", Time: when}, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("cut off %s: the file is %q (%v), want %q", what, got, err, want)
		}
		if j = openJournal(t, dir); j.Name() != name || j.Head() != 7 {
			t.Errorf("cut off %s: name %q, head %d; want %q, 7", what, j.Name(), j.Head(), name)
		}
		j.Close()
	}
}

// Whatever byte of the file a disk gets wrong: no record that was acknowledged
// is forgotten in silence.
func TestCorruptJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	for i := range file {
		for n, flip := range []byte{1, 0x20, 0x80, file[i], file[i] ^ '\n'} {
			if flip == 0 {
				continue
			}
			bad := bytes.Clone(file)
			bad[i] ^= flip
			lowest := uint64(0)
			for line := range bytes.Lines(bad) {
				if r, _, err := parseRecord(line); err == nil {
					lowest = r.Seq
				}
			}
			scan, err := scanJournal(bytes.NewReader(bad), func(Record) error { return nil })
			if err != nil || scan.lost == nil || scan.head < lowest {
				t.Fatalf("byte %d ^ %#x: %+v (%v), want something lost, and head %d or more", i, flip, scan, err, lowest)
			}
			if n != i%5 || i%17 > 0 && i != len(file)-1 { // disks take their time
				continue
			}
			replace(t, dir, bad)
			var log bytes.Buffer
			j, err := OpenFileJournal(dir, textLog(&log))
			if err != nil {
				t.Fatalf("byte %d ^ %#x: %v", i, flip, err)
			}
			if j.Name() == name || j.Floor() != scan.head || j.Head() != scan.head || replayed(t, j, 0) != nil {
				t.Fatalf("byte %d ^ %#x: the same name %v, floor %d, head %d, want %d", i, flip, j.Name() == name, j.Floor(), j.Head(), scan.head)
			}
			if !strings.Contains(log.String(), "records of the journal are lost") {
				t.Fatalf("byte %d ^ %#x: the log says %q", i, flip, log.String())
			}
			j.Close()
		}
	}
	// What was made of it is a journal like any other.
	j := openJournal(t, dir)
	head, floor, again := j.Head(), j.Floor(), j.Name()
	if last := mustAppend(t, j, urlRecord("/a")); last != head+1 {
		t.Errorf("record %d, want %d", last, head+1)
	}
	j.Close()
	if j = openJournal(t, dir); j.Name() != again || j.Head() != head+1 || j.Floor() != floor || len(replayed(t, j, 0)) != 1 {
		t.Errorf("opened again: name %q, head %d, floor %d", j.Name(), j.Head(), j.Floor())
	}
}

// Files that nobody's crash leaves.
func TestStrangeJournals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	lines := strings.SplitAfter(string(file), "\n")
	line := func(text string) string { return string(sealed([]byte(text), 0)) }
	header := func(words string) string {
		return line(strings.Join(append(strings.Split(lines[0], " ")[:4], words), " "))
	}
	tests := []struct {
		name, file, problem string
		head                uint64
	}{
		{"empty", "", "line 1: no header", 0},
		{"no end of the header", strings.TrimSuffix(lines[0], "\n"), "line 1: no header", 0},
		{"text", "hello\nworld\n", "line 1: line too short", 0},
		{"no header", strings.Join(lines[1:], ""), "line 1: no journal", 6},
		{"another version", line("ssiedge-journal 2 name=a file=b floor=0 head=0 records=0"), `line 1: version "2", want 1`, 0},
		{"another header", line("ssiedge-journal 1 name=a file=b head=0 floor=0 records=0"), `line 1: header has "head=0", want floor=`, 0},
		{"no name", line("ssiedge-journal 1 name= file=b floor=0 head=0 records=0"), `line 1: header has "name="`, 0},
		{"too much header", line("ssiedge-journal 1 name=a file=b floor=0 head=0 records=0 x"), "line 1: no journal", 0},
		{"floor over head", header("floor=5 head=4 records=0"), "line 1: floor 5 is above head 4", 0},
		{"negative floor", header("floor=-1 head=4 records=0"), "line 1: ", 0},
		{"a record is missing", lines[0] + lines[1] + lines[2] + lines[4] + lines[5], "line 4: record 5, want 4", 6},
		{"a batch's end is missing", lines[0] + lines[1] + lines[2] + lines[3] + lines[5], "line 5: record 6, want 5", 6},
		{"a batch counts wrong", lines[0] + lines[1] + lines[2] + lines[3] + line(`5 1 2026-11-30T17:05:00Z all hard "" ""`) + lines[5], "line 5: record 5 has 1 after it, want 0", 6},
		{"twice", lines[0] + lines[1] + lines[1], "line 3: record 2 after 2", 3},
		{"out of order", lines[0] + lines[2] + lines[1], "line 3: record 2 after 3", 3},
		{"number 0", lines[0] + line(`0 0 2026-11-30T17:05:00Z all hard "" ""`), "line 2: record 0 after 0", 3},
		{"a kind of later", lines[0] + lines[1] + lines[2] + line(`4 0 2026-11-30T17:05:00Z tag hard "" "a"`), `line 4: kind "tag" is not known`, 4},
		{"a mode of later", lines[0] + lines[1] + line(`9 0 2026-11-30T17:05:00Z all sweet "" ""`), `line 3: mode "sweet", want hard or soft`, 9},
		{"no time", lines[0] + line(`3 0 yesterday all hard "" ""`), "line 2: ", 3},
		{"one string", lines[0] + line(`3 0 2026-11-30T17:05:00Z all hard ""`), "line 2: one string, want two", 3},
		{"no strings", lines[0] + line(`3 0 2026-11-30T17:05:00Z all hard a b`), "line 2: invalid syntax", 3},
		{"three strings", lines[0] + line(`3 0 2026-11-30T17:05:00Z all hard "" "" ""`), "line 2: invalid syntax", 3},
		{"fields are missing", lines[0] + line(`3 0 2026-11-30T17:05:00Z all hard`), "line 2: fields are missing", 3},
		{"no pattern that there is", lines[0] + line(`3 0 2026-11-30T17:05:00Z url hard "" "a"`), `line 2: pagecache: invalid record: url "a"`, 3},
		{"an empty line", lines[0] + "\n" + lines[1], "line 2: line too short", 3},
		{"a long line", lines[0] + lines[1] + strings.Repeat("a", 2*maxLine) + "\n" + lines[5], "line 3: longer than ", 6},
		{"a long line at the end", lines[0] + lines[1] + strings.Repeat("a", 2*maxLine), "line 3: longer than ", 3},
		{"cut off where no crash does", lines[0] + lines[1], "line 3: 1 records, want 2 or more", 3},
		{"cut off in such a line", lines[0] + lines[1][:20], "line 2: 0 records, want 2 or more", 3},
		{"NULs at the end", string(file) + strings.Repeat("\x00", 512), "line 7: NUL bytes", 6},
		{"NULs within", strings.Join(lines[:4], "") + strings.Repeat("\x00", 512) + lines[5], "line 5: ", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			replace(t, dir, []byte(tt.file))
			var log bytes.Buffer
			j, err := OpenFileJournal(dir, textLog(&log))
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if said := strings.ReplaceAll(log.String(), `\"`, `"`); !strings.Contains(said, `problem="`+tt.problem) {
				t.Errorf("the log says %s, want %s", said, tt.problem)
			}
			if j.Name() == name || len(j.Name()) != 16 || j.Head() != tt.head || j.Floor() != tt.head || replayed(t, j, 0) != nil {
				t.Errorf("name %q, head %d, floor %d, want another name and %d", j.Name(), j.Head(), j.Floor(), tt.head)
			}
		})
	}
}

// A journal that was restored from a backup does not know what it lost: it is
// another journal.
func TestCopiedJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	for what, restore := range map[string]func(path, aside string) error{
		"renamed over it": func(path, aside string) error { return os.Rename(aside, path) },
		"in its place": func(path, aside string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Rename(aside, path)
		},
		"unpacked again": func(path, aside string) error {
			outlast(t, path, aside) // what tells them apart, then, is the time
			err := errors.Join(os.Remove(path), os.Remove(aside))
			if err != nil {
				return err
			}
			return os.WriteFile(path, file, 0o640) // often with the same inode
		},
	} {
		path := filepath.Join(dir, journalFileName)
		if err := os.WriteFile(path+".backup", file, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := restore(path, path+".backup"); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		j, err := OpenFileJournal(dir, textLog(&log))
		if err != nil {
			t.Fatal(err)
		}
		if j.Name() == name || j.Head() != 6 || j.Floor() != 6 || !strings.Contains(log.String(), "a copy of the journal") {
			t.Errorf("%s: the same name %v, head %d, floor %d, log %s", what, j.Name() == name, j.Head(), j.Floor(), log.String())
		}
		j.Close()
	}
}

// A journal whose directory is moved is the same one.
func TestMovedJournal(t *testing.T) {
	parent := t.TempDir()
	_, name := written(t, filepath.Join(parent, "a"))
	if err := os.Rename(filepath.Join(parent, "a"), filepath.Join(parent, "b")); err != nil {
		t.Fatal(err)
	}
	if j := openJournal(t, filepath.Join(parent, "b")); j.Name() != name || j.Head() != 6 || j.Floor() != 0 {
		t.Errorf("name %q, head %d, floor %d; want %q, 6, 0", j.Name(), j.Head(), j.Floor(), name)
	}
}

// A compaction that was cut off leaves the old file, and a piece of the new one.
func TestCutOffCompaction(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	file, name := written(t, dir)
	aside := filepath.Join(dir, journalAsideName)
	for size := 0; size <= len(file); size += 7 {
		if err := os.WriteFile(aside, file[:size], 0o640); err != nil {
			t.Fatal(err)
		}
		j := openJournal(t, dir)
		if j.Name() != name || j.Head() != 6 || len(replayed(t, j, 0)) != 5 {
			t.Fatalf("%d bytes aside: name %q, head %d", size, j.Name(), j.Head())
		}
		j.Close()
		if _, err := os.Stat(aside); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%d bytes aside: still there (%v)", size, err)
		}
	}
}

func TestJournalDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		filepath.Join(dir, "none", "state"): "no such file or directory",
		file:                                "not a directory",
		filepath.Join(file, "state"):        "not a directory",
	} {
		if _, err := OpenFileJournal(path, nil); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want its path and %q", path, err, says)
		}
	}
	state := filepath.Join(dir, "state")
	if err := os.MkdirAll(filepath.Join(state, journalFileName), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock is given back
		if _, err := OpenFileJournal(state, nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
			t.Errorf("a directory in its place: %v", err)
		}
	}
}

// In one process, too, a journal is opened once.
func TestJournalIsLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := openJournal(t, dir)
	_, err := OpenFileJournal(dir, nil)
	want := fmt.Sprintf("directory %q is in use by process %d: stop that, or give each its own directory", dir, os.Getpid())
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	mustAppend(t, j, urlRecord("/a"))
	j.Close()
	openJournal(t, dir)
}

// A write that fails is no record, and does not stand in the way of the next.
func TestJournalWriteFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := openJournal(t, dir)
	mustAppend(t, j, urlRecord("/a"))
	before := replayed(t, j, 0)

	readOnly, err := os.Open(j.path())
	if err != nil {
		t.Fatal(err)
	}
	writable := j.file
	defer writable.Close()
	j.file = readOnly
	if last, err := j.Append([]Record{urlRecord("/lost")}); err == nil || last != 0 || !strings.Contains(err.Error(), j.path()) {
		t.Fatalf("%d, %v, want an error that names the file", last, err)
	}
	if j.Head() != 1 || !reflect.DeepEqual(replayed(t, j, 0), before) {
		t.Errorf("after it: head %d, %v", j.Head(), replayed(t, j, 0))
	}
	// What the write may have left behind goes.
	if _, err := writable.WriteAt(appendRecord(nil, &Record{Seq: 2, Kind: KindURL, Pattern: "/lost", Time: when}, 0), j.size); err != nil {
		t.Fatal(err)
	}
	// As long as the file cannot be written anew, nothing is recorded.
	if err := os.Mkdir(filepath.Join(dir, journalAsideName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]Record{urlRecord("/lost")}); err == nil || j.Head() != 1 {
		t.Errorf("%v, head %d, want an error and 1", err, j.Head())
	}
	if err := os.Remove(filepath.Join(dir, journalAsideName)); err != nil {
		t.Fatal(err)
	}
	if last := mustAppend(t, j, urlRecord("/b")); last != 2 {
		t.Errorf("record %d, want 2", last)
	}
	name := j.Name()
	j.Close()
	j = openJournal(t, dir)
	if got := replayed(t, j, 0); len(got) != 2 || got[1].Pattern != "/b" || j.Name() != name {
		t.Errorf("opened again: %+v", got)
	}
}

// A compaction that fails changes nothing.
func TestJournalCompactFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var log bytes.Buffer
	opened, err := OpenFileJournal(dir, textLog(&log))
	if err != nil {
		t.Fatal(err)
	}
	j := opened.(*fileJournal)
	defer j.Close()
	mustAppend(t, j, urlRecord("/a"), urlRecord("/b"))
	aside := filepath.Join(dir, journalAsideName)
	if err := os.Mkdir(aside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Compact(1, time.Time{}); err == nil || !strings.Contains(log.String(), "cannot be compacted") {
		t.Errorf("%v, the log says %q", err, log.String())
	}
	if j.Floor() != 0 || len(replayed(t, j, 0)) != 2 {
		t.Errorf("floor %d, %d records; want 0, 2", j.Floor(), len(replayed(t, j, 0)))
	}
	if last := mustAppend(t, j, urlRecord("/c")); last != 3 {
		t.Errorf("record %d, want 3", last)
	}
	if err := os.Remove(aside); err != nil {
		t.Fatal(err)
	}
	if err := j.Compact(1, time.Time{}); err != nil || j.Floor() != 2 {
		t.Errorf("%v, floor %d; want 2", err, j.Floor())
	}
}

// Somebody else's hand in the file is an error, not a shorter journal.
func TestJournalChangedUnderway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j := openJournal(t, dir)
	mustAppend(t, j, urlRecord("/a"), urlRecord("/b"))
	if _, err := j.file.WriteAt([]byte("X"), j.size-3); err != nil {
		t.Fatal(err)
	}
	err := j.Replay(0, func(Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("Replay: %v", err)
	}
	if err := j.Compact(10, time.Time{}); err == nil {
		t.Error("Compact: no error")
	}
	if err := j.file.Truncate(j.size / 2); err != nil {
		t.Fatal(err)
	}
	if err := j.Replay(0, func(Record) error { return nil }); err == nil {
		t.Error("Replay of half a file: no error")
	}
}

// A journal keeps to its directory when the process changes its own.
func TestJournalRelativeDirectory(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(parent)
	j := openJournal(t, "state")
	t.Chdir(t.TempDir())
	if err := j.Compact(1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if j := openJournal(t, filepath.Join(parent, "state")); j.Floor() != 0 {
		t.Errorf("floor %d", j.Floor())
	}
}

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
