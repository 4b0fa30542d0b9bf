package transfers

import "sort"

// counter counts the steps of a lane by round, without walking them. A move of stage s makes one
// step in each of the rounds s … s+tiles−1.
type counter struct {
	stages []int32 // ascending
	sums   []int64 // prefix sums of the stages
	tiles  int32
}

func newCounter(stages []int32, tiles int32) counter {
	c := counter{stages: stages, sums: make([]int64, len(stages)+1), tiles: tiles}
	for i, s := range stages {
		c.sums[i+1] = c.sums[i] + int64(s)
	}
	return c
}

// from returns the index of the first move whose stage is at least s.
func (c *counter) from(s int64) int {
	return sort.Search(len(c.stages), func(i int) bool { return int64(c.stages[i]) >= s })
}

// active returns the index of the first move that has tiles left in a round.
func (c *counter) active(round int64) int { return c.from(round - int64(c.tiles) + 1) }

// before returns the number of steps before a round.
func (c *counter) before(round int64) int64 {
	done, begun := c.active(round), c.from(round)
	return int64(done)*int64(c.tiles) + round*int64(begun-done) - (c.sums[begun] - c.sums[done])
}

// count prepares a lane for questions about its steps and posts.
func (l *lane) count(ends []end, tiles int32) {
	l.all = newCounter(l.stages, tiles)
	var stages []int32
	l.place = make([]int32, len(l.ends))
	for i, e := range l.ends {
		l.place[i] = int32(len(stages))
		if ends[e].posts {
			stages = append(stages, l.stages[i])
		}
	}
	l.posts = newCounter(stages, tiles)
}

// posted returns the posts of the lane after the at-th of its ends, which posts, has handled a
// tile.
func (l *lane) posted(at, tile int32) int32 {
	round := int64(l.stages[at]) + int64(tile)
	first := l.posts.active(round)
	return int32(l.posts.before(round) + int64(int(l.place[at])-first+1))
}

// find returns the end and the tile of a step of the lane, −1 if there is no such step.
func (l *lane) find(step int) (at, tile int32) {
	if len(l.stages) == 0 || step < 0 || int64(step) >= int64(len(l.stages))*int64(l.all.tiles) {
		return -1, -1
	}
	first, last := int64(l.stages[0]), int64(l.stages[len(l.stages)-1])+int64(l.all.tiles)
	round := first + int64(sort.Search(int(last-first), func(i int) bool {
		return l.all.before(first+int64(i)+1) > int64(step)
	}))
	at = int32(l.all.active(round)) + int32(int64(step)-l.all.before(round))
	return at, int32(round) - l.stages[at]
}

// number returns the step of the lane in which an end handles a tile.
func (l *lane) number(at, tile int32) int {
	round := int64(l.stages[at]) + int64(tile)
	return int(l.all.before(round)) + int(at) - l.all.active(round)
}
