package ssi

import "bytes"

// Admitter is an Includer that knows what it would refuse: what -A and -U of expressions ask. One that is no Admitter
// refuses nothing.
type Admitter interface {
	// Admits says, without waiting and without asking the origin, whether an include may be asked for; whether it would
	// be answered does not matter. inc is not kept after the call.
	Admits(inc *Include) bool
}

// admitted is -A and -U.
type admitted struct{ url operand }

func (c *admitted) eval(d *document) (bool, error) {
	url, err := c.url.value(d)
	if err != nil {
		return false, err
	}
	if d.run.env.Includer == nil || bytes.ContainsAny(url, "\x00\r\n") {
		return false, nil
	}
	a, ok := d.run.env.Includer.(Admitter)
	if !ok {
		return true, nil
	}
	return a.Admits(&Include{URL: string(url), From: d.vars, Depth: d.depth + 1}), d.run.spend(len(url))
}
