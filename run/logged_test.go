package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/measured"
	"collsim/scenarios"
	"collsim/unit"
)

// TestRowIsOf: a row is of a result's call unless something that both state differs.
func TestRowIsOf(t *testing.T) {
	result := func() *Result {
		return &Result{Picked: algos.Pick{Algorithm: "Ring", Protocol: "LL128"},
			Algorithm: scenarios.Algorithm{Name: "nccl:auto"},
			Point: &scenarios.Point{Topology: &scenarios.Topology{Nodes: 2},
				Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Ranks: 16,
					Type: dtype.Float32, Count: 1000}, Asked: 4003}}
	}
	states := func(change func(*measured.Row)) bool {
		row := measured.Row{Of: measured.Of{Kind: collective.AllReduce, Ranks: 16, Nodes: 2,
			Type: "float", Op: "sum", Algorithm: "RING", Protocol: "ll128"}, Size: 4000}
		change(&row)
		return result().isOf(&row)
	}
	for name, change := range map[string]func(*measured.Row){
		"all agrees":     func(*measured.Row) {},
		"no kind":        func(r *measured.Row) { r.Kind = 0 },
		"no ranks":       func(r *measured.Row) { r.Ranks, r.Nodes = 0, 0 },
		"no type":        func(r *measured.Row) { r.Type = "" },
		"our type":       func(r *measured.Row) { r.Type = "float32" },
		"no operator":    func(r *measured.Row) { r.Op = "none" },
		"no algorithm":   func(r *measured.Row) { r.Algorithm, r.Protocol = "", "" },
		"no protocol":    func(r *measured.Row) { r.Protocol = "" },
		"size as asked":  func(r *measured.Row) { r.Size = 4003 },
		"size of a rank": func(r *measured.Row) { r.PerRank, r.Size = true, 250 },
		"in place or so": func(r *measured.Row) { r.InPlace = true },
	} {
		require.True(t, states(change), name)
	}
	for name, change := range map[string]func(*measured.Row){
		"kind":      func(r *measured.Row) { r.Kind = collective.AllGather },
		"ranks":     func(r *measured.Row) { r.Ranks = 8 },
		"nodes":     func(r *measured.Row) { r.Nodes = 4 },
		"type":      func(r *measured.Row) { r.Type = "half" },
		"operator":  func(r *measured.Row) { r.Op = "max" },
		"algorithm": func(r *measured.Row) { r.Algorithm = "Tree" },
		"protocol":  func(r *measured.Row) { r.Protocol = "Simple" },
		"size":      func(r *measured.Row) { r.Size = 4004 },
	} {
		require.False(t, states(change), name)
	}
	ours := result()
	ours.Picked, ours.Algorithm = algos.Pick{}, scenarios.Algorithm{Name: "double-binary-tree"}
	require.True(t, ours.isOf(&measured.Row{Of: measured.Of{Algorithm: "DoubleBinaryTree",
		Protocol: "LL"}, Size: 4000}))
	require.False(t, ours.isOf(&measured.Row{Of: measured.Of{Algorithm: "Tree"}, Size: 4000}))
}

// TestLoggedTimes: of several rows of a call the median counts; those in place only where they are
// wanted, or where there are no others.
func TestLoggedTimes(t *testing.T) {
	row := func(time unit.Time, inPlace bool) measured.Row {
		return measured.Row{Size: 4000, Time: time * unit.Microsecond, InPlace: inPlace, Line: int(time)}
	}
	rows := []measured.Row{row(20, false), row(10, false), row(60, false), row(7, true)}
	logged := func(inPlace bool, rows []measured.Row) *Logged {
		r := &Result{Timed: true, Time: 30 * unit.Microsecond,
			Point: &scenarios.Point{Topology: &scenarios.Topology{Nodes: 1},
				Measured: scenarios.MeasuredFile{Name: "a.log", InPlace: inPlace},
				Spec: collective.Spec{Kind: collective.AllGather, Ranks: 4, Type: dtype.Float32,
					Count: 250}}}
		s := &Scenario{logs: map[string]*measured.Data{"a.log": {Rows: rows}}}
		s.compareLogged(r)
		return r.Logged
	}
	l := logged(false, rows)
	require.Equal(t, 20*unit.Microsecond, l.Time)
	require.Equal(t, 3, l.Rows)
	require.Equal(t, 20, l.Line)
	require.InDelta(t, 0.5, l.Error, 1e-12)
	require.InDelta(t, 0.15, l.BusBW, 1e-12) // 4000 B / 20 us, of which 3/4 go over a link
	require.Equal(t, 7*unit.Microsecond, logged(true, rows).Time)
	require.Equal(t, 7*unit.Microsecond, logged(false, rows[3:]).Time)
	require.Nil(t, logged(false, nil))
}
