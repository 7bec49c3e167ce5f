package ssi

import "time"

// builtin compiles %{NAME}, which stands at at: a variable of the request, whatever the page has set under its name.
func (a *apParser) builtin(name []byte, at int) (operand, *fault) {
	key := lowerString(name)
	for i := range requestVariables {
		if requestVariables[i].name == key {
			return outside(requestVariables[i].key), nil
		}
	}
	for i := range computed {
		if computed[i].name == key {
			return computedOperand{computed[i].f}, nil
		}
	}
	if len(key) > len("http_") && key[:len("http_")] == "http_" {
		return outside(key), nil
	}
	return nil, a.wrong(at, "no variable of the request is called "+quoted(name), "write v('"+clip(name)+"') for one that pages see or set")
}

// requestVariables are those of ap_expr, with their names in Variables. Beyond Apache, HTTP_ goes with every header.
var requestVariables = [...]struct{ name, key string }{
	{"request_method", "request_method"}, {"request_scheme", "scheme"},
	{"the_request", "request"}, {"document_uri", "document_uri"},
	{"remote_addr", "remote_addr"}, {"remote_host", "remote_addr"}, {"conn_remote_addr", "remote_addr"},
	{"remote_port", "remote_port"}, {"remote_user", "remote_user"}, {"auth_type", "auth_type"},
	{"server_name", "server_name"}, {"server_port", "server_port"}, {"server_protocol", "server_protocol"},
	{"server_software", "server_software"}, {"path_info", "path_info"},
}

type computedOperand struct {
	f func(d *document) string
}

func (c computedOperand) value(d *document) ([]byte, error) { return []byte(c.f(d)), nil }

// computed are those that are made of what others say.
var computed = [...]struct {
	name string
	f    func(d *document) string
}{
	{"request_uri", func(d *document) string { path, _ := placeOf(d); return string(path) }},
	{"query_string", func(d *document) string { _, query := placeOf(d); return string(query) }},
	{"https", func(d *document) string { return onOff(len(ask(d, "https")) > 0) }},
	{"ipv6", func(d *document) string { return onOff(ipv6(ask(d, "remote_addr"))) }},
	{"is_subreq", func(d *document) string {
		if d.up != nil {
			return "true"
		}
		return "false"
	}},
	{"time", clock("20060102150405")}, {"time_year", clock("2006")}, {"time_mon", clock("01")}, {"time_day", clock("02")},
	{"time_hour", clock("15")}, {"time_min", clock("04")}, {"time_sec", clock("05")},
	{"time_wday", func(d *document) string { return string(rune('0' + now(d).Weekday())) }},
}

// placeOf is the path and the query of the document at hand.
func placeOf(d *document) (path, query []byte) {
	if p, ok := d.vars.(Placed); ok {
		return p.Place()
	}
	return ask(d, "uri"), ask(d, "args")
}

func ask(d *document, name string) []byte {
	v, _ := outside(name).value(d)
	return v
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func now(d *document) time.Time { return d.run.env.Now.In(d.run.env.Location) }

func clock(layout string) func(d *document) string {
	return func(d *document) string { return now(d).Format(layout) }
}
