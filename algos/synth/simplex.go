package synth

import (
	"errors"
	"math/big"
)

// A program is a linear program in exact numbers: the largest objective of variables that are not
// negative, where rows bound sums of them from above. Rows may be added to a solved program; it is
// solved again from where it stands (dual simplex, Lemke 1954; of several choices the first, Bland
// 1977, so that it ends).
//
// It is kept as a dictionary: each basic variable is its bound less the others times its row, and
// the objective is value less the others times cost. Variables of rows, the slacks, have the
// numbers after those of the program.
type program struct {
	free  []int // the variables that are 0, by column
	basic []int // the others, by row
	rows  [][]*big.Rat
	bound []*big.Rat // by row
	cost  []*big.Rat // by column, never negative
	value *big.Rat
}

// newProgram returns the program to maximise an objective, of coefficients above 0 for the first
// variables and 0 for the others, which is known to be at most a limit.
func newProgram(variables int, objective []int64, limit int64) *program {
	p := &program{value: big.NewRat(limit, 1)}
	for j := range variables {
		p.free = append(p.free, j)
		p.cost = append(p.cost, new(big.Rat))
	}
	row := make([]int64, variables)
	copy(row, objective)
	p.add(row, limit)
	p.pivot(0, 0)
	p.cost[0].SetInt64(1) // of the slack: the objective is limit less it
	return p
}

// add adds the row that a sum of the variables, each times its coefficient, is at most a bound.
func (p *program) add(coefficients []int64, bound int64) {
	row := make([]*big.Rat, len(p.free))
	for j, v := range p.free {
		row[j] = new(big.Rat)
		if v < len(coefficients) {
			row[j].SetInt64(coefficients[v])
		}
	}
	rest := big.NewRat(bound, 1)
	for i, v := range p.basic {
		if v >= len(coefficients) || coefficients[v] == 0 {
			continue
		}
		times := big.NewRat(-coefficients[v], 1)
		addTimes(rest, times, p.bound[i])
		for j := range row {
			addTimes(row[j], times, p.rows[i][j])
		}
	}
	p.basic = append(p.basic, len(p.free)+len(p.basic))
	p.rows, p.bound = append(p.rows, row), append(p.bound, rest)
}

// addTimes adds a product.
func addTimes(sum, a, b *big.Rat) {
	if a.Sign() != 0 && b.Sign() != 0 {
		sum.Add(sum, new(big.Rat).Mul(a, b))
	}
}

// mostPivots bounds the steps of solve.
const mostPivots = 1 << 12

// errTooLong says that solve takes more steps than that.
var errTooLong = errors.New("a linear program takes too long")

// solve changes the basis until no variable is negative, so that the objective is the largest.
func (p *program) solve() error {
	for range mostPivots {
		row := -1
		for i, bound := range p.bound {
			if bound.Sign() < 0 && (row < 0 || p.basic[i] < p.basic[row]) {
				row = i
			}
		}
		if row < 0 {
			return nil
		}
		column, least := -1, new(big.Rat)
		for j, a := range p.rows[row] {
			if a.Sign() >= 0 {
				continue
			}
			ratio := new(big.Rat).Quo(p.cost[j], new(big.Rat).Neg(a))
			order := ratio.Cmp(least)
			if column < 0 || order < 0 || order == 0 && p.free[j] < p.free[column] {
				column, least = j, ratio
			}
		}
		if column < 0 {
			return errors.New("a linear program has no solution")
		}
		p.pivot(row, column)
	}
	return errTooLong
}

// pivot exchanges a basic variable for a free one.
func (p *program) pivot(row, column int) {
	pivot := p.rows[row]
	by := new(big.Rat).Inv(pivot[column])
	pivot[column] = big.NewRat(1, 1)
	for _, a := range pivot {
		a.Mul(a, by)
	}
	p.bound[row].Mul(p.bound[row], by)
	replace := func(other []*big.Rat, rest *big.Rat) {
		times := new(big.Rat).Neg(other[column])
		other[column] = new(big.Rat)
		for j := range other {
			addTimes(other[j], times, pivot[j])
		}
		addTimes(rest, times, p.bound[row])
	}
	for i := range p.rows {
		if i != row {
			replace(p.rows[i], p.bound[i])
		}
	}
	replace(p.cost, p.value)
	p.free[column], p.basic[row] = p.basic[row], p.free[column]
}

// solution returns the values of the program's variables.
func (p *program) solution() []*big.Rat {
	list := make([]*big.Rat, len(p.free))
	for j := range list {
		list[j] = new(big.Rat)
	}
	for i, v := range p.basic {
		if v < len(list) {
			list[v].Set(p.bound[i])
		}
	}
	return list
}
