package ssi

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

const (
	maxPattern  = 4000    // nodes of one regular expression, repetitions multiplied out
	maxPatterns = 1 << 20 // nodes of all that a template compiles
	maxTried    = 1 << 17 // bytes of distinct patterns that it looks at: parsing three of them may give a thousand ranges
	keptNodes   = 2000    // nodes of all patterns with variables that a template remembers

	nodeBytes = 100 // about what a node takes when compiled
)

// patternError says what is wrong with a regular expression, at an offset in it.
type patternError struct {
	at            int
	message, cure string
}

func (e *patternError) Error() string { return e.message }

func (e *patternError) fault(off int) *fault { return expression(off, e.message, e.cure) }

// patterns are the regular expressions of a template. Constant ones are compiled with it, each once; those made with
// variables are kept in a small cache, which is emptied when it is full.
type patterns struct {
	fixed   map[string]*regexp.Regexp // while compiling only
	nodes   int                       // of those that were compiled
	tried   int                       // bytes of those that were looked at
	varying bool                      // some are made with variables

	mu      sync.Mutex
	dynamic map[string]*regexp.Regexp
	kept    int // nodes in dynamic
}

// size is about what they take, with the cache full.
func (p *patterns) size() int {
	n := p.nodes
	if p.varying {
		n += keptNodes
	}
	return n * nodeBytes
}

// compile is for patterns known when the template is made.
func (p *patterns) compile(source string) (*regexp.Regexp, *patternError) {
	if re := p.fixed[source]; re != nil {
		return re, nil
	}
	if p.tried += len(source); p.tried > maxTried || p.nodes > maxPatterns {
		return nil, &patternError{message: "regular expressions of the document are too large together", cure: "use fewer or smaller ones"}
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
	re, n, bad := compilePattern(source)
	if bad != nil {
		return nil, bad
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(source, re, n)
	return re, nil
}

// keep remembers a pattern of n nodes, unless it would fill the cache alone.
func (p *patterns) keep(source string, re *regexp.Regexp, n int) {
	if n > keptNodes || p.dynamic[source] != nil {
		return
	}
	if p.dynamic == nil || p.kept+n > keptNodes {
		p.dynamic, p.kept = make(map[string]*regexp.Regexp), 0
	}
	p.dynamic[source] = re
	p.kept += n
}

// compilePattern also gives the weight.
func compilePattern(source string) (*regexp.Regexp, int, *patternError) {
	tooLarge := &patternError{message: "regular expression is too large", cure: "shorten it, or repeat less"}
	if len(source) > maxPattern {
		return nil, 0, tooLarge
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, 0, whyRefused(source, err)
	}
	n := weight(tree)
	if n > maxPattern {
		return nil, 0, tooLarge
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, 0, whyRefused(source, err)
	}
	return re, n, nil
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
