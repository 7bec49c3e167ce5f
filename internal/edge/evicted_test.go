package edge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Ten thousand pages go through a memory that holds some hundred, while others
// read them: everybody gets whole the page that he asked for.
func TestPagesEvictedWhileRead(t *testing.T) {
	page := func(path string) string { return strings.Repeat(path+" ", 400) }
	e := newEdge(t, keepingPages(), func(o *Options) { o.Memory = 1 << 20 }, withApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		io.WriteString(w, page(r.URL.Path))
	}))
	const workers, each = 8, 1250
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			client := &http.Client{Transport: new(http.Transport), Timeout: patience}
			defer client.CloseIdleConnections()
			for i := range each {
				path := fmt.Sprintf("/p/%d", i*workers+worker)
				if i%2 == 1 {
					path = fmt.Sprintf("/p/%d", i%50) // that others read, too
				}
				resp, err := client.Get("http://" + e.addr + path)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || string(body) != page(path) {
					t.Errorf("%s: %d %.60q, %v", path, resp.StatusCode, body, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if st := e.state.Load().store.memory.Stats(); st.Evictions+st.Refusals < 1000 || st.Hits == 0 || st.Bytes > st.Size {
		t.Errorf("%+v: want many pages to have gone", st)
	}
}
