package admin

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
)

// refusal is the answer to a call that was not done.
type refusal struct {
	Error  string   `json:"error"`
	Errors []string `json:"errors,omitempty"` // each of them, where there may be several
	Cure   string   `json:"cure"`
}

func refuse(w http.ResponseWriter, status int, wrong, cure string) {
	answer(w, status, refusal{Error: wrong, Cure: cure})
}

// answer sends v, which can be marshalled.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(v) // a client that is gone needs no answer
}

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, map[string]bool{"healthy": true})
}

// readyz says whether the edge should get requests.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.options.Ready != nil {
		if err := s.options.Ready(); err != nil {
			refuse(w, http.StatusServiceUnavailable, err.Error(), "wait, or see the log")
			return
		}
	}
	answer(w, http.StatusOK, map[string]bool{"ready": true})
}

func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, struct {
		Version string `json:"version"`
		Go      string `json:"go"`
	}{s.options.Version, runtime.Version()})
}

// reloaded reloads. Of a configuration with mistakes it tells every one.
func (s *Server) reloaded(w http.ResponseWriter, r *http.Request) {
	s.reload.Lock()
	defer s.reload.Unlock() // also after a panic
	if err := s.options.Reload(); err != nil {
		answer(w, http.StatusUnprocessableEntity, refusal{
			Error:  "not reloaded, nothing has changed",
			Errors: strings.Split(err.Error(), "\n"),
			Cure:   "correct the configuration and reload again",
		})
		return
	}
	answer(w, http.StatusOK, map[string]bool{"reloaded": true})
}
