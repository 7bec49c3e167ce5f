package ssi

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"sync"
)

const (
	maxPattern  = 4000    // nodes of one regular expression, repetitions multiplied out
	maxPatterns = 1 << 20 // nodes of all that a template compiles
	maxTried    = 1 << 17 // bytes of distinct patterns that it looks at: parsing three of them may give a thousand ranges
	keptDynamic = 32      // patterns with variables that a template remembers
)

var (
	errPatternSize  = errors.New("regular expression is too large")
	errPatternTotal = errors.New("regular expressions of the document are too large together")
)

// patterns are the regular expressions of a template. Constant ones are compiled with it, each once; those made with
// variables are kept in a small cache, which is emptied when it is full.
type patterns struct {
	fixed map[string]*regexp.Regexp // while compiling only
	nodes int                       // of those that were compiled
	tried int                       // bytes of those that were looked at

	mu      sync.Mutex
	dynamic map[string]*regexp.Regexp
}

// compile is for patterns known when the template is made.
func (p *patterns) compile(source string) (*regexp.Regexp, error) {
	if re := p.fixed[source]; re != nil {
		return re, nil
	}
	if p.tried += len(source); p.tried > maxTried || p.nodes > maxPatterns {
		return nil, errPatternTotal
	}
	re, n, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	p.nodes += n
	if p.fixed == nil {
		p.fixed = make(map[string]*regexp.Regexp)
	}
	p.fixed[source] = re
	return re, nil
}

// at is for patterns known at run time; several goroutines may call it.
func (p *patterns) at(source string) (*regexp.Regexp, error) {
	p.mu.Lock()
	re := p.dynamic[source]
	p.mu.Unlock()
	if re != nil {
		return re, nil
	}
	re, _, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dynamic == nil || len(p.dynamic) == keptDynamic {
		p.dynamic = make(map[string]*regexp.Regexp, keptDynamic)
	}
	p.dynamic[source] = re
	return re, nil
}

// compilePattern also gives the weight.
func compilePattern(source string) (*regexp.Regexp, int, error) {
	if len(source) > maxPattern {
		return nil, 0, errPatternSize
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, 0, patternError(err)
	}
	n := weight(tree)
	if n > maxPattern {
		return nil, 0, errPatternSize
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, 0, patternError(err)
	}
	return re, n, nil
}

// patternError says what RE2 lacks in fewer words than the syntax package.
func patternError(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) {
		return errors.New("regular expression: " + e.Code.String() + " in " + quoted([]byte(e.Expr)))
	}
	return err
}

// weight counts nodes as if repetitions were written out, which is what compiling does.
func weight(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+weight(sub), maxPattern+1)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), maxPattern+1)
	}
	return n
}
