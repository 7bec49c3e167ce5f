package conf

import (
	"strings"
	"testing"
)

// A size that no disk has is worth a word.
func TestDiskSizeOfNoDisk(t *testing.T) {
	for size, want := range map[string]bool{`size = "65536GiB"`: true, `size = "64MiB"`: false} {
		src := "[disk]\npath = 'testdata'\n" + size + "\n[[site]]\norigin = {servers = ['h:1']}\n"
		cfg, err := Parse("ssiedge.toml", []byte(src), environment)
		if err != nil {
			t.Fatal(err)
		}
		said := len(cfg.Warnings) == 1 && strings.Contains(cfg.Warnings[0].Error(), `ssiedge.toml:3:8: disk.size: 65536GiB is more than the file system of "testdata" holds, `)
		if said != want || want != (len(cfg.Warnings) > 0) {
			t.Errorf("%s: %v", size, cfg.Warnings)
		}
	}
}
