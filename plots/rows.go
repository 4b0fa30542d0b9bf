package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/trace"
	"collsim/unit"
)

// rowsDefault is the most rows of a picture, unless its options say otherwise.
const rowsDefault = 64

// row is a track as a picture shows it.
type row struct {
	track int32
	rank  string  // "rank 3" on the first row of a rank, else ""
	node  string  // of the cluster, on the first row of its first rank; else ""
	inner bool    // the row belongs to the node of the row above
	alike []int32 // the ranks that it stands for, if more than its own
	lanes []int32 // the tracks of its rank that it stands for, if more than its own
	lane  string  // "lane 1", the track's own name, or "" where every rank has one lane
	gap   bool    // ranks between the row above and this one are left out
}

// rows chooses at most `most` tracks of each timeline. The note says what was left out; it is "" if
// nothing was. If there is not room for all ranks, half of it goes to the lowest ranks, and the
// rest to those that finish last. Of several that finish together, the lowest come first. So a
// reader sees the normal case and the late ranks.
//
// Ranks are shown whole, but a rank with more lanes than half the room shows that many. The time at
// which a rank finishes is its latest in any timeline, so that all timelines with the same tracks
// show the same ranks.
//
// In a single timeline, equal lanes of a rank with more than 8 share a row. Of more than 32 ranks
// it shows one of each class of equal ranks, or those that matter. With each, it does neither.
func rows(panels []Panel, most int, each bool) (shown [][]row, note string) {
	if p := panels[0]; len(panels) == 1 && !each {
		groups := byRank(p)
		shared := shareLanes(p.Trace, groups)
		if p.Ops != nil {
			groups, note = alikeRanks(p, groups)
			if len(groups) <= ranksApart {
				shown, more := chooseRows(panels, [][]rankTracks{groups}, most)
				if note != "" && more != "" {
					note += "; "
				}
				return shown, note + more
			}
		}
		if len(groups) > ranksApart {
			groups, chosen, note := ofMany(p, groups, most)
			return [][]row{labelRows(p.Trace, groups, chosen)}, note + shared
		}
		shown, note = chooseRows(panels, [][]rankTracks{groups}, most)
		if note == "" {
			return shown, strings.TrimPrefix(shared, "; ")
		}
		return shown, note + shared
	}
	var groups [][]rankTracks
	for _, p := range panels {
		groups = append(groups, byRank(p))
	}
	return chooseRows(panels, groups, most)
}

// chooseRows chooses the ranks of each timeline.
func chooseRows(panels []Panel, groups [][]rankTracks, most int) (shown [][]row, note string) {
	late := map[int32]unit.Time{} // by rank: when it finishes; never iterated
	for _, ranks := range groups {
		for _, g := range ranks {
			late[g.rank] = max(late[g.rank], g.finish)
		}
	}
	whose := "the lowest ranks, and those that finish last"
	count, all := 0, 0
	for n, p := range panels {
		rows := 0
		for g := range groups[n] {
			groups[n][g].finish = late[groups[n][g].rank]
			rows += len(groups[n][g].tracks)
		}
		if rows > most && cutLanes(groups[n], most) {
			whose = "the first lanes of the lowest ranks, and of those that finish last"
		}
		shown = append(shown, labelRows(p.Trace, groups[n], choose(groups[n], most)))
		count, all = count+len(shown[n]), all+rows
	}
	if count < all {
		note = fmt.Sprintf("%d of %d rows are shown: %s", count, all, whose)
	}
	return shown, note
}

// cutLanes limits the lanes of a rank to half the rows, unless it is the only rank. It reports
// whether it cut any.
func cutLanes(groups []rankTracks, most int) (cut bool) {
	half := max(1, most/2)
	if len(groups) == 1 {
		half = most
	}
	for n := range groups {
		if g := &groups[n]; len(g.tracks) > half {
			g.tracks = g.tracks[:half]
			cut = true
		}
	}
	return cut
}

// choose returns for each rank whether its rows are shown, at most `most` in all. The first ranks
// take up to half of the rows. Those that finish last fill the rest, where all their rows fit.
func choose(groups []rankTracks, most int) []bool {
	chosen := make([]bool, len(groups))
	room := most
	take := func(g int, free int) { // if so many rows stay free
		if n := len(groups[g].tracks); !chosen[g] && room-n >= free {
			chosen[g] = true
			room -= n
		}
	}
	late := make([]int, len(groups))
	for g := range groups {
		take(g, most/2)
		late[g] = g
	}
	slices.SortStableFunc(late, func(a, b int) int {
		return cmp.Compare(groups[b].finish, groups[a].finish)
	})
	for _, g := range late {
		take(g, 0)
	}
	return chosen
}

// rankTracks holds the tracks of one rank.
type rankTracks struct {
	rank   int32
	node   string // of a cluster; else ""
	name   string // "rank 3", and in a cluster its name in the node
	tracks []int32
	lanes  [][]int32 // by track: the tracks that it stands for, itself included; nil: only itself
	alike  []int32   // ranks that it stands for, itself included; nil: only itself
	finish unit.Time
}

// byRank groups tracks by rank, and the ranks of a node together.
func byRank(p Panel) []rankTracks {
	t := p.Trace
	var groups []rankTracks
	nodes := map[string]int{} // in the order of their first ranks
	for n, track := range t.Tracks {
		if n == 0 || t.Tracks[n-1].Rank != track.Rank {
			g := rankTracks{rank: track.Rank, name: fmt.Sprintf("rank %d", track.Rank)}
			if int(track.Rank) < len(p.Names) {
				if node, gpu, of := strings.Cut(printable(p.Names[track.Rank]), "/"); of {
					g.node, g.name = node, g.name+" "+gpu
				}
			}
			if _, there := nodes[g.node]; !there {
				nodes[g.node] = len(nodes)
			}
			groups = append(groups, g)
		}
		g := &groups[len(groups)-1]
		g.tracks = append(g.tracks, int32(n))
		g.finish = max(g.finish, t.Finish(int32(n)))
	}
	slices.SortStableFunc(groups, func(a, b rankTracks) int {
		return cmp.Compare(nodes[a.node], nodes[b.node])
	})
	return groups
}

func labelRows(t *trace.Trace, groups []rankTracks, chosen []bool) []row {
	lanes := slices.ContainsFunc(t.Tracks, func(k trace.Track) bool {
		return k.Lane > 0 || k.Name != ""
	})
	var shown []row
	node := ""
	for g, group := range groups {
		if !chosen[g] {
			continue
		}
		for n, track := range group.tracks {
			r := row{track: track, inner: group.node != "" && group.node == node}
			if n == 0 {
				if r.rank = group.name; !r.inner {
					r.node = group.node
				}
				all := max(1, len(group.alike)) * max(1, int(t.Tracks[track].Alike))
				if all > 1 {
					r.rank = fmt.Sprintf("rank %d × %d", group.rank, all)
				}
				r.gap = len(shown) > 0 && !chosen[g-1]
			}
			if lanes {
				r.lane = t.Tracks[track].Name
				if r.lane == "" {
					r.lane = fmt.Sprintf("lane %d", t.Tracks[track].Lane)
				}
			}
			if len(group.alike) > 1 {
				r.alike = group.alike
			}
			if group.lanes != nil && len(group.lanes[n]) > 1 {
				r.lanes = group.lanes[n]
				r.lane += fmt.Sprintf(" × %d", len(r.lanes))
			}
			node = group.node
			shown = append(shown, r)
		}
	}
	return shown
}

// stepLabels returns the possible labels of a step's bar, the longest first: letter, chunk and
// slice. The slice is included only where the run has several.
func stepLabels(i trace.Interval, sliced bool) []string {
	letter := lookOf(i.Kind).letter
	if i.Chunk < 0 {
		return []string{letter}
	}
	chunk := fmt.Sprintf("%s%d", letter, i.Chunk)
	if !sliced {
		return []string{chunk, letter}
	}
	return []string{fmt.Sprintf("%s:%d", chunk, i.Slice), chunk, letter}
}

// sliced reports whether any step of any timeline moves a part of a chunk.
func sliced(panels []Panel) bool {
	return slices.ContainsFunc(panels, func(p Panel) bool {
		return slices.ContainsFunc(p.Trace.Intervals,
			func(i trace.Interval) bool { return i.Slice > 0 })
	})
}

// seen records what is visible in a picture. The legend explains exactly that.
type seen struct {
	kinds   [6]bool // by trace.Kind
	ops     []bool  // by operation
	low     bool
	levels  bool
	waiting bool
	chunks  bool
	slices  bool
}

// step records a step, by its paint and the label that fits its bar.
func (s *seen) step(paint int, label string) {
	if n := paint - len(s.kinds); n >= 0 {
		s.ops[n] = true
		return
	}
	s.kinds[paint] = true
	s.chunks = s.chunks || len(label) > 1
	s.slices = s.slices || strings.Contains(label, ":")
}

// numbers explains the number in a bar; "" if there is none.
func (s *seen) numbers() string {
	switch {
	case s.slices:
		return "3:1 is chunk 3, slice 1"
	case s.chunks:
		return "the number is the chunk"
	}
	return ""
}
