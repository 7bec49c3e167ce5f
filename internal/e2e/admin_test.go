package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ssiedge/ssiedge/internal/realtest"
)

// call sends a request to the admin listener.
func call(t testing.TB, method, url string, fields ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, r, fields)
}

// post is call with a body.
func post(t testing.TB, url, mediaType, body string, fields ...string) answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	return do(t, r, fields)
}

func do(t testing.TB, r *http.Request, fields []string) answer {
	t.Helper()
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	in, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Body.Close()
	body, err := io.ReadAll(in.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: in.StatusCode, header: in.Header, body: string(body)}
}

func TestAdmin(t *testing.T) {
	s := setup{app: newApp(map[string]string{"/f": "fragment"}), files: map[string]string{"p.html": `page <!--#include virtual="/f" -->`}, top: `health_path = "/edge-up"`}
	edge := s.start(t)
	for _, r := range []request{get("/p"), get("/p"), get("/nothing"), form("/p", "a=1")} {
		send(t, edge.Addr, r)
	}
	for path, part := range map[string]string{"/healthz": "", "/readyz": "", "/version": "go1."} {
		if a := call(t, http.MethodGet, edge.Admin+path); a.status != http.StatusOK || !strings.Contains(a.body, part) {
			t.Errorf("%s gives %d %s, want 200 with %q", path, a.status, short(a.body), part)
		}
	}
	var version map[string]any
	if err := json.Unmarshal([]byte(call(t, http.MethodGet, edge.Admin+"/version").body), &version); err != nil {
		t.Errorf("/version is no JSON: %v", err)
	}
	if a := send(t, edge.Addr, get("/edge-up")); a.status != http.StatusOK {
		t.Errorf("health_path gives %d on the public listener, want 200", a.status)
	}
	for _, path := range []string{"/healthz", "/readyz", "/version", "/metrics", "/reload", "/debug/pprof"} {
		if a := send(t, edge.Addr, get(path)); !strings.Contains(a.body, "the app has no GET "+path) {
			t.Errorf("%s on the public listener gives %d %s, want the app's own answer", path, a.status, short(a.body))
		}
	}
}

func TestMetrics(t *testing.T) {
	s := setup{app: newApp(map[string]string{"/f": "fragment"}), files: map[string]string{"p.html": `page <!--#include virtual="/f" -->`}}
	edge := s.start(t)
	for _, r := range []request{get("/p"), get("/p"), get("/nothing"), form("/p", "a=1")} {
		send(t, edge.Addr, r)
	}
	text := ""
	realtest.Eventually(t, "all four requests are counted", func() bool {
		text = call(t, http.MethodGet, edge.Admin+"/metrics").body
		return sum(text, "ssiedge_requests_total", "") == 4
	})
	for _, want := range []struct {
		name, label string
		value       float64
	}{
		{"ssiedge_requests_total", `outcome="file"`, 2},
		{"ssiedge_requests_total", `outcome="miss"`, 1},
		{"ssiedge_requests_total", `outcome="method"`, 1},
		{"ssiedge_requests_total", `code="2xx"`, 2},
		{"ssiedge_requests_total", `code="4xx"`, 2},
		{"ssiedge_request_duration_seconds_count", "", 4},
		{"ssiedge_origin_requests_total", "", 4}, // two fragments, a miss, a POST
		{"ssiedge_includes_total", `outcome="origin"`, 2},
		{"ssiedge_panics_total", "", 0},
	} {
		if got := sum(text, want.name, want.label); got != want.value {
			t.Errorf("%s{%s} is %v, want %v", want.name, want.label, got, want.value)
		}
	}
	if !strings.Contains(text, "# HELP ssiedge_requests_total ") || !strings.Contains(text, "go_goroutines") {
		t.Error("/metrics lacks help texts or the runtime's own metrics")
	}
}

// sum adds up the samples of a metric that have a label; -1 if there is none.
func sum(text, name, label string) float64 {
	total, found := 0.0, false
	sample := regexp.MustCompile(`(?m)^` + name + `(\{[^}]*\})? (\S+)$`)
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], label) {
			value, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return -1
			}
			total, found = total+value, true
		}
	}
	if !found {
		return -1
	}
	return total
}

func TestAdminWithoutToken(t *testing.T) {
	s := setup{app: newApp(nil)}
	edge := s.start(t)
	for _, test := range []struct {
		name   string
		got    answer
		status int
	}{
		{"POST without a media type", post(t, edge.Admin+"/reload", "", ""), http.StatusUnsupportedMediaType},
		{"POST as a form would", post(t, edge.Admin+"/reload", "application/x-www-form-urlencoded", "a=1"), http.StatusUnsupportedMediaType},
		{"foreign Origin", post(t, edge.Admin+"/reload", "application/json", "{}", "Origin: http://evil.example"), http.StatusForbidden},
		{"foreign Host", call(t, http.MethodGet, edge.Admin+"/metrics", "Host: evil.example"), http.StatusForbidden},
		{"pprof", call(t, http.MethodGet, edge.Admin+"/debug/pprof/"), http.StatusNotFound},
		{"unknown", call(t, http.MethodGet, edge.Admin+"/nothing"), http.StatusNotFound},
		{"GET of what is posted", call(t, http.MethodGet, edge.Admin+"/reload"), http.StatusMethodNotAllowed},
		{"proper", post(t, edge.Admin+"/reload", "application/json", ""), http.StatusOK},
	} {
		if test.got.status != test.status {
			t.Errorf("%s: %d %s, want %d", test.name, test.got.status, short(test.got.body), test.status)
		}
	}
}

func TestAdminWithToken(t *testing.T) {
	const token = "a-long-token"
	s := setup{app: newApp(nil), admin: fmt.Sprintf("token = %q", token)}
	edge := s.start(t)
	bearer := "Authorization: Bearer " + token
	for _, path := range []string{"/metrics", "/version", "/debug/pprof/"} {
		if a := call(t, http.MethodGet, edge.Admin+path); a.status != http.StatusUnauthorized || a.header.Get("Www-Authenticate") == "" {
			t.Errorf("%s without the token gives %d, want 401 that asks for it", path, a.status)
		}
		if a := call(t, http.MethodGet, edge.Admin+path, "Authorization: Bearer wrong"); a.status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token gives %d, want 401", path, a.status)
		}
		if a := call(t, http.MethodGet, edge.Admin+path, bearer); a.status != http.StatusOK {
			t.Errorf("%s with the token gives %d %s, want 200", path, a.status, short(a.body))
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := call(t, http.MethodGet, edge.Admin+path); a.status != http.StatusOK {
			t.Errorf("%s without the token gives %d, want 200", path, a.status)
		}
	}
	if a := post(t, edge.Admin+"/reload", "application/json", ""); a.status != http.StatusUnauthorized {
		t.Errorf("POST /reload without the token gives %d, want 401", a.status)
	}
	if strings.Contains(edge.Stdout.String()+edge.Stderr.String(), token) {
		t.Error("the token is in the log")
	}
}
