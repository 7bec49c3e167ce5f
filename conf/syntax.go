package conf

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// syntaxProblem is the library's error as a Problem.
func syntaxProblem(file string, err error) *Problem {
	p := &Problem{File: file, Line: 1, Col: 1, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		p.Line, p.Col = d.Position()
		p.Cure = syntaxCure(p.Message)
	}
	return p
}

// syntaxCure helps with the mistakes of those who do not write TOML every day.
func syntaxCure(message string) string {
	switch {
	case strings.Contains(message, "at start of value"):
		return `write strings in quotes: name = "value"`
	case strings.Contains(message, "already"):
		return "give each name once"
	case strings.Contains(message, "expected '=' after key"):
		return `write name = value`
	case strings.Contains(message, `invalid escape`):
		return `write a backslash twice, or the string in single quotes`
	default:
		return ""
	}
}
