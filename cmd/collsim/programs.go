package main

import (
	"collsim/report"
	"collsim/run"
)

// takeProgram draws what a program has for itself.
func (out *outputs) takeProgram(index int, r *run.ProgramResult) {
	for _, d := range drawings() {
		out.lose(out.draw(d, index, programSubject(out.scenarios[index], r)))
	}
	out.keep(programSubject(out.scenarios[index], r), r.Links, r.Time)
	if out.flags.jsonl {
		line, err := report.JSONProgramLine(out.scenarios[index], r)
		out.lose(err)
		out.beside(func() { out.app.printJSON(out.app.out, line) })
	}
	if out.rows != nil {
		out.rows.TakeProgram(r)
	}
	writeProgramData(out, index, r)
	r.Outputs = nil
}

// ofCollectives refuses what only collectives have, where there are none.
func (out *outputs) ofCollectives() error {
	for _, s := range out.scenarios {
		if len(s.Points) > 0 {
			return nil
		}
	}
	for _, one := range []struct {
		wants      bool
		flag, hint string
	}{{out.flags.curves != "", "--curves", "--csv or --pivot tabulate a program over what is swept"},
		{out.flags.errors != "", "--numerics-plot", ""}, {out.flags.numerics, "--numerics", ""}} {
		if one.wants {
			return &usageError{Text: one.flag + " is for collectives; the scenario has a program alone",
				Hint: one.hint}
		}
	}
	return nil
}
