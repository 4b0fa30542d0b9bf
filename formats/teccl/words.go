package teccl

import (
	"strconv"
	"strings"
)

// words parses a sentence from its beginning; a failure is permanent.
type words struct {
	text   string
	failed bool
}

// done reports whether the sentence was parsed to its end without a failure.
func (w *words) done() bool { return !w.failed && w.text == "" }

// has consumes a literal if it comes next.
func (w *words) has(literal string) bool {
	rest, ok := strings.CutPrefix(w.text, literal)
	if ok {
		w.text = rest
	}
	return ok
}

func (w *words) literal(text string) { w.failed = !w.has(text) || w.failed }

// number parses a literal and a number up to high.
func (w *words) number(literal string, high int) int {
	w.literal(literal)
	end := 0
	for end < len(w.text) && w.text[end] >= '0' && w.text[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(w.text[:end])
	w.text = w.text[end:]
	if err != nil || n > high {
		w.failed = true
		return 0
	}
	return n
}

// hop parses "2->6 with volume 0.2 in epoch 4 via switches 0 -> 17".
func (w *words) hop(f *hop) {
	f.from = w.number("", maxNode)
	f.to = w.number("->", maxNode)
	if f.volume = 1; w.has(" with volume ") {
		volume, rest, _ := strings.Cut(w.text, " ")
		v, err := strconv.ParseFloat(volume, 64)
		if w.text = " " + rest; err != nil || !(v > 0 && v <= 1+rounding) {
			w.failed = true
		}
		f.volume = v
	}
	f.epoch = w.number(" in epoch ", maxEpoch)
	if !w.has(" via switches ") {
		return
	}
	w.number("", maxNode)
	for !w.failed && w.text != "" {
		if !w.has(" -> ") {
			w.literal("->")
		}
		w.number("", maxNode)
	}
}
