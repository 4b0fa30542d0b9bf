package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
)

// TestRealise: Inductor's rules of what can be a buffer for communication, one by one.
func TestRealise(t *testing.T) {
	for _, c := range []struct {
		layout   program.Layout
		symbolic bool
		can      bool
		want     string // of Realise; empty: it becomes one
	}{
		{program.Unrealised, false, true, ""},
		{program.Unrealised, true, true, "nobody knows its size yet"},
		{program.Flexible, false, true, ""},
		{program.Flexible, true, false, "nobody knows its size yet"},
		{program.Fixed, false, false, "its layout is fixed"},
		{program.Fixed, true, false, "its layout is fixed"},
		{program.CommBuffer, false, true, ""},
		{program.CommBuffer, true, true, ""},
	} {
		b := &program.Buffer{Name: "x", Layout: c.layout, Symbolic: c.symbolic}
		view := &program.Buffer{Name: "v", Layout: program.Fixed, View: &program.Buffer{
			Layout: program.Fixed, View: b}}
		require.Equal(t, c.can, b.Realisable(), "%+v", c)
		require.Equal(t, c.can, view.Realisable(), "%+v", c)
		for range 2 { // the second time changes nothing
			err := view.Realise()
			if c.want != "" {
				require.EqualError(t, err, "x cannot be a buffer for communication: "+c.want)
				require.Equal(t, c.layout, b.Layout)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, program.CommBuffer, b.Layout)
		}
		require.Equal(t, program.Fixed, view.Layout)
	}
}
