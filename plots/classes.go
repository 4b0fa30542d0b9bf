package plots

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// ranksApart is how many ranks have rows of their own, whatever they do.
const ranksApart = 32

// classes leaves of ranks that do the same things at the same times the first, which stands for
// all. Which chunks they move and which peers they have may differ. It reports false where that
// would not leave out half of them.
func classes(p Panel, ranks []rankTracks) (kept []rankTracks, fewer bool) {
	at := map[string]int{}
	for _, g := range ranks {
		does := pattern(p, g)
		n, there := at[does]
		if !there {
			n = len(kept)
			at[does] = n
			g.node, g.alike = "", nil
			kept = append(kept, g)
		}
		kept[n].alike = append(kept[n].alike, g.rank)
	}
	return kept, len(kept)*2 <= len(ranks)
}

// pattern is what a rank does when.
func pattern(p Panel, g rankTracks) string {
	t := p.Trace
	var b []byte
	for n, track := range g.tracks {
		lanes := []int32{track}
		if g.lanes != nil {
			lanes = g.lanes[n]
		}
		for _, one := range lanes {
			b = binary.AppendVarint(b, int64(t.Tracks[one].Lane))
		}
		b = appendPattern(b, t, track)
		if p.content(track) != ofLane {
			for _, i := range t.On(track) {
				b = binary.AppendVarint(b, int64(i.Chunk))
				b = binary.AppendVarint(b, int64(i.Peer))
				b = binary.AppendVarint(b, int64(i.Round))
				b = binary.AppendVarint(b, int64(i.Bytes))
			}
		}
	}
	return string(b)
}

// alikeRanks leaves of ranks of a program that do the same at the same times the first, which
// stands for all, however few they are: each takes several rows. It says so in a note, "" if there
// are none.
func alikeRanks(p Panel, groups []rankTracks) (kept []rankTracks, note string) {
	kept, _ = classes(p, groups)
	if len(kept) == len(groups) {
		return groups, ""
	}
	if len(kept) == 1 {
		return kept, fmt.Sprintf("all %d ranks do the same at the same times: the first is shown",
			len(groups))
	}
	return kept, fmt.Sprintf("%d ranks in %d classes, each of ranks that do the same at the same "+
		"times: the first of each is shown", len(groups), len(kept))
}

// appendPattern is what a lane does when.
func appendPattern(b []byte, t *trace.Trace, track int32) []byte {
	b = append(append(b, t.Tracks[track].Name...), 0)
	for _, i := range t.On(track) {
		b = append(b, byte(i.Kind), byte(i.Verb))
		for _, at := range [...]unit.Time{i.Ready, i.Start, i.Done, i.End} {
			b = binary.AppendVarint(b, int64(at))
		}
	}
	return append(b, 0xFF)
}

// lanesApart is how many lanes of a rank have rows of their own, whatever they do.
const lanesApart = 8

// shareLanes leaves of lanes of a rank that do the same things at the same times the first, which
// stands for all, where the rank has many. Which chunks they move and which peers they have may
// differ. It says so in a note, "" if there are none.
func shareLanes(t *trace.Trace, ranks []rankTracks) (note string) {
	for r := range ranks {
		g := &ranks[r]
		if len(g.tracks) <= lanesApart {
			continue
		}
		at := map[string]int{}
		var kept []int32
		for _, track := range g.tracks {
			does := string(appendPattern(nil, t, track))
			n, there := at[does]
			if !there {
				n = len(kept)
				at[does] = n
				kept, g.lanes = append(kept, track), append(g.lanes, nil)
			}
			g.lanes[n] = append(g.lanes[n], track)
		}
		if len(kept) < len(g.tracks) {
			note = "; lanes that do the same at the same times share a row"
		}
		g.tracks = kept
	}
	return note
}

// matter orders ranks by what a reader wants to see of many: who is on the critical path, the
// longest first; who is at one of the busiest links; who finishes last; the lowest.
func matter(p Panel, groups []rankTracks) []int {
	onPath := map[int32]unit.Time{}
	for _, s := range p.Path {
		onPath[s.Rank] += s.To - s.From
	}
	busy := atBusyLinks(p)
	order := make([]int, len(groups))
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := groups[i], groups[j]
		return cmp.Or(cmp.Compare(onPath[b.rank], onPath[a.rank]),
			cmp.Compare(busy[b.rank], busy[a.rank]),
			cmp.Compare(b.finish, a.finish), cmp.Compare(a.rank, b.rank))
	})
	return order
}

// busiest is how many links count as the busiest.
const busiest = 4

// atBusyLinks is how much the busiest link at each rank has carried, of those few that carried
// most, where the names of links tell whose they are: "gpu3->switch".
func atBusyLinks(p Panel) map[int32]unit.Bytes {
	at := map[int32]unit.Bytes{}
	rankOf := map[string]int32{}
	for rank, name := range p.Names {
		rankOf[name] = int32(rank)
	}
	links := slices.Clone(p.Trace.Counters)
	slices.SortStableFunc(links, func(a, b trace.Counter) int {
		return cmp.Compare(b.Total(), a.Total())
	})
	for _, l := range links[:min(busiest, len(links))] {
		from, to, _ := strings.Cut(l.Name, "->")
		for _, end := range []string{from, to} {
			if rank, ok := rankOf[end]; ok {
				at[rank] = max(at[rank], l.Total())
			}
		}
	}
	return at
}

// ofMany chooses rows of a run of many ranks: one rank of each class of equal ones if they have
// room, else those that matter. It says in a note which.
func ofMany(p Panel, groups []rankTracks, most int) (left []rankTracks, chosen []bool,
	note string) {
	if kept, fewer := classes(p, groups); fewer {
		lanes := len(kept[0].tracks)
		cut := len(kept) == 1 && cutLanes(kept, most)
		count := 0
		for _, g := range kept {
			count += len(g.tracks)
		}
		if count <= most {
			note = fmt.Sprintf("%d ranks in %d classes, each of ranks that do the same at the same "+
				"times: the first of each is shown", len(groups), len(kept))
			if len(kept) == 1 {
				note = fmt.Sprintf("all %d ranks do the same at the same times: the first is shown",
					len(groups))
			}
			if cut {
				note += fmt.Sprintf(", with %d of its %d lanes", count, lanes)
			}
			return kept, slices.Repeat([]bool{true}, len(kept)), note
		}
	}
	first := ""
	if cutLanes(groups, most) {
		first = "the first lanes of "
	}
	chosen, room, shown := make([]bool, len(groups)), most, 0
	for _, g := range matter(p, groups) {
		if n := len(groups[g].tracks); n <= room {
			chosen[g] = true
			room -= n
			shown++
		}
	}
	whose := "those that finish last, at the busiest links, and the lowest"
	if len(p.Path) > 0 {
		whose = "those longest on the critical path, at the busiest links, and that finish last"
	}
	return groups, chosen, fmt.Sprintf("%d of %d ranks are shown: %s%s", shown, len(groups), first,
		whose)
}
