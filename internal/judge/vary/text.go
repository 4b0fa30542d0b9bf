package vary

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Text changes the text of a schedule in one or two places: it removes, duplicates or exchanges
// lines, or changes a digit.
func Text(text string, luck *rand.Rand) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for range 1 + luck.IntN(2) {
		first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "rank ") })
		if first < 0 {
			break
		}
		i := first + luck.IntN(len(lines)-first)
		step := strings.HasPrefix(lines[i], "    ")
		switch kind := luck.IntN(6); {
		case kind == 0 && step:
			lines = slices.Delete(lines, i, i+1)
		case kind == 1 && step:
			lines = slices.Insert(lines, i, lines[i])
		case kind == 2 && step && i+1 < len(lines):
			lines[i], lines[i+1] = lines[i+1], lines[i]
		case kind > 2:
			if luck.IntN(7) == 0 {
				i = luck.IntN(first)
			}
			lines[i] = digit(lines[i], luck)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// digit changes a digit of a line by 1.
func digit(line string, luck *rand.Rand) string {
	text := []byte(line)
	var at []int
	for i, c := range text {
		if c >= '0' && c <= '9' {
			at = append(at, i)
		}
	}
	if len(at) > 0 {
		i := at[luck.IntN(len(at))]
		text[i] = '0' + (text[i]-'0'+1+8*byte(luck.IntN(2)))%10
	}
	return string(text)
}

// Shrink removes lines from a text as long as the rest still fails.
func Shrink(text string, fails func(string) bool) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	join := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	for size := len(lines) / 2; size > 0; {
		smaller := false
		for i := 0; i+size <= len(lines); {
			less := slices.Delete(slices.Clone(lines), i, i+size)
			if fails(join(less)) {
				lines, smaller = less, true
			} else {
				i++
			}
		}
		if !smaller {
			size /= 2
		}
	}
	return join(lines)
}
