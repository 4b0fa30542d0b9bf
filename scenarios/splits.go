package scenarios

import (
	"fmt"
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// splits says how large the blocks are: by rows, by a file of rows, or by Zipf's law.
type splits struct {
	rows [][]int64
	file string
	zipf float64 // exponent, where there is neither
}

// maxZipf bounds the exponent: beyond it the first block has all.
const maxZipf = 16

// splits reads [[1, 2], [3, 4]], "dispatch.npy" or { zipf = 1.2 }.
func (k *Key) splits(n *node) (any, *problem) {
	if name, ok := n.value.(string); ok && n.shape == scalar {
		if p := fileName(name); p != nil {
			return nil, p
		}
		return splits{file: name}, nil
	}
	if n.shape != table {
		rows, p := k.matrix(n)
		return splits{rows: rows}, p
	}
	law := n.child("zipf")
	if law == nil || len(n.items) != 1 {
		return nil, &problem{"a law of sizes is expected", "write { zipf = 1.2 }"}
	}
	s, ok := law.value.(float64)
	if whole, is := law.value.(int64); is {
		s, ok = float64(whole), true
	}
	if !ok || !(s >= 0 && s <= maxZipf) {
		return nil, &problem{fmt.Sprintf("an exponent from 0 to %d is expected", maxZipf),
			"0 makes all blocks alike, 1.2 is usual for experts"}
	}
	return splits{zipf: s}, nil
}

// splits reads the sizes of blocks, whose number depends on the kind and the ranks.
func (r *run) splits(v *view, p *Point, at string) bool {
	s := &p.Spec
	given, ok := need[splits](v, at+"splits", s.Kind.String()+" takes the size of every block")
	if !ok {
		return false
	}
	v.use(at + "splits")
	rows := given.rows
	switch {
	case given.file != "":
		answer, known := r.ask(WhichSplits, &Point{Data: Files{Input: given.file}})
		if answer.Err != nil {
			v.fail(at+"splits", problem{text: answer.Err.Error()})
		}
		if rows = answer.Splits; !known || answer.Err != nil {
			return false
		}
	case rows == nil:
		if rows, ok = v.drawn(p, at, given.zipf); !ok {
			return false
		}
	}
	if text := unfit(s, rows); text != "" {
		v.fail(at+"splits", problem{text, ""})
		return false
	}
	s.Splits = rows
	return true
}

// unfit says what is wrong with rows of sizes for a collective; empty if nothing is.
func unfit(s *collective.Spec, rows [][]int64) string {
	want := 1
	if s.Kind == collective.AllToAllV {
		want = s.Ranks
	}
	if len(rows) != want {
		return fmt.Sprintf("%s; %s on %d ranks takes %d", prose.Plural(len(rows), "row"), s.Kind,
			s.Ranks, want)
	}
	total := int64(0)
	for i, row := range rows {
		if len(row) != s.Ranks {
			return fmt.Sprintf("row %d has %s; one for each of %d ranks is expected", i,
				prose.Plural(len(row), "number"), s.Ranks)
		}
		for _, n := range row {
			total = min(total+min(n, maxBytes), maxBytes) // no overflow
		}
		if total > maxBytes/int64(s.Type.Width()) {
			return "more than 1024 TiB altogether"
		}
	}
	return ""
}

// drawn makes rows by Zipf's law, of as many elements each as bytes or count says.
func (v *view) drawn(p *Point, at string, exponent float64) ([][]int64, bool) {
	s := &p.Spec
	v.use(at+"bytes", at+"count")
	size, byBytes, ok1 := fetch[unit.Bytes](v, at+"bytes")
	count, byCount, ok2 := fetch[int64](v, at+"count")
	switch {
	case !ok1 || !ok2:
		return nil, false
	case byBytes && byCount:
		v.fail(at+"count", problem{"bytes is given too; one of the two is expected", ""})
		return nil, false
	case !byBytes && !byCount:
		v.missing(at[:len(at)-1], "bytes", "bytes or count is expected: blocks drawn by a law are parts "+
			"of it", v.example(at+"bytes"))
		return nil, false
	case byBytes:
		count = int64(size) / int64(s.Type.Width())
	}
	senders := 1
	if s.Kind == collective.AllToAllV {
		senders = s.Ranks
	}
	if most := maxBytes / int64(s.Type.Width()) / int64(senders); count > most {
		key := "count"
		if byBytes {
			key = "bytes"
		}
		v.fail(at+key, problem{"more than 1024 TiB altogether", ""})
		return nil, false
	}
	row := zipf(s.Ranks, count, exponent, uint64(p.Seed))
	rows := make([][]int64, senders)
	for i := range rows {
		rows[i] = row
	}
	return rows, true
}

// zipf divides count elements into blocks: block k of a random order, from 1, has a share
// proportional to 1/k^exponent. What rounding down leaves goes to the first blocks of the order, an
// element each. Equal seeds give equal orders.
func zipf(blocks int, count int64, exponent float64, seed uint64) []int64 {
	weights := make([]uint64, blocks)
	sum := uint64(0) // below 2^50
	for k := range weights {
		// in whole units of 2^-30: the last bit of Pow differs between processors
		weights[k] = uint64(math.Round(math.Pow(float64(k+1), -exponent) * (1 << 30)))
		sum += weights[k]
	}
	order := shuffled(blocks, seed)
	sizes := make([]int64, blocks)
	left := count
	for k, block := range order {
		high, low := bits.Mul64(uint64(count), weights[k])
		share, _ := bits.Div64(high, low, sum)
		sizes[block] = int64(share)
		left -= int64(share)
	}
	for _, block := range order[:left] { // fewer than there are blocks
		sizes[block]++
	}
	return sizes
}

// shuffled returns a random order of 0 to n-1, by Fisher and Yates over splitmix64 (Steele, Lea,
// Flood, 2014).
func shuffled(n int, seed uint64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		j, _ := bits.Mul64(z^z>>31, uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}
