//go:build !race

package ssi

const raceEnabled = false
