package admin_test

import (
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/ssiedge/ssiedge/internal/admin"
)

func Example() {
	s := admin.New(admin.Options{
		Token: "s3cret",
		Reload: func() error {
			return errors.New("ssiedge.toml:2:1: lisen: unknown name; use listen")
		},
	})
	r := httptest.NewRequest("POST", "/reload", nil)
	r.Header.Set("Authorization", "Bearer s3cret")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	fmt.Print(w.Code, " ", w.Body)
	// Output:
	// 422 {"error":"not reloaded, nothing has changed","errors":["ssiedge.toml:2:1: lisen: unknown name; use listen"],"cure":"correct the configuration and reload again"}
}
