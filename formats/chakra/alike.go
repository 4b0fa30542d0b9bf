package chakra

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/internal/prose"
	"collsim/unit"
)

// stages holds the ranks for which a file stands. Groups of the file are shifted, so that each of
// these ranks calls in its own team of what the file's rank calls in.
type stages struct {
	ranks int
	own   []int   // by stage: the rank whose file it is
	of    []int   // by rank: its stage
	lists [][]int // by stage: its ranks, in ascending order

	tilings []*tiling
	labels  map[labelKey]string // of the groups, alike in all files
	names   prose.Names
}

// labelKey identifies a group whose name differs from rank to rank: by its teams and, if several
// have the same, in which order they come.
type labelKey struct {
	of     *tiling
	number int
}

// standFor prepares a trace whose files stand for more ranks than one. Until spread, each file is a
// rank of its own, among as many ranks as there are files.
func (t *trace) standFor(o *Reading) error {
	s := &stages{ranks: o.Ranks, labels: map[labelKey]string{}}
	t.stages = s
	if err := t.divide(o); err != nil {
		return err
	}
	for i := range t.nodes {
		if err := t.regroup(i, o); err != nil {
			return err
		}
	}
	t.notesOfStages()
	return nil
}

// divide says which ranks each file stands for.
func (t *trace) divide(o *Reading) error {
	s, n := t.stages, len(t.files)
	switch {
	case o.Alike == AllRanks && n != 1:
		return fmt.Errorf("%d files, of which each would stand for all ranks; one is expected", n)
	case o.Stages != nil && len(o.Stages) != n:
		return fmt.Errorf("%d files, and %d stages", n, len(o.Stages))
	case o.Stages == nil && o.Ranks%n != 0:
		return fmt.Errorf("%d files, of as many stages; %d ranks cannot be divided among them", n,
			o.Ranks)
	}
	s.of = slices.Repeat([]int{-1}, o.Ranks)
	for i := range n {
		if err := s.add(i, s.stage(i, n, o)); err != nil {
			return err
		}
		if world := t.about[i].world; world > 0 && world != o.Ranks {
			return t.fileError(i, "it is of %d ranks (world_size of distributedInfo); the network has %d",
				world, o.Ranks)
		}
	}
	if missing := slices.Index(s.of, -1); missing >= 0 {
		return fmt.Errorf("rank %d is in no stage", missing)
	}
	for i := range n {
		own, err := t.ownRank(i)
		if err != nil {
			return err
		}
		s.own = append(s.own, own)
	}
	return nil
}

// stage returns the ranks of a stage of n: those that the user lists, or an equal run of them.
func (s *stages) stage(i, n int, o *Reading) []int {
	if o.Stages != nil {
		return slices.Sorted(slices.Values(o.Stages[i]))
	}
	list := make([]int, o.Ranks/n)
	for k := range list {
		list[k] = i*len(list) + k
	}
	return list
}

// add appends a stage.
func (s *stages) add(i int, list []int) error {
	if len(list) == 0 {
		return fmt.Errorf("stage %d is a group of all ranks; a list of its own is expected", i)
	}
	for _, rank := range list {
		if other := s.of[rank]; other >= 0 {
			return fmt.Errorf("rank %d is in stages %d and %d", rank, other, i)
		}
		s.of[rank] = i
	}
	s.lists = append(s.lists, list)
	return nil
}

// ownRank returns the rank whose file it is: what the file says, or else one that is in all of its
// groups, or else the first of its stage.
func (t *trace) ownRank(file int) (int, error) {
	s := t.stages
	in := func(rank int) bool { return rank >= 0 && rank < s.ranks && s.of[rank] == file }
	if own := t.about[file].rank; own >= 0 {
		if !in(own) {
			return 0, t.fileError(file, "it is of rank %d (distributedInfo); one of the ranks %s is "+
				"expected, for which it is to stand", own, prose.Ranks(s.lists[file]))
		}
		return own, nil
	}
	if own := t.common(file); in(own) {
		return own, nil
	}
	return s.lists[file][0], nil
}

// fileError makes an error of a file.
func (t *trace) fileError(rank int, format string, args ...any) error {
	return &foreign.Error{File: t.files[rank].Name, Text: fmt.Sprintf(format, args...)}
}

// common returns the least rank that is in all groups of a file, −1 if there is none.
func (t *trace) common(file int) int {
	var all []int
	for i := range t.nodes[file] {
		n := &t.nodes[file][i]
		if n.members == "" {
			continue
		}
		ranks := numbers(n.members)
		if all == nil {
			all = ranks
		}
		all = slices.DeleteFunc(slices.Clone(all), func(r int) bool { return !slices.Contains(ranks, r) })
	}
	if len(all) == 0 {
		return -1
	}
	return slices.Min(all)
}

// numbers parses a list such as "[0 1 2]".
func numbers(text string) (list []int) {
	for _, word := range strings.Fields(strings.Trim(text, "[]")) {
		if n, err := strconv.Atoi(word); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// regroup gives the calls of a file their teams, in place of the group of the file's rank.
func (t *trace) regroup(file int, o *Reading) error {
	s := t.stages
	known := map[string]*tiling{}      // by name and members
	numbered := map[*tiling][]string{} // names of the groups with these teams, in order
	for i := range t.nodes[file] {
		n := &t.nodes[file][i]
		if n.kind != commSend && n.kind != commRecv && !n.asks() {
			continue
		}
		key := n.group + n.members
		if known[key] == nil {
			of, err := s.tiling(n, s.own[file], o)
			if err != nil {
				return t.wrong(file, int32(i), "%v", err)
			}
			known[key] = of
		}
		n.tiling = known[key]
		names := numbered[n.tiling]
		number := slices.Index(names, n.group)
		if number < 0 {
			number = len(names)
			numbered[n.tiling] = append(names, n.group)
		}
		n.group = s.label(labelKey{n.tiling, number}, n.group)
		var among []int // the stages that the file's rank meets
		for _, rank := range n.tiling.teams[n.tiling.of[s.own[file]]] {
			among = append(among, s.of[rank])
		}
		slices.Sort(among)
		n.members = fmt.Sprint(slices.Compact(among))
		if err := t.share(file, int32(i), o); err != nil {
			return err
		}
	}
	return nil
}

// label returns the name of a group: what the first file calls it that does.
func (s *stages) label(key labelKey, name string) string {
	if known, found := s.labels[key]; found {
		return known
	}
	label := s.names.Unique(name)
	s.labels[key] = label
	return label
}

// tiling returns the teams of a call: those that the user names for its group, or its own shifted.
func (s *stages) tiling(n *node, own int, o *Reading) (*tiling, error) {
	members := numbers(n.members)
	var of *tiling
	var err error
	switch i := slices.IndexFunc(o.Groups, func(g Group) bool { return g.Name == n.group }); {
	case i >= 0:
		if of, err = named(o.Groups[i].Teams, s.ranks); err != nil {
			return nil, fmt.Errorf("program.group %q: %w", n.group, err)
		}
		if p := len(of.teams[0]); len(members) > 0 && p != len(members) {
			return nil, fmt.Errorf("program.group %q has teams of %d; the trace has one of %d ranks",
				n.group, p, len(members))
		}
	case n.members == "" && n.group != "" && n.asks():
		return nil, fmt.Errorf("who is in group %q is not in the trace: [[program.group]] name = %q "+
			"says it", n.group, n.group)
	case n.members == "":
		of, err = named([][]int{nil}, s.ranks)
	case !slices.Contains(members, own):
		return nil, fmt.Errorf("its group, ranks %s, is without rank %d, whose trace it is",
			prose.Ranks(members), own)
	case members[0] < 0 || members[len(members)-1] >= s.ranks:
		return nil, fmt.Errorf("its group has ranks %s; the network has 0 to %d", prose.Ranks(members),
			s.ranks-1)
	default:
		of, err = shifted(members, s.ranks)
	}
	if err != nil {
		return nil, err
	}
	for _, known := range s.tilings {
		if slices.EqualFunc(known.teams, of.teams, slices.Equal) {
			return known, nil
		}
	}
	s.tilings = append(s.tilings, of)
	return of, nil
}

// share says what each rank of a group gives each other, where the file says it of its own rank.
// Equal parts are so for all.
func (t *trace) share(file int, i int32, o *Reading) error {
	n := &t.nodes[file][i]
	if !n.lists {
		return nil
	}
	if equalParts(n.to) && equalParts(n.from) {
		n.lists, n.to, n.from = false, nil, nil
		return nil
	}
	p := len(n.tiling.teams[0])
	if o.Shares == nil {
		return t.wrong(file, i, "its sizes differ (%v), and what the other ranks send each other is not "+
			"in this trace: program.splits says it, as { zipf = 1.2 }", n.to)
	}
	if p > maxPermuted {
		return t.wrong(file, i, "its sizes differ, among %d ranks; at most %d are possible", p,
			maxPermuted)
	}
	row := gcd(slices.Concat(n.to, n.from)) // bytes of a token
	rows, err := o.Shares(p, sum(n.to)/row)
	if err != nil {
		return t.wrong(file, i, "%v", err)
	}
	n.rows = make([][]int64, p)
	for from := range rows {
		for _, tokens := range rows[from] {
			n.rows[from] = append(n.rows[from], tokens*row)
		}
	}
	n.to, n.from = nil, nil
	return nil
}

func gcd(list []int64) int64 {
	a := int64(0)
	for _, b := range list {
		a = unit.GCD(a, b)
	}
	return max(a, 1)
}

func sum(list []int64) (total int64) {
	for _, n := range list {
		total += n
	}
	return total
}

// maxTilings bounds the groups that a note lists.
const maxTilings = 8

// notesOfStages says what is taken for granted.
func (t *trace) notesOfStages() {
	s := t.stages
	for i, f := range t.files {
		who := fmt.Sprintf("all %d ranks", s.ranks)
		if len(t.files) > 1 {
			who = "the ranks " + prose.Ranks(s.lists[i])
		}
		t.said = append(t.said, fmt.Sprintf("%s, of rank %d, stands for %s: none of them does more or "+
			"less, and none is later", f.Name, s.own[i], who))
	}
	var list []string
	for i, of := range s.tilings {
		if i == maxTilings {
			list = append(list, fmt.Sprintf("and %d more", len(s.tilings)-i))
			break
		}
		list = append(list, of.String())
	}
	if len(list) > 0 {
		t.said = append(t.said, "its groups, shifted: "+strings.Join(list, "; "))
	}
}
