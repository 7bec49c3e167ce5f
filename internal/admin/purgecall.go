package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// purgeCall is the body of POST /purge. What is not in PurgeRequest is not built
// yet, and refused by name.
type purgeCall struct {
	PurgeRequest
	prefixes, tags, regex []string
}

// purgeFields are its fields, in the order of the documentation.
var purgeFields = []struct {
	name string
	to   func(*purgeCall) any
}{
	{"urls", func(c *purgeCall) any { return &c.URLs }},
	{"prefixes", func(c *purgeCall) any { return &c.prefixes }},
	{"tags", func(c *purgeCall) any { return &c.tags }},
	{"regex", func(c *purgeCall) any { return &c.regex }},
	{"all", func(c *purgeCall) any { return &c.All }},
	{"site", func(c *purgeCall) any { return &c.Site }},
	{"soft", func(c *purgeCall) any { return &c.Soft }},
	{"dry_run", func(c *purgeCall) any { return &c.DryRun }},
	{"count", func(c *purgeCall) any { return &c.Count }},
}

// parsePurge reads the body of POST /purge, strictly: a word that is not
// understood could have been what the purge was about. null is as good as
// nothing. The error is a *BadPurge.
func parsePurge(body []byte) (PurgeRequest, error) {
	var c purgeCall
	if err := c.parse(body); err != nil {
		return PurgeRequest{}, err
	}
	for _, f := range []struct {
		name   string
		values []string
	}{{"prefixes", c.prefixes}, {"tags", c.tags}, {"regex", c.regex}} {
		if len(f.values) > 0 {
			return PurgeRequest{}, &BadPurge{"purging by " + f.name + " is not built yet", "purge by urls or all"}
		}
	}
	if len(c.URLs) == 0 && !c.All {
		return PurgeRequest{}, &BadPurge{"nothing to purge", `name urls, or say "all": true`}
	}
	return c.PurgeRequest, nil
}

const cureJSON = `send a JSON object, such as {"urls": ["/a"]}`

// parse reads one JSON object and nothing after it.
func (c *purgeCall) parse(body []byte) error {
	if !utf8.Valid(body) {
		return &BadPurge{"the body is no UTF-8", cureJSON}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return &BadPurge{"the body is no JSON object", cureJSON}
	}
	seen := map[string]bool{}
	for d.More() {
		if err := c.parseField(d, seen); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return malformed(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return &BadPurge{"something follows the JSON object", "send one object and nothing else"}
	}
	return nil
}

// parseField reads a name and its value.
func (c *purgeCall) parseField(d *json.Decoder, seen map[string]bool) error {
	t, err := d.Token()
	if err != nil {
		return malformed(err)
	}
	name, _ := t.(string) // a token at this place is one, or an error
	to := c.field(name)
	if to == nil {
		return &BadPurge{fmt.Sprintf("unknown field %q", name), "use " + fieldNames()}
	}
	if seen[name] {
		return &BadPurge{fmt.Sprintf("field %q twice", name), "say it once"}
	}
	seen[name] = true
	if err := d.Decode(to); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &BadPurge{fmt.Sprintf("field %q holds a JSON %s", name, wrong.Value), "give it " + wanted(to)}
		}
		return malformed(err)
	}
	return nil
}

// field gives where the value of a field goes; nil: there is no such field. The
// case counts, as it does not in package json.
func (c *purgeCall) field(name string) any {
	for _, f := range purgeFields {
		if f.name == name {
			return f.to(c)
		}
	}
	return nil
}

func fieldNames() string {
	names := make([]string, len(purgeFields))
	for i, f := range purgeFields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

func wanted(to any) string {
	switch to.(type) {
	case *bool:
		return "true or false"
	case *string:
		return "a string"
	}
	return "a list of strings"
}

func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &BadPurge{"malformed JSON: it ends too early", cureJSON}
	}
	return &BadPurge{"malformed JSON: " + err.Error(), cureJSON}
}
