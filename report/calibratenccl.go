package report

import (
	"fmt"
	"strings"

	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
)

// NCCLFitText formats the fit to tables of NCCL's calls.
func NCCLFitText(f *run.NCCLFit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of NCCL's calls on %s\n", prose.Plural(len(f.Tables), "table"), f.Of.Name)
	for i, t := range f.Tables {
		fmt.Fprintf(&b, "  %d: %s, table %d: %s\n", i+1, t.Table.File, t.Number, t.Title())
	}
	fmt.Fprintf(&b, "  %-28s %12s %12s   %s\n", "figure", "before", "fitted", "95 %")
	for _, one := range f.Figures {
		hardly := ""
		if !one.Fitted {
			hardly = " (hardly told)"
		}
		fmt.Fprintf(&b, "  %-28s %12s %12s   %s to %s%s\n", one.Name, orDash(one.Before), one.Found,
			one.Low, one.High, hardly)
	}
	fmt.Fprintf(&b, "  %-17s %20s %26s\n", "error, %", "fitted", "held out")
	for class, of := range fidelity.SizeClasses() {
		fmt.Fprintf(&b, "  %-17s", of.Name)
		for _, fitted := range []bool{true, false} {
			q := f.Quality(-1, class, fitted)
			if q.Points == 0 {
				fmt.Fprintf(&b, " %25s", "-")
				continue
			}
			fmt.Fprintf(&b, " %25s", fmt.Sprintf("%.1f, p90 %.1f (%d)", 100*q.Median, 100*q.P90, q.Points))
		}
		b.WriteString("\n")
	}
	for _, note := range f.Notes {
		b.WriteString("  note: " + note + "\n")
	}
	return b.String()
}

// orDash returns a text, or a dash for none.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// NCCLFitJSON writes the fit to tables of NCCL's calls as JSON. It ends with a newline.
func NCCLFitJSON(f *run.NCCLFit) ([]byte, error) {
	tables := listOf(f.Tables, func(t *run.NCCLTable) Value {
		return object(members{{"file", Text(t.Table.File)}, {"table", Int(t.Number)},
			{"kind", Text(t.Kind.String())}, {"called", Text(t.Table.Algorithm)}, {"ranks", Int(t.Ranks)},
			{"nodes", Int(t.Nodes)}, {"processes", known(t.Process != "", Text(t.Process))},
			{"dtype", Text(t.Table.Type)}, {"op", Text(t.Table.Op)}, {"in_place", Bool(t.InPlace)}})
	})
	figures := listOf(f.Figures, func(one run.NCCLFigure) Value {
		return object(members{{"name", Text(one.Name)},
			{"before", known(one.Before != "", Text(one.Before))}, {"found", Text(one.Found)},
			{"low", Text(one.Low)}, {"high", Text(one.High)}, {"told", micro(one.Told)},
			{"fitted", Bool(one.Fitted)}})
	})
	rows := listOf(f.Rows, func(r run.NCCLRow) Value {
		return object(members{{"table", Int(r.Table + 1)}, {"bytes", Int(r.Size)}, {"way", Text(r.Way)},
			{"measured_ps", Int(r.Measured)}, {"simulated_ps", Int(r.Simulated)},
			{"error", micro(r.Error())}, {"fitted", Bool(r.Fitted)}})
	})
	return encode(object(append(version(), members{{"machine", Text(f.Of.Name)}, {"tables", tables},
		{"figures", figures}, {"rows", rows}, {"notes", listOf(f.Notes, Text)},
		{"preset", Text(f.Text())}}...)))
}
