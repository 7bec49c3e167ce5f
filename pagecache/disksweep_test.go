package pagecache

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// sweptDisk is a tier that groups keys by what stands before a colon.
func sweptDisk(t *testing.T) *Disk {
	t.Helper()
	group := func(key []byte) []byte {
		name, _, _ := strings.Cut(string(key), ":")
		return []byte(name)
	}
	return openTestDisk(t, t.TempDir(), DiskOptions{Group: group}, testLimits)
}

func keysOf(d *Disk, group []byte) (keys []string, ok bool) {
	ok = d.Each(group, 100, func(p DiskPage) { keys = append(keys, string(p.Key)) })
	slices.Sort(keys)
	return keys, ok
}

func TestDiskSweep(t *testing.T) {
	d := sweptDisk(t)
	if _, ok := keysOf(d, nil); ok {
		t.Error("what is not counted yet is said to be all")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	d.Sweep(ended, nil, func(DiskPage) bool { return true }) // which does not wait for the scan then
	runDisk(t, d)
	for i, key := range []string{"a:1", "a:2", "b:1", "b:2", "c"} {
		p := pulledPage(key)
		p.Seq = uint64(i)
		d.Put([]byte("p"+key), p)
	}
	list := &variants{names: []string{"A"}, generation: 9, held: []string{"x"}}
	d.Put([]byte("pd"), newVariantsPage(list, Freshness{Lifetime: 5}, 9))
	d.Put(list.heldKey("x", []byte("d")), pulledPage("variant"))
	settle(t, d)
	if keys, ok := keysOf(d, nil); !ok || fmt.Sprint(keys) != "[a:1 a:2 b:1 b:2 c d d]" {
		t.Errorf("%v %v", keys, ok)
	}
	if keys, ok := keysOf(d, []byte("a")); !ok || fmt.Sprint(keys) != "[a:1 a:2]" {
		t.Errorf("%v %v", keys, ok)
	}
	if d.Each(nil, 6, func(DiskPage) { t.Error("called, although there are more") }) {
		t.Error("7 files are no more than 6")
	}
	lists := 0
	d.Each([]byte("d"), 2, func(p DiskPage) {
		if p.List {
			lists++
		}
	})
	if lists != 1 {
		t.Errorf("%d lists of variants", lists)
	}
	d.Sweep(t.Context(), []byte("b"), func(p DiskPage) bool { return p.Seq == 2 || string(p.Key) == "a:1" })
	if keys, _ := keysOf(d, nil); fmt.Sprint(keys) != "[a:1 a:2 b:2 c d d]" {
		t.Errorf("after b:1: %v", keys)
	}
	if err := os.WriteFile(d.placeOf("pc"), []byte("corrupt"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Sweep(t.Context(), nil, func(p DiskPage) bool { return p.Seq != 3 })
	if keys, _ := keysOf(d, nil); fmt.Sprint(keys) != "[b:2]" {
		t.Errorf("in the end: %v", keys)
	}
	if st := d.Stats(); st.Swept != 5 || st.Foreign != 1 || st.Pages != 1 || st.Errors != 0 {
		t.Errorf("%+v", st)
	}
	wantConsistent(t, d)
}

// A page that is put while its older one is looked at stays.
func TestDiskSweepLeavesNewPages(t *testing.T) {
	d := sweptDisk(t)
	runDisk(t, d)
	d.Put([]byte("pa"), pulledPage("old"))
	settle(t, d)
	d.Sweep(t.Context(), nil, func(DiskPage) bool {
		d.Put([]byte("pa"), pulledPage("new"))
		waitWritten(t, d)
		return true
	})
	if got := tierBody(d, "pa"); got != "new" || d.Stats().Swept != 0 {
		t.Errorf("%q, %+v", got, d.Stats())
	}
}

func TestSweepKey(t *testing.T) {
	m := NewMemory(1 << 20)
	list := &variants{names: []string{"A"}, generation: 9, held: []string{"x", "y"}}
	put := func(key string, seq uint64) {
		p := pulledPage(key)
		p.Seq = seq
		m.Put([]byte(key), p)
	}
	put("pone", 1)
	put("ptwo", 2)
	m.Put([]byte("plist"), newVariantsPage(list, Freshness{Lifetime: 5}, 2))
	put(string(list.heldKey("x", []byte("list"))), 1)
	put(string(list.heldKey("y", []byte("list"))), 2)
	check := func(p *Page) Verdict {
		if p.Seq < 2 {
			return Gone
		}
		return Expired
	}
	for _, key := range []string{"one", "two", "list", "none"} {
		SweepKey(m, []byte(key), check)
	}
	for key, want := range map[string]bool{
		"pone": false, "ptwo": true, "plist": true,
		string(list.heldKey("x", []byte("list"))): false, string(list.heldKey("y", []byte("list"))): true,
	} {
		if _, ok := m.peek([]byte(key)); ok != want {
			t.Errorf("%q is there: %v", key, ok)
		}
	}
}
