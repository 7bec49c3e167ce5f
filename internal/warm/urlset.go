package warm

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxNesting = 32      // elements within elements; a sitemap has three, its extensions some more
	maxToken   = 1 << 20 // bytes of one tag, text or comment, which are held
)

// loc is what a sitemap names in one place.
type loc struct {
	line  int
	text  string // trimmed; empty: there is none
	index bool   // it is a sitemap
}

// scanSitemap reads a sitemap, plain or compressed, and hands over what it names
// until yield returns false. Its error comes with the line where reading ended;
// what stands before was handed over.
//
// Elements count by their place and the root's namespace, so that the loc of an
// image is none, whatever its prefix.
func scanSitemap(r io.Reader, limit int64, yield func(loc) bool) (line int, err error) {
	plain, err := decompress(r, limit)
	if err != nil {
		return 1, err
	}
	budget := &budget{r: plain, left: limit, limit: limit}
	if err := budget.begin(); err != nil {
		return 1, err
	}
	s := scanner{d: xml.NewDecoder(budget), yield: yield}
	// Not strict: "&b" that should be "&amp;b" is the commonest mistake in
	// sitemaps. It is then taken as it is written, which is what was meant.
	s.d.Strict = false
	s.d.CharsetReader = charset
	for !s.done && err == nil {
		budget.token = maxToken
		var t xml.Token
		if t, err = s.d.Token(); err == nil {
			err = s.see(t)
		}
	}
	line, _ = s.d.InputPos()
	return line, explain(err, s.root.Local == "")
}

// explain says in a sitemap's words what the parser found.
func explain(err error, empty bool) error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return errors.New(syntax.Msg) // the line is in the place
	}
	if charset, ok := errors.AsType[charsetError](err); ok {
		return charset
	}
	if empty && errors.Is(err, io.EOF) {
		return errors.New("a urlset or sitemapindex is wanted, there is nothing")
	}
	return err
}

// scanner knows where in a sitemap the parser is.
type scanner struct {
	d     *xml.Decoder
	yield func(loc) bool
	done  bool

	root  xml.Name
	child string // the element that holds a loc
	depth int
	entry int          // line of the url or sitemap element that the parser is in; 0: in none
	found bool         // the entry has a loc
	in    int          // line of the loc element that the parser is in; 0: in none
	text  bytes.Buffer // of that loc
}

func (s *scanner) see(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		s.depth++
		return s.start(t.Name)
	case xml.EndElement:
		s.end()
		s.depth--
	case xml.CharData:
		// One byte too many is kept, so that parsing the URL refuses it. White
		// space around it may be long.
		if s.in > 0 && s.depth == 3 {
			if s.text.Len() == 0 {
				t = bytes.TrimLeft(t, " \t\r\n")
			}
			s.text.Write(t[:min(len(t), max(0, maxURL+1-s.text.Len()))])
		}
	}
	return nil
}

func (s *scanner) start(name xml.Name) error {
	line, _ := s.d.InputPos()
	switch {
	case s.depth > maxNesting:
		return fmt.Errorf("elements nested deeper than %d", maxNesting)
	case s.depth == 1:
		s.root = name
		switch name.Local {
		case "urlset":
			s.child = "url"
		case "sitemapindex":
			s.child = "sitemap"
		default:
			return fmt.Errorf("a urlset or sitemapindex is wanted, not %q", name.Local)
		}
	case s.depth == 2 && name.Local == s.child && name.Space == s.root.Space:
		s.entry, s.found = line, false
	case s.depth == 3 && s.entry > 0 && name.Local == "loc" && name.Space == s.root.Space:
		s.in, s.found = line, true
		s.text.Reset()
	}
	return nil
}

func (s *scanner) end() {
	index := s.child == "sitemap"
	switch {
	case s.depth == 3 && s.in > 0:
		s.done = !s.yield(loc{s.in, strings.TrimSpace(s.text.String()), index})
		s.in = 0
	case s.depth == 2 && s.entry > 0:
		if !s.found {
			s.done = !s.yield(loc{s.entry, "", index})
		}
		s.entry = 0
	case s.depth == 1:
		s.done = true
	}
}

// decompress looks at the first bytes, not at a name: servers send .xml.gz with
// and without Content-Encoding.
func decompress(r io.Reader, limit int64) (*bufio.Reader, error) {
	br := bufio.NewReader(io.LimitReader(r, limit+1)) // one more, to see that there is more
	if magic, _ := br.Peek(2); string(magic) != "\x1f\x8b" {
		return br, nil
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	return bufio.NewReader(z), nil
}

// budget bounds what the parser may read, in all and for one token: a token is
// held as a whole.
type budget struct {
	r     *bufio.Reader
	left  int64
	limit int64
	token int
}

// begin skips what may stand before the first tag and looks for what is no
// sitemap at all.
func (b *budget) begin() error {
	head, err := b.r.Peek(512)
	if len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")), bytes.HasPrefix(head, []byte("\x00<")):
		return charsetError("UTF-16")
	case bytes.HasPrefix(head, []byte(utf8BOM)):
		head = head[len(utf8BOM):]
		if _, err := b.r.Discard(len(utf8BOM)); err != nil {
			return err
		}
	}
	if text := bytes.TrimSpace(head); len(text) > 0 && text[0] != '<' {
		return errors.New("a sitemap in XML is wanted; a list of lines goes in as a list")
	}
	return nil
}

// ReadByte is what the parser reads by.
func (b *budget) ReadByte() (byte, error) {
	c, err := b.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if b.left--; b.left < 0 {
		return 0, fmt.Errorf("a sitemap of at most %d bytes is wanted", b.limit)
	}
	if b.token--; b.token < 0 {
		return 0, fmt.Errorf("a tag, text or comment of at most %d bytes is wanted", maxToken)
	}
	return c, nil
}

// Read is here because the parser asks for a Reader; it reads by ReadByte.
func (b *budget) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := b.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

// charset is asked for every declared encoding but UTF-8.
func charset(name string, r io.Reader) (io.Reader, error) {
	if strings.EqualFold(name, "utf8") || strings.EqualFold(name, "us-ascii") || strings.EqualFold(name, "ascii") {
		return r, nil
	}
	return nil, charsetError(name)
}

// charsetError is the name of an encoding that sitemaps must not have.
type charsetError string

func (e charsetError) Error() string {
	return fmt.Sprintf("a sitemap in UTF-8 is wanted, not in %q", string(e))
}
