// Package prose has what all who write for people say in the same way. It knows nothing of what it
// is said of.
package prose

import (
	"fmt"
	"strconv"
	"strings"
)

// Plural returns a number of things: "1 rank", "2 ranks".
func Plural[T int | int64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Between returns a range, or its one value. A unit that both ends have is written once.
func Between[T comparable](from, to T, dash string) string {
	low, high := fmt.Sprint(from), fmt.Sprint(to)
	if low == high {
		return low
	}
	if _, unit, ok := strings.Cut(high, " "); ok {
		low = strings.TrimSuffix(low, " "+unit)
	}
	return low + dash + high
}

// Ranks lists ranks in ascending order, such as "0 2 4…7".
func Ranks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		end := i + 1
		for end < len(ranks) && ranks[end] == ranks[end-1]+1 {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		i++
		if end-i > 1 {
			b.WriteString("…" + strconv.Itoa(ranks[end-1]))
			i = end
		}
	}
	return b.String()
}
