package proof

import (
	"fmt"
	"slices"
	"strings"
)

// header is what stands before the program of a schedule with a group.
type header struct {
	collective              string
	count, channels, slices int
	scratch                 int
	cuts                    [3]string
}

func (g *grouper) text(h header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule\ncollective %s\nranks %d\n", h.collective, g.n)
	if !strings.HasPrefix(h.collective, "barrier") {
		fmt.Fprintf(&b, "count %d\n", h.count)
	}
	fmt.Fprintf(&b, "group %s\n", strings.Trim(fmt.Sprint([]int32(g.group)), "[]"))
	if h.slices > 1 {
		fmt.Fprintf(&b, "slices %d\n", h.slices)
	}
	if g.IntN(6) == 0 {
		fmt.Fprintf(&b, "slots %d\n", 1+g.IntN(3))
	}
	if h.scratch > 0 {
		fmt.Fprintf(&b, "scratch %d\n", h.scratch)
	}
	channelCut := ""
	if h.channels > 1 {
		channelCut = fmt.Sprintf("channel even %d", h.channels)
	}
	for i, cut := range h.cuts {
		levels := []string{cut, channelCut}
		if strings.HasPrefix(h.collective, "all_reduce") {
			slices.Reverse(levels)
		}
		if i == 2 && h.scratch == 0 {
			continue
		}
		levels = slices.DeleteFunc(levels, func(l string) bool { return l == "" })
		if len(levels) > 0 {
			fmt.Fprintf(&b, "cut %s %s\n", []string{"in", "out", "scratch"}[i],
				strings.Join(levels, ", "))
		}
	}
	b.WriteString("rank *\n")
	each := 1 + g.IntN(2)*g.IntN(3)
	lanes, posts, before := make([]string, each), make([]int, each), -1
	orders := 1 + g.IntN(2)*20 // of so many steps one is not ordered after one in another lane
	for i := range g.steps {
		s := &g.steps[i]
		lane := g.IntN(each)
		switch { // a message of some distance is received in the lane that it is sent in
		case s.to >= 0:
			lane = int(s.to) % each
		case s.from >= 0:
			lane = int(g.back(s.from)) % each
		}
		line := strings.ReplaceAll(s.line(h.channels*each), "/%[1]d", fmt.Sprintf("/LANE%d", lane))
		if before >= 0 && before != lane && g.IntN(orders) > 0 {
			line += fmt.Sprintf(" after EVENT%d#%d", before, posts[before])
		}
		if s.ranked {
			line += " ranked"
		}
		if each > 1 {
			line += " post"
		}
		lanes[lane] += "    " + line + "\n"
		posts[lane]++
		before = lane
	}
	number := 0
	for channel := range h.channels {
		for lane := range each {
			fmt.Fprintf(&b, "  lane %d", number)
			if h.channels > 1 {
				fmt.Fprintf(&b, " channel %d", channel)
			}
			text := lanes[lane]
			for other := range each {
				text = strings.ReplaceAll(text, fmt.Sprintf("/LANE%d", other),
					fmt.Sprintf("/%d", channel*each+other))
				text = strings.ReplaceAll(text, fmt.Sprintf("EVENT%d#", other),
					fmt.Sprintf("%d#", channel*each+other))
			}
			if text == "" {
				text = "    nop\n"
			}
			b.WriteString("\n" + text)
			number++
		}
	}
	return b.String()
}
