package pagecache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ssiedge/ssiedge/pagecache"
)

// A site's published files: the page of a path is the first of the path's
// names that exists below root.
func Example() {
	root, err := os.MkdirTemp("", "public")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	page := filepath.Join(root, "about.html")
	os.WriteFile(page, []byte("<h1>About</h1>"), 0o644)
	written := time.Date(2008, 5, 1, 12, 0, 0, 0, time.UTC)
	os.Chtimes(page, written, written)

	memory := pagecache.NewMemory(64 << 20)
	files, err := pagecache.OpenFiles(pagecache.FilesOptions{Root: root}, memory, nil)
	if err != nil {
		panic(err)
	}
	defer files.Close()

	hit, ok := files.Get([]byte("/about"), false)
	fmt.Println(ok, hit.Page.Name, hit.Page.Type)
	fmt.Printf("%s\n", hit.Page.Body)
	fmt.Println(time.Unix(hit.Page.Modified, 0).UTC())

	// What is built from a page is built once a page, and goes with it.
	words := hit.Page.Derive(func(p *pagecache.Page) (any, int) { return len(p.Body), 8 })
	fmt.Println(words)

	_, ok = files.Get([]byte("/../etc/passwd"), false)
	fmt.Println(ok)
	// Output:
	// true /about.html text/html; charset=utf-8
	// <h1>About</h1>
	// 2008-05-01 12:00:00 +0000 UTC
	// 14
	// false
}
