package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// workshop has all servers, running.
type workshop struct {
	settings *settings
	dir      string
	all      []*process

	app, bare, memcached *process
	edge                 *process // access log off
	logging              *process // access log on
	forgetful            *process // memory off
	nginx                *process
	varnish              *process // nil: not installed
	admin                string   // address of edge's admin listener
}

func newWorkshop(s *settings) (_ *workshop, err error) {
	w := &workshop{settings: s}
	if w.dir, err = os.MkdirTemp("", "ssiedge-speed"); err != nil {
		return nil, err
	}
	if err = os.Chmod(w.dir, 0o755); err == nil {
		err = w.open()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// close stops all servers and removes what they left.
func (w *workshop) close() {
	for _, p := range w.all {
		p.stop()
	}
	_ = os.RemoveAll(w.dir)
}

func (w *workshop) open() error {
	if err := writePages(w.dir); err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		w.starts(&w.app, clientProcessor, own, func(addr string) []string { return []string{"serve", "app", addr} }),
		w.starts(&w.bare, serverProcessor, own, func(addr string) []string { return []string{"serve", "bare", addr} }),
		w.starts(&w.memcached, clientProcessor, "memcached", func(addr string) []string {
			host, port, _ := strings.Cut(addr, ":")
			return []string{"-u", "nobody", "-t", "1", "-l", host, "-p", port}
		}),
		func() error { return publish(w.memcached.addr) },
		w.startNginx, w.startVarnish,
		w.startEdge(&w.edge, "off", "256MiB"),
		w.startEdge(&w.logging, filepath.Join(w.dir, "access.log"), "256MiB"),
		w.startEdge(&w.forgetful, "off", "0"),
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// starts gives a step that starts a program, which is told where to listen.
func (w *workshop) starts(p **process, processor int, program string, args func(addr string) []string) func() error {
	return func() error {
		addr, err := freeAddr()
		if err != nil {
			return err
		}
		log := filepath.Join(w.dir, fmt.Sprintf("%s-%d.out", filepath.Base(program), len(w.all)))
		if *p, err = start(processor, addr, log, program, args(addr)...); err == nil {
			w.all = append(w.all, *p)
		}
		return err
	}
}

// configured is starts for a program with a configuration file; @NAME@ in it
// becomes what names says, and @ADDR@ where it has to listen.
func (w *workshop) configured(p **process, program, config string, args func(addr, file string) []string, names ...string) func() error {
	return func() error {
		file := filepath.Join(w.dir, fmt.Sprintf("%s-%d.conf", filepath.Base(program), len(w.all)))
		var broken error
		err := w.starts(p, serverProcessor, program, func(addr string) []string {
			host, port, _ := strings.Cut(w.app.addr, ":")
			names = append(names, "@ADDR@", addr, "@DIR@", w.dir, "@MEMCACHED@", w.memcached.addr,
				"@APP@", w.app.addr, "@APPHOST@", host, "@APPPORT@", port)
			broken = os.WriteFile(file, []byte(strings.NewReplacer(names...).Replace(config)), 0o644)
			return args(addr, file)
		})()
		return errors.Join(broken, err)
	}
}

func (w *workshop) startEdge(p **process, access, memory string) func() error {
	return func() (err error) {
		admin, err := freeAddr()
		if err != nil {
			return err
		}
		if p == &w.edge {
			w.admin = admin
		}
		return w.configured(p, w.settings.edge, edgeConfig, func(_, file string) []string { return []string{"serve", "-c", file} },
			"@ADMIN@", admin, "@TOKEN@", token, "@ACCESS@", access, "@MEMORY@", memory)()
	}
}

func (w *workshop) startNginx() error {
	config := nginxConfig
	if os.Getuid() == 0 {
		config = "user root;\n" + config
	}
	return w.configured(&w.nginx, "nginx", config, func(_, file string) []string {
		return []string{"-c", file, "-e", filepath.Join(w.dir, "nginx-error.log")}
	})()
}

func (w *workshop) startVarnish() error {
	if _, err := exec.LookPath("varnishd"); err != nil {
		return nil
	}
	return w.configured(&w.varnish, "varnishd", varnishConfig, func(addr, file string) []string {
		return []string{"-F", "-f", file, "-a", addr, "-n", filepath.Join(w.dir, "varnish"), "-s", "malloc,64m"}
	})()
}

// profile takes a CPU profile of ssiedge, at a work that it does with the access
// log off.
func (w *workshop) profile(k *work) error {
	s := k.subjects[0]
	if s.server != w.edge {
		return nil
	}
	taken := make(chan error, 1)
	go func() {
		taken <- w.fetchProfile(filepath.Join(w.settings.trace, strings.ReplaceAll(k.name, " ", "-")+".pprof"))
	}()
	_, err := w.wrk(s, 6*time.Second)
	return errors.Join(err, <-taken)
}

// token opens the profiles of ssiedge's admin listener, which are for nobody
// where there is none.
const token = "speed"

func (w *workshop) fetchProfile(path string) error {
	request, err := http.NewRequest(http.MethodGet, "http://"+w.admin+"/debug/pprof/profile?seconds=4", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", request.URL, answer.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, answer.Body)
	return errors.Join(err, file.Close())
}
