package pagecache

import (
	"bytes"
	"path/filepath"
	"testing"
)

func FuzzJournalFile(f *testing.F) {
	file, _ := written(f, filepath.Join(f.TempDir(), "state"))
	f.Add(file)
	f.Add(file[:len(file)-20])
	f.Add([]byte(nil))
	f.Add(bytes.Replace(file, []byte("/c"), []byte("/d"), 1))
	f.Add(sealed([]byte("ssiedge-journal 1 name=a file=b floor=0 head=0 records=0"), 0))
	f.Fuzz(func(t *testing.T, file []byte) {
		var records []Record
		scan, err := scanJournal(bytes.NewReader(file), func(r Record) error { records = append(records, r); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if scan.size > int64(len(file)) || scan.records != len(records) || scan.head < scan.header.head {
			t.Fatalf("%+v of %d bytes and %d records", scan, len(file), len(records))
		}
		last := uint64(0)
		for _, r := range records {
			if r.Seq <= last || r.Seq > scan.head || r.validate() != nil {
				t.Fatalf("record %+v after %d, head %d", r, last, scan.head)
			}
			last = r.Seq
			line := appendRecord(nil, &r, 7)
			if got, left, err := parseRecord(line); err != nil || got != r || left != 7 {
				t.Fatalf("%q: %+v, %d, %v; want %+v", line, got, left, err, r)
			}
		}
		if scan.lost != nil {
			return
		}
		// What counts reads the same without what does not.
		again, err := scanJournal(bytes.NewReader(file[:scan.size]), func(Record) error { return nil })
		if err != nil || again.lost != nil || again.torn || again.head != scan.head || again.records != scan.records {
			t.Fatalf("%+v, then %+v, %v", scan, again, err)
		}
		if scan.torn == (scan.size == int64(len(file))) {
			t.Fatalf("%+v of %d bytes", scan, len(file))
		}
	})
}
