package goal

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// labels maps a rank's labels to operations. Programs that write GOAL number them, "l1", "l2", …;
// such labels are looked up by number.
type labels struct {
	prefix  []byte  // of numbered labels
	counted []int32 // by number: the operation, plus 1; 0 for none
	others  map[string]int32
}

// mostCounted returns the number from which on a label of operation op is stored by name. A table
// of sparse numbers would take memory for those in between.
func mostCounted(op int32) int { return 1000 + 4*int(op) }

func (l *labels) clear() {
	l.counted = l.counted[:0]
	clear(l.others)
}

// number returns the number of a numbered label, −1 for others.
func (l *labels) number(label []byte) int {
	digits, found := bytes.CutPrefix(label, l.prefix)
	if !found || len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return -1
	}
	n := 0
	for _, c := range digits {
		if !digit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// find returns the operation of a label.
func (l *labels) find(label []byte) (op int32, known bool) {
	if n := l.number(label); n >= 0 && n < len(l.counted) && l.counted[n] > 0 {
		return l.counted[n] - 1, true
	}
	op, known = l.others[string(label)]
	return op, known
}

// add sets the operation of a new label.
func (l *labels) add(label []byte, op int32) {
	if len(l.counted) == 0 && len(l.others) == 0 {
		l.prefix = append(l.prefix[:0], bytes.TrimRight(label, "0123456789")...)
	}
	n := l.number(label)
	if n < 0 || n >= mostCounted(op) {
		if l.others == nil {
			l.others = map[string]int32{}
		}
		l.others[string(label)] = op
		return
	}
	for n >= len(l.counted) {
		l.counted = append(l.counted, 0)
	}
	l.counted[n] = op + 1
}

// some lists the labels in order; none where there are so many that sorting takes long.
func (l *labels) some() []string {
	if len(l.counted)+len(l.others) > 10_000 {
		return nil
	}
	all := slices.Collect(maps.Keys(l.others))
	for n, op := range l.counted {
		if op > 0 {
			all = append(all, string(l.prefix)+strconv.Itoa(n))
		}
	}
	slices.Sort(all)
	return all
}
