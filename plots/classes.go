package plots

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"collsim/symmetry"
	"collsim/trace"
	"collsim/unit"
)

// ranksApart is the number of ranks up to which each has rows of its own, even if several do the
// same.
const ranksApart = 32

// classes keeps one rank, the first, of each class of ranks that do the same things at the same
// times. Chunks and peers may differ. It reports false where that would not leave out half of the
// ranks.
func classes(p Panel, ranks []rankTracks) (kept []rankTracks, fewer bool) {
	colours := symmetry.Colours[string]{}
	for _, g := range ranks {
		n, isNew := colours.Number(pattern(p, g))
		if isNew {
			g.node, g.alike = "", nil
			kept = append(kept, g)
		}
		kept[n].alike = append(kept[n].alike, g.rank)
	}
	return kept, len(kept)*2 <= len(ranks)
}

// pattern encodes all steps of a rank and their times; equal ranks have equal patterns.
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

// alikeRanks keeps one rank, the first, of each class of a program's ranks that do the same at the
// same times. It does so however few they are, since each takes several rows. The note says so; it
// is "" if no rank was left out.
func alikeRanks(p Panel, groups []rankTracks) (kept []rankTracks, note string) {
	kept, _ = classes(p, groups)
	if len(kept) == len(groups) {
		return groups, ""
	}
	return kept, noteOf(len(groups), len(kept))
}

// noteOf says that one rank of each class is shown.
func noteOf(ranks, classes int) string {
	if classes == 1 {
		return fmt.Sprintf("all %d ranks do the same at the same times: the first is shown", ranks)
	}
	return fmt.Sprintf("%d ranks in %d classes, each of ranks that do the same at the same times: "+
		"the first of each is shown", ranks, classes)
}

// appendPattern encodes the steps of a lane and their times.
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

// lanesApart is the number of lanes of a rank up to which each has a row of its own, even if
// several do the same.
const lanesApart = 8

// shareLanes keeps one lane, the first, of each class of a rank's lanes that do the same things at
// the same times. It does so only for ranks with many lanes. Chunks and peers may differ. The note
// says so; it is "" if no lane was left out.
func shareLanes(t *trace.Trace, ranks []rankTracks) (note string) {
	for r := range ranks {
		g := &ranks[r]
		if len(g.tracks) <= lanesApart {
			continue
		}
		colours := symmetry.Colours[string]{}
		var kept []int32
		for _, track := range g.tracks {
			n, isNew := symmetry.NumberText(colours, appendPattern(nil, t, track))
			if isNew {
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

// matter orders ranks by their interest to a reader. First come ranks on the critical path, the
// longest time first; then those at the busiest links; then those that finish last; then by number.
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

// busiest is the number of links that count as the busiest.
const busiest = 4

// atBusyLinks returns, by rank, the bytes of the busiest link at that rank, among the few links
// that carried most. It finds the rank in the name of the link: "gpu3->switch".
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

// ofMany chooses the rows of a run of many ranks: one rank of each class of equal ones if these
// have room, else those that matter. A note says which.
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
			if note = noteOf(len(groups), len(kept)); cut {
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
