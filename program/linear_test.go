package program_test

import (
	"slices"
	"strconv"
	"strings"

	"collsim/program"
)

// columns is how many numbers a row of a tensor has.
const columns = 2

// values are a tensor on each rank; nil where the rank has none.
type values [][]float64

// linear is a program of collectives for the evaluator.
type linear struct {
	ranks  int
	groups map[string][][]int
	ops    []program.Op
}

// teams are those of a group.
func (l *linear) teams(group string) [][]int {
	if group != "" {
		return l.groups[group]
	}
	all := make([]int, l.ranks)
	for rank := range all {
		all[rank] = rank
	}
	return [][]int{all}
}

// evaluate carries ops out, one after the other, and gives what tensors are then.
func (l *linear) evaluate(given map[string]values) map[string]values {
	is := map[string]values{}
	for name, v := range given {
		is[name] = v
	}
	for i := range l.ops {
		o := &l.ops[i]
		if is[o.Out] == nil {
			is[o.Out] = make(values, l.ranks)
		}
		for _, team := range l.teams(o.Group) {
			in := make(values, len(team))
			for at, rank := range team {
				in[at] = is[o.In[0]][rank]
			}
			for at, rank := range team {
				switch words := strings.Fields(o.Kernel + " " + o.Call); {
				case o.Call != "":
					if got := called(words, in, at); got != nil {
						is[o.Out][rank] = got
					}
				case words[0] == "add":
					is[o.Out][rank] = plus(is[o.In[0]][rank], is[o.In[1]][rank])
				default: // scale by=-3
					is[o.Out][rank] = times(in[at], number(words[1]))
				}
			}
		}
	}
	return is
}

// number is the one at the end of a word.
func number(word string) float64 {
	n, err := strconv.ParseFloat(word[strings.LastIndexAny(word, "=")+1:], 64)
	if err != nil {
		panic(err)
	}
	return n
}

func plus(a, b []float64) []float64 {
	sum := slices.Clone(a)
	for i := range b {
		sum[i] += b[i]
	}
	return sum
}

func times(a []float64, by float64) []float64 {
	product := slices.Clone(a)
	for i := range product {
		product[i] = float64(product[i] * by)
	}
	return product
}

// block is part k of n equal ones.
func block(v []float64, k, n int) []float64 { return v[k*len(v)/n : (k+1)*len(v)/n] }

// total is the sum of what all of a team have.
func total(in values) []float64 {
	sum := in[0]
	for _, v := range in[1:] {
		sum = plus(sum, v)
	}
	return sum
}

// called is what a call gives the rank at a place of a team; nil: nothing.
func called(words []string, in values, at int) []float64 {
	n, root, scale := len(in), 0, 1.0
	for i, word := range words {
		switch word {
		case "root":
			root = int(number(words[i+1]))
		case "avg":
			scale = 1 / float64(n)
		case "premulsum":
			scale = number(words[i+2])
		}
	}
	switch words[0] {
	case "all_reduce":
		return times(total(in), scale)
	case "reduce_scatter":
		return times(block(total(in), at, n), scale)
	case "reduce":
		if at == root {
			return times(total(in), scale)
		}
	case "all_gather":
		return slices.Concat(in...)
	case "gather":
		if at == root {
			return slices.Concat(in...)
		}
	case "broadcast":
		return in[root]
	case "scatter":
		return block(in[root], at, n)
	case "send_recv":
		return in[(at+n-1)%n]
	case "all_to_all":
		var got []float64
		for _, v := range in {
			got = append(got, block(v, at, n)...)
		}
		return got
	default:
		return splitted(words, in, at)
	}
	return nil
}

// splitted is what a call with splits gives a rank.
func splitted(words []string, in values, at int) (got []float64) {
	matrix := splits(words[slices.Index(words, "splits")+1])
	upTo := func(row []int, k int) (n int) {
		for _, rows := range row[:k] {
			n += rows * columns
		}
		return n
	}
	switch words[0] {
	case "all_gatherv":
		for k, v := range in {
			got = append(got, v[:matrix[0][k]*columns]...)
		}
	case "reduce_scatterv":
		return total(in)[upTo(matrix[0], at):upTo(matrix[0], at+1)]
	case "all_to_allv":
		for k, v := range in {
			got = append(got, v[upTo(matrix[k], at):upTo(matrix[k], at+1)]...)
		}
	default:
		panic(words[0])
	}
	return got
}

// splits reads such as "1,3/2,2".
func splits(text string) (matrix [][]int) {
	for _, row := range strings.Split(text, "/") {
		var list []int
		for _, n := range strings.Split(row, ",") {
			list = append(list, int(number(n)))
		}
		matrix = append(matrix, list)
	}
	return matrix
}
