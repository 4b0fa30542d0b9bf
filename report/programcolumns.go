package report

import (
	"slices"

	"collsim/run"
	"collsim/unit"
)

// programColumn is a column of CSV that only programs have.
type programColumn struct {
	name  string
	value func(*run.ProgramResult) Value
}

// programColumns lists the columns that CSV appends if there are programs.
func programColumns() []programColumn {
	timed := func(of func(*run.ProgramResult) unit.Time) func(*run.ProgramResult) Value {
		return func(r *run.ProgramResult) Value { return known(r.Timed, Int(of(r))) }
	}
	return append([]programColumn{
		{"ops", func(r *run.ProgramResult) Value { return Int(len(r.Lowered.Ops)) }},
		{"iterations", func(r *run.ProgramResult) Value { return Int(max(1, r.Point.Iterations)) }},
		{"compute_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Compute })},
		{"collectives_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Calls() })},
		{"exposed_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Exposed() })},
		{"numbers_scaled", func(r *run.ProgramResult) Value { return Int(max(1, r.Scaled)) }},
		{"exposed_rank", func(r *run.ProgramResult) Value { return known(r.Timed, Int(r.Rank)) }},
		{"moving_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Moving })},
		{"waiting_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Waiting })},
		{"idle_ps", timed(func(r *run.ProgramResult) unit.Time { return r.Idle })},
		{"bubble", func(r *run.ProgramResult) Value {
			return known(r.Timed && r.Stages != nil, Number(bubbleOf(r, r.Stages...)))
		}},
	}, compareColumns()...)
}

// bubbleOf returns the share of time for which ranks of stages wait or are idle; see
// docs/programs.md.
func bubbleOf(r *run.ProgramResult, stages ...run.Stage) float64 {
	lost, of := 0.0, 0.0
	for _, s := range stages {
		lost += float64(s.Lost)
		of += float64(float64(s.Ranks) * float64(r.Time))
	}
	if of == 0 {
		return 0
	}
	return lost / of
}

// ofPrograms lists the columns of results that mean the same for a program.
var ofPrograms = [...]string{"seed", "topology", "id", "point", "executor", "engine", "time_ps",
	"bytes_sent", "proof", "numbers", "wrong", "max_ulp", "violation"}

// ofProgram returns a column's value for a program, null where it has none.
func (c Column) ofProgram(r *run.ProgramResult) Value {
	switch {
	case c.CSV == "kind":
		return Text("program")
	case c.CSV == "ranks":
		return Int(r.Point.Topology.Ranks)
	case slices.Contains(ofPrograms[:], c.CSV):
		return c.Value(resultOf(r))
	}
	return Value{}
}

// resultOf copies the facts of a program that results have, too.
func resultOf(r *run.ProgramResult) *run.Result {
	return &run.Result{Point: r.Point.Point, Proof: r.Proof, Violations: r.Violations,
		Numbers: r.Numbers, Wrong: r.Wrong, MaxULP: r.MaxULP, Timed: r.Timed, Time: r.Time,
		Engine: r.Engine, BytesSent: r.BytesSent}
}
