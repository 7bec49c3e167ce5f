package origin_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/valyala/fasthttp"

	"github.com/ssiedge/ssiedge/origin"
)

func Example() {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s of %s", r.Method, r.URL, r.Host)
	}))
	defer app.Close()

	pool, err := origin.New(origin.Options{Name: "widgets", Servers: []string{app.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	x := &origin.Exchange{Request: fasthttp.AcquireRequest(), Response: fasthttp.AcquireResponse()}
	defer fasthttp.ReleaseRequest(x.Request)
	defer fasthttp.ReleaseResponse(x.Response)
	x.Request.Header.SetRequestURI("/widgets?page=2")
	x.Request.Header.SetHost("www.example.com")
	if err := pool.Do(context.Background(), x); err != nil {
		fmt.Println(err) // an edge answers 504 if its Timeout method says so, else 502
		return
	}
	defer x.Answer.Close()
	body, err := io.ReadAll(x.Answer)
	fmt.Println(x.Response.StatusCode(), string(body), err)
	// Output: 200 GET /widgets?page=2 of www.example.com <nil>
}

func ExampleParseServer() {
	for _, s := range []string{"http://127.0.0.1:3000", "unix:/run/app.sock", "https://app", "app:99999"} {
		address, err := origin.ParseServer(s)
		fmt.Println(address, err)
	}
	// Output:
	// 127.0.0.1:3000 <nil>
	// unix:/run/app.sock <nil>
	//  server "https://app": https is not supported, want http:// to the app itself or to a TLS proxy beside it
	//  server "app:99999": port 99999 is out of range, want 1 to 65535
}
