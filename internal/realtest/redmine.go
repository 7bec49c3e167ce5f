package realtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	redmineHome = "/usr/share/redmine" // of Debian's package
	redmineData = "/var/lib/dbconfig-common/sqlite3/redmine/instances/default/redmine_default"
)

// RedmineServer is Debian's Redmine, a large real Rails application, run by
// puma over a database of its own.
type RedmineServer struct {
	*Process
	Addr string // 127.0.0.1:port
}

// Redmine starts Redmine on a free port, with some public projects and a user
// for each login, whose password is RedminePassword(login).
func Redmine(t testing.TB, projects int, logins ...string) *RedmineServer {
	t.Helper()
	for _, program := range []string{"ruby", "puma"} {
		Require(t, program)
	}
	if _, err := os.Stat(redmineData); err != nil {
		Absent(t, "redmine with SQLite is not installed: "+err.Error())
	}
	dir := t.TempDir()
	seedRedmine(t, dir, projects, logins)
	s := &RedmineServer{Addr: FreeAddr(t)}
	// As the shared redmine.sh does, but as the child of the test, so that it
	// cannot be left behind; and with one thread, for the same reason as there
	// is no mail.
	s.Process = Start(t, redmineCommand(dir, "puma", "--config", "/dev/null", "-e", "production", "-w", "0", "-t", "1:1", "-b", "tcp://"+s.Addr, "config.ru"))
	s.listening(t, s.Addr)
	Eventually(t, "Redmine answers", s.up)
	return s
}

// RedminePassword gives a user's password.
func RedminePassword(login string) string { return login + "-" + login + "1" }

// seedRedmine makes the database: the shared projects, and users, whose names
// are their logins.
func seedRedmine(t testing.TB, dir string, projects int, logins []string) {
	t.Helper()
	empty, err := os.ReadFile(redmineData)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "db"), empty, 0o600); err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	// No mail about issues: it would be sent by threads of its own, and two
	// that use SQLite at once lock each other out.
	code.WriteString("ActiveJob::Base.queue_adapter = :test\nSetting.notified_events = []\n")
	fmt.Fprintf(&code, "load %q\n", Shared(t, "rails/redmine_seed.rb"))
	for _, login := range logins {
		fmt.Fprintf(&code, "User.create!(firstname: %[1]q, lastname: %[1]q, mail: %[2]q, language: 'en') { |u| u.login = %[1]q; u.password = %[3]q }\n",
			login, login+"@example.com", RedminePassword(login))
	}
	cmd := redmineCommand(dir, "ruby", "bin/rails", "runner", code.String())
	cmd.Env = append(cmd.Env, fmt.Sprintf("PROJECTS=%d", projects))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("Redmine's database cannot be filled: %v\n%s", err, output)
	}
}

// redmineCommand is a program that runs in Redmine over the database in dir.
func redmineCommand(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = redmineHome
	cmd.Env = append(os.Environ(), "X_DEBIAN_SITEID=default", "RAILS_ENV=production", "RAILS_SERVE_STATIC_FILES=1",
		"DATABASE_URL=sqlite3:"+filepath.Join(dir, "db"), "RAILS_LOG="+filepath.Join(dir, "log"))
	return cmd
}

// up says whether Redmine answers; puma accepts connections before it can.
func (s *RedmineServer) up() bool {
	client := Client(s.Addr)
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://origin/login")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
