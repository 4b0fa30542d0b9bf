package judge

import "fmt"

// A reckoner computes the terms that works store and send.
type reckoner struct {
	*terms
	complain func(format string, args ...any) // reports invalid values
}

// value reads the sources of a work and combines them; message returns the values of a source's
// message. Operands of different sizes are an error.
func (k reckoner) value(w *work, memory []int, message func(source int) []int) ([]int, error) {
	value := []int{}
	for i := range w.step.From {
		f := &w.step.From[i]
		var operand []int
		var err error
		if f.Kind == Message {
			operand = append(operand, message(i)...)
		} else if operand, err = k.load(w, w.reads[i], memory); err != nil {
			return nil, err
		}
		if f.Scaled {
			k.scaled(operand)
		}
		if i == 0 {
			value = append(value, operand...)
		} else if err := k.add(w, value, operand); err != nil {
			return nil, err
		}
	}
	if w.step.Scaled {
		k.scaled(value)
	}
	return value, nil
}

// load reads a region of a rank, or those of a team, which the switch adds up.
func (k reckoner) load(w *work, team [][]int, memory []int) (value []int, err error) {
	for i, cells := range team {
		part := make([]int, len(cells))
		for j, cell := range cells {
			if part[j] = memory[cell]; part[j] == nothing {
				k.complain("%v reads what nobody wrote", w)
			}
		}
		if i == 0 {
			value = part
		} else if err = k.add(w, value, part); err != nil {
			return nil, err
		}
	}
	for j := range value {
		if len(team) > 1 {
			value[j] = k.merged(value[j], w.rank)
		}
	}
	return value, nil
}

// scaled scales a value, in its place.
func (k reckoner) scaled(value []int) {
	for i := range value {
		value[i] = k.scale(value[i])
	}
}

// add combines b into a.
func (k reckoner) add(w *work, a, b []int) error {
	if len(a) != len(b) {
		return fmt.Errorf("%v: operands of %d and %d elements", w, len(a), len(b))
	}
	for i := range a {
		a[i] = k.combine(a[i], b[i])
		if why := k.list[a[i]].wrong; why != "" && k.problem.defined() {
			k.complain("%v %s", w, why)
		}
	}
	return nil
}
