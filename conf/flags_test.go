package conf

import (
	"testing"

	"github.com/ssiedge/ssiedge/origin"
	"github.com/ssiedge/ssiedge/pagecache"
)

func TestFromFlags(t *testing.T) {
	got, err := FromFlags(Flags{Root: "testdata", Origin: "http://127.0.0.1:3000", Listen: "127.0.0.1:9000", Memcache: "127.0.0.1:11211"})
	if err != nil {
		t.Fatal(err)
	}
	want := defaultConfig()
	want.File, want.Listen = "", []string{"127.0.0.1:9000"}
	want.Edge.Sites[0].Where = "the flags"
	want.Edge.Sites[0].Published.Keys = []string{"{path}"}
	if d := diff(got, want); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFromFlagsAlone(t *testing.T) {
	var none *pagecache.FilesOptions
	var noOrigin *origin.Options
	for _, c := range []struct {
		flags  Flags
		root   bool
		origin bool
	}{
		{Flags{Root: "testdata"}, true, false},
		{Flags{Origin: "unix:/run/app.sock"}, false, true},
	} {
		cfg, err := FromFlags(c.flags)
		if err != nil {
			t.Fatal(err)
		}
		s := cfg.Edge.Sites[0]
		if (s.Files != none) != c.root || (s.Origin != noOrigin) != c.origin || s.Published != nil || cfg.Edge.Memcache != nil || cfg.Listen[0] != ":8080" || len(cfg.Warnings) > 0 {
			t.Errorf("%+v gives %+v", c.flags, cfg)
		}
	}
}

func TestFromFlagsMistakes(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{Flags{}, "serve: neither --root nor --origin is given; say where pages come from: --root DIR, --origin URL or -c FILE\n"},
		{Flags{Memcache: "127.0.0.1:11211"}, "serve: neither --root nor --origin is given; say where pages come from: --root DIR, --origin URL or -c FILE\n"},
		{Flags{Root: "nowhere"}, "--root: there is no directory \"nowhere\"; make it, or correct the path\n"},
		{Flags{Root: "doc.go"}, "--root: \"doc.go\" is no directory; name the directory that the files are in\n"},
		{Flags{Origin: "http://127.0.0.1:99999"}, "--origin: port 99999 is out of range; use 1 to 65535\n"},
		{Flags{Root: "testdata", Listen: "8080"}, "--listen: \"8080\" has no colon; write \":8080\"\n"},
		{Flags{Root: "testdata", Listen: ":8081"}, "--listen: \":8081\" is the address of the admin listener, \"127.0.0.1:8081\"; use another port, or set admin.listen\n"},
		{Flags{Root: "testdata", Memcache: "localhost"}, "--memcache: \"localhost\" has no port; add one behind a colon\n"},
		{Flags{Root: "", Origin: "${HOME}:80"}, "--origin: \"${HOME}\" is no host name or address\n"},
	} {
		if got := report(FromFlags(c.flags)); got != c.want {
			t.Errorf("%+v\n got %s want %s", c.flags, got, c.want)
		}
	}
}
