//go:build race

package ssi

const raceEnabled = true
