package demo

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed ssiedge.toml.txt
var configText string

// WriteConfig writes the demo's ssiedge.toml into Dir and gives its path.
// public and admin are the addresses that the edge shall listen on, as
// "127.0.0.1:8080".
func (d *Demo) WriteConfig(public, admin string) (file string, err error) {
	fill := strings.NewReplacer(
		"{{.Public}}", strconv.Quote(public),
		"{{.Admin}}", strconv.Quote(admin),
		"{{.Origin}}", strconv.Quote(d.Origin),
	)
	file = filepath.Join(d.Dir, "ssiedge.toml")
	if err := os.WriteFile(file, []byte(fill.Replace(configText)), 0o666); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	return file, nil
}
