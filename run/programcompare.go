package run

import (
	"slices"

	"collsim/collective"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// TensorComparison holds the comparison of a tensor of a program with one that was computed
// elsewhere.
type TensorComparison struct {
	File string
	Why  string // nothing was compared: why; empty where it was
	reference.Judged
	Shape collective.Shape
	// Order explains the bits of a sum over ranks by orders of additions, on the inputs that theirs
	// has; nil where NoOrder says why it does not, or nothing differs.
	Order   *Comparison
	NoOrder string
}

// Good reports whether theirs are what the op gives, within its rounding.
func (c *TensorComparison) Good() bool { return c.Why == "" && c.Beyond == 0 }

// FirstOf returns the first comparison, in the order of ops, that is as asked; nil if there is
// none.
func FirstOf(list []TensorComparison, is func(*TensorComparison) bool) *TensorComparison {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// leaveUncompared notes of all files to compare with that the schedule is wrong.
func (result *ProgramResult) leaveUncompared() {
	for i := range result.Point.TensorData {
		if d := &result.Point.TensorData[i]; d.Compare != "" {
			result.Compared = append(result.Compared, TensorComparison{File: d.Compare, Why: unproven,
				Judged: reference.Judged{Tensor: tensorName(d)}})
		}
	}
}

// compareProgram takes in how theirs compare, and looks for orders of additions that explain sums.
func compareProgram(r *runner, result *ProgramResult, theirs reference.Values,
	judged []reference.Judged) error {
	tensors := result.Lowered.Schedule.Means.Ops.Tensors
	for _, j := range judged {
		c := TensorComparison{Judged: j}
		c.Op, c.Behind = result.opNamed(j.Op), nil
		for _, word := range j.Behind {
			if name := result.opNamed(word); name != c.Op { // the copies of a layout have its name, too
				c.Behind = append(c.Behind, name)
			}
		}
		for i := range result.Point.TensorData {
			if d := &result.Point.TensorData[i]; tensorName(d) == j.Tensor && d.Compare != "" {
				c.File = d.Compare
			}
		}
		at := slices.IndexFunc(tensors, func(t schedule.Tensor) bool { return t.Name == j.Tensor })
		c.Shape = tensors[at].Shape
		for i := range j.Calls {
			if err := explainSum(r, result, &c, &j.Calls[i], theirs[j.Tensor]); err != nil {
				return result.Point.Refuse("check.memory", err.Error(), "")
			}
		}
		result.Compared = append(result.Compared, c)
	}
	return nil
}

// opNamed returns the name of the op that a schedule calls by a word.
func (result *ProgramResult) opNamed(word string) string {
	for _, o := range result.Lowered.Ops {
		for _, name := range o.Names {
			if schedule.Word(name) == word {
				return name
			}
		}
	}
	return word
}

// explainSum looks for orders of additions that explain a team's sum.
func explainSum(r *runner, result *ProgramResult, c *TensorComparison, call *reference.JudgedCall,
	theirs [][]byte) error {
	s := carriedAs(result.Lowered.Schedule, call)
	switch {
	case !call.IsSure:
		c.NoOrder = "what theirs has added up is in no file: compare its operand, too"
	case s == nil:
		c.NoOrder = "the call is not carried out as one of its own: passes have changed it"
	}
	if c.NoOrder != "" {
		c.Order = nil
		return nil
	}
	if c.Order == nil {
		c.Order = &Comparison{File: c.File}
	}
	var done *calculated
	var err error
	number := numberOf(s.Spec.Type)
	r.numbers(func() {
		done, err = number.calculate(&calculation{schedule: s, in: call.Inputs})
	})
	if err != nil {
		return err
	}
	x := reference.Case{Schedule: s, Ranks: call.Ranks, Inputs: call.Inputs, Report: done.report,
		TermsOf: proof.TermsOf}
	a := make([][]byte, len(call.Ranks))
	for position, rank := range call.Ranks {
		a[position] = theirs[rank][:len(done.out[position])]
	}
	return x.Compare(a, done.out, &c.Order.BitComparison)
}

// carriedAs returns the schedule that carries out a call for a team; nil if it is none of its own.
func carriedAs(s *schedule.Schedule, call *reference.JudgedCall) *schedule.Schedule {
	var own *schedule.Schedule
	for _, i := range s.Means.Made[call.Part] {
		part := schedule.PartOf(s, i)
		is := part.Schedule.Spec.InComponents() // as the judgement has it
		if is.Kind == call.Spec.Kind && is.Count == call.Spec.Count && is.Type == call.Spec.Type &&
			slices.Equal(part.Ranks, call.Ranks) && len(part.Schedule.Tensors) == 0 {
			if own != nil {
				return nil
			}
			own = part.Schedule
		}
	}
	return own
}
