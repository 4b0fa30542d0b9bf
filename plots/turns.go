package plots

import (
	"cmp"
	"image/color"
	"slices"
	"strconv"
)

// Turn is a pass over a microbatch of a pipeline: "forward" or "backward", by its number.
type Turn struct {
	Pass  string
	Batch int
}

// activity is a meaning of a colour: an operation, or a turn.
type activity struct {
	name string
	turn *Turn
	most int // of the numbers of microbatches
}

// activities lists the meanings of all colours of brackets, in the order of a legend.
type activities []activity

// index returns the position of an operation; it appends a new one.
func (a *activities) index(name string) int32 {
	at := slices.IndexFunc(*a, func(one activity) bool { return one.turn == nil && one.name == name })
	if at < 0 {
		at = len(*a)
		*a = append(*a, activity{name: name})
	}
	return int32(at)
}

// addTurns appends all turns of a panel: of each pass the microbatches in order, whichever comes
// first.
func (a *activities) addTurns(of map[string]Turn, ops []string) {
	most := 0
	for _, op := range ops {
		t, is := of[op]
		if !is {
			continue
		}
		most = max(most, t.Batch)
		if a.turn(t) < 0 {
			*a = append(*a, activity{name: t.Pass + " " + strconv.Itoa(t.Batch), turn: &t})
		}
	}
	slices.SortStableFunc(*a, func(x, y activity) int {
		if x.turn == nil || y.turn == nil {
			return 0
		}
		return cmp.Or(cmp.Compare(rankOfPass(x.turn.Pass), rankOfPass(y.turn.Pass)),
			cmp.Compare(x.turn.Batch, y.turn.Batch))
	})
	for i := range *a {
		(*a)[i].most = max((*a)[i].most, most)
	}
}

// turn returns the position of a turn, −1 if it is not there.
func (a activities) turn(t Turn) int32 {
	return int32(slices.IndexFunc(a, func(one activity) bool {
		return one.turn != nil && *one.turn == t
	}))
}

// rankOfPass orders passes: forward, backward, all others.
func rankOfPass(pass string) int {
	at := slices.Index([]string{"forward", "backward"}, pass)
	if at < 0 {
		at = 2
	}
	return at
}

// look returns the look of an activity. A turn has the colour of its pass, in a shade of its
// microbatch, and both as its letter.
func (a activities) look(n int) look {
	one := a[n]
	if one.turn == nil {
		return opLook(n, one.name)
	}
	scale := [...][2]color.RGBA{{rgb(0xA6CEE8), rgb(0x0B4F86)}, {rgb(0xF9D9A0), rgb(0xB8620B)},
		{rgb(0xB7E2D2), rgb(0x00704F)}}[rankOfPass(one.turn.Pass)]
	share := float64(one.turn.Batch) / float64(max(1, one.most))
	l := look{letter: passLetter(one.turn.Pass), name: one.name, fill: between(scale, share),
		ink: black()}
	if share > 0.55 {
		l.ink = white()
	}
	return l
}

// passLetter returns the first letter of a pass, as a capital.
func passLetter(pass string) string { return string(pass[0] - 'a' + 'A') }

// between mixes two colours: the first at 0, the second at 1.
func between(scale [2]color.RGBA, share float64) color.RGBA {
	mix := func(a, b uint8) uint8 {
		return uint8(float64(a) + float64(share*(float64(b)-float64(a))) + 0.5)
	}
	return color.RGBA{mix(scale[0].R, scale[1].R), mix(scale[0].G, scale[1].G),
		mix(scale[0].B, scale[1].B), 255}
}
