package hlo

import (
	"strconv"
	"strings"
)

// countBy sets the numbers of replicas and partitions of a module whose header has neither, for so
// many ranks. They are replicas, unless collectives are among partitions.
func (m *module) countBy(ranks int) {
	if m.counted || ranks < 2 {
		return
	}
	into := &m.replicas
	for _, c := range m.order {
		for k := range c.instrs {
			i := &c.instrs[k]
			by, err := modeOf(i)
			if err == nil && by == ofPartitions && i.most() > 0 {
				into = &m.partitions
			}
		}
	}
	*into = min(ranks, maxRanks)
}

// named returns the least number of ranks that all groups and pairs fit to: every rank is in one
// group of a collective, and one in no pair does nothing.
func (m *module) named() int {
	most := int64(0)
	for _, c := range m.order {
		for k := range c.instrs {
			most = max(most, c.instrs[k].most())
		}
	}
	return int(min(most, maxRanks-1)) + 1
}

// most returns the highest number in the groups or pairs of an instruction; 0 if it has none.
func (i *instr) most() (most int64) {
	var lists [][]int64
	text, given := i.attr("replica_groups")
	if given {
		lists, _ = groups(text, maxRanks) // an error comes where they are read
	} else if text, given = i.attr("source_target_pairs"); !given {
		text = pairsOf(i)
	}
	if lists == nil && strings.HasPrefix(text, "{") {
		lists, _ = listed(text)
	}
	for _, list := range lists {
		for _, n := range list {
			most = max(most, n)
		}
	}
	return most
}

// uncounted returns how an error ends where the header has no counts and a number needs more than
// one rank.
func (m *module) uncounted() string {
	if m.counted || m.ranks() > 1 {
		return ""
	}
	number := "N"
	if n := m.named(); n > 1 {
		number = strconv.Itoa(n)
	}
	return "; the header has neither replica_count nor num_partitions: write replica_count=" + number +
		" into it, or run the module as program.file on as many ranks"
}
