package main

// The configurations. @NAMES@ are filled in by configured.
const (
	edgeConfig = `
listen = ["@ADDR@"]
[admin]
listen = "@ADMIN@"
token = "@TOKEN@"
[log]
access = "@ACCESS@"
[memory]
size = "@MEMORY@"
[memcache]
servers = ["@MEMCACHED@"]
timeout = "5s"
[origin.app]
servers = ["http://@APP@"]
[[site]]
hosts = ["app"]
origin = "app"
[[site]]
hosts = ["files"]
root = "@DIR@"
origin = "app"
[[site]]
hosts = ["memcached"]
published = "{path}"
origin = "app"
`
	// Everything is as fast as nginx has it: no log, descriptors kept open,
	// connections to app and memcached kept. "/plain" is what sees a change of a
	// file at once.
	nginxConfig = `
daemon off;
worker_processes 1;
pid @DIR@/nginx.pid;
events { worker_connections 4096; }
http {
  types { text/html html; }
  default_type text/html;
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  client_body_temp_path @DIR@/nginx-body;
  proxy_temp_path @DIR@/nginx-proxy;
  fastcgi_temp_path @DIR@/nginx-fastcgi;
  uwsgi_temp_path @DIR@/nginx-uwsgi;
  scgi_temp_path @DIR@/nginx-scgi;
  proxy_cache_path @DIR@/nginx-cache keys_zone=kept:10m;
  upstream app { server @APP@; keepalive 128; keepalive_requests 1000000000; }
  upstream memcached { server @MEMCACHED@; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen @ADDR@ backlog=4096;
    root @DIR@;
    open_file_cache max=1000 inactive=1h;
    open_file_cache_valid 1h;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location = /kept.html { ssi on; }
    location = /live.html { ssi on; }
    location /kept/ { proxy_pass http://app; proxy_cache kept; }
    location /live/ { proxy_pass http://app; }
    location = /published { set $memcached_key $uri; memcached_pass memcached; }
    location /plain/ { alias @DIR@/; open_file_cache off; }
  }
}
`
	varnishConfig = `
vcl 4.1;
backend app { .host = "@APPHOST@"; .port = "@APPPORT@"; }
sub vcl_backend_response {
  if (bereq.url ~ "^/esi/") { set beresp.do_esi = true; }
}
`
)

// works are the lines of the contract.
func (w *workshop) works() []*work {
	at := func(name string, p *process, host, path string, contract float64) *subject {
		return &subject{name: name, server: p, url: "http://" + p.addr + path, host: host, want: pageSize, contract: contract}
	}
	all := []*work{
		{name: "pulled page from memory", subjects: []*subject{
			at("ssiedge", w.edge, "app", "/pulled", 0),
			at("nginx, a file", w.nginx, "files", "/page.html", 1.2),
			at("bare fasthttp", w.bare, "app", "/pulled", 0.9),
		}},
		{name: "published file", subjects: []*subject{
			at("ssiedge", w.edge, "files", "/page.html", 0),
			at("nginx", w.nginx, "files", "/page.html", 1.1),
			at("nginx, seeing changes at once", w.nginx, "files", "/plain/page.html", 0),
		}},
		{name: "one kept fragment", subjects: []*subject{
			at("ssiedge", w.edge, "files", "/kept.html", 0),
			at("nginx", w.nginx, "files", "/kept.html", 3),
		}},
		{name: "one live fragment", subjects: []*subject{
			at("ssiedge", w.edge, "files", "/live.html", 0),
			at("nginx", w.nginx, "files", "/live.html", 1.2),
		}},
		{name: "published in memcached", subjects: []*subject{
			at("ssiedge", w.edge, "memcached", "/published", 0),
			at("nginx", w.nginx, "memcached", "/published", 3),
		}},
		{name: "memcached, memory off", subjects: []*subject{
			at("ssiedge", w.forgetful, "memcached", "/published", 0),
			at("nginx", w.nginx, "memcached", "/published", 0.8),
		}},
		{name: "access log", subjects: []*subject{
			at("ssiedge, on", w.logging, "app", "/pulled", 0),
			at("ssiedge, off", w.edge, "app", "/pulled", 0.95),
		}},
	}
	if w.varnish == nil {
		return all
	}
	for i, s := range map[int]*subject{
		0: at("varnish", w.varnish, "app", "/pulled", 1.8),
		2: at("varnish", w.varnish, "app", "/esi/kept", 8),
		3: at("varnish", w.varnish, "app", "/esi/live", 0),
	} {
		all[i].subjects = append(all[i].subjects, s)
	}
	return all
}
