package ssi

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestReady(t *testing.T) {
	for src, want := range map[string][2]bool{ // at once, and when all is there
		``:                                     {false, false},
		`text`:                                 {true, true},
		`<!--#include virtual="/a?1s" -->`:     {false, true},
		`text<!--#include virtual="/a?1s" -->`: {true, true},
		`<!--#include virtual="/a?1s" --><!--#echo var="none" -->x`: {false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(src, &Env{Includer: new(slow)})
			defer r.Close()
			if got := r.Ready(); got != want[0] {
				t.Errorf("%s: ready at once: %v", src, got)
			}
			if !r.Wait(time.Hour) {
				t.Fatalf("%s: not complete", src)
			}
			if got := r.Ready(); got != want[1] {
				t.Errorf("%s: ready when complete: %v", src, got)
			}
		})
	}
}
