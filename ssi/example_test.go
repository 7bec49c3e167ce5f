package ssi_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ssiedge/ssiedge/ssi"
)

// app answers all includes with a greeting.
type app struct{}

func (app) Lookup(inc *ssi.Include) (ssi.Fragment, bool) { return ssi.Fragment{}, false }

func (app) Fetch(ctx context.Context, inc *ssi.Include) ssi.Fragment {
	return ssi.Fragment{Body: []byte("Welcome back, Ana"), Status: 200}
}

type request map[string]string

func (r request) Lookup(name string) ([]byte, bool) {
	v, ok := r[name]
	return []byte(v), ok
}

func Example() {
	page := ssi.Compile("index.html", []byte(`<p><!--#include virtual="/login" -->
<!--#if expr="$uri = /^.docs/" --><p>In <!--#echo var="uri" --><!--#endif -->
<!--#inclode virtual="/footer" -->
`), ssi.Options{})
	for _, p := range page.Problems() {
		fmt.Println(p)
	}
	run := page.Start(context.Background(), &ssi.Env{
		Includer:  app{},
		Variables: request{"uri": "/docs/<intro>"},
		Deadline:  time.Now().Add(5 * time.Second),
	})
	defer run.Close()
	run.WriteTo(os.Stdout)
	// Output:
	// index.html:3:1: "inclode" is no command, and is kept as text; write include
	// <p>Welcome back, Ana
	// <p>In /docs/&lt;intro&gt;
	// <!--#inclode virtual="/footer" -->
}
