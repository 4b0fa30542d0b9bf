package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/fidelity"
	"collsim/formats/measured"
	"collsim/hw/calibrate"
	"collsim/internal/prose"
	"collsim/machine"
	"collsim/scenarios"
	"collsim/unit"
)

// NCCLOptions say what tables were measured on, and of them what they leave out.
type NCCLOptions struct {
	TableOptions // Algorithm: of NCCL's, without "nccl:"; "" is the table's, or what NCCL chooses
	// Machine is the machine that the tables were measured on, with the figures that are known.
	Machine *machine.Machine
	Nodes   int      // of the tables; 0 is what a table says, or as many as its ranks fill
	Process string   // "" is what a table says, or else what fits better
	Set     []string // further keys of the scenario that the tables are simulated as
}

// Who issues calls, as in a scenario.
var (
	oneProcess = scenarios.OneProcess.String()
	perGPU     = scenarios.ProcessPerGPU.String()
)

// NCCLTable is a table of the times of NCCL's calls, as it is simulated.
type NCCLTable struct {
	*TableFit
	Nodes   int
	Process string // "" where nobody says so

	nccl   string // the algorithm, as in a scenario
	copied bool   // NCCL does it out of place alone
	points []calibrate.Point
}

// NCCLRow is a time of a table beside that of a simulation.
type NCCLRow struct {
	Table     int // its number among the tables, from 0
	Size      unit.Bytes
	Way       string // "Ring LL"; empty where NCCL has no name for it
	Measured  unit.Time
	Simulated unit.Time
	Fitted    bool // else it was held out
}

// Error returns simulated over measured, less 1.
func (r *NCCLRow) Error() float64 { return float64(r.Simulated)/float64(r.Measured) - 1 }

// NCCLFit is a machine with the figures at which simulations of NCCL's schedules take the times of
// tables.
type NCCLFit struct {
	Of      *machine.Machine // as it was before
	Machine *machine.Machine
	Tables  []*NCCLTable
	Figures []NCCLFigure
	Rows    []NCCLRow
	Notes   []string
}

// NCCLFigure is a figure that may have been found. Texts are as a machine's file has them.
type NCCLFigure struct {
	Name                     string
	Before, Found, Low, High string  // low and high of 95 % confidence
	Told                     float64 // the part of its variance that times took away
	Fitted                   bool    // false: times hardly determine it by itself
}

// FitNCCL finds the figures of a machine from tables of NCCL's calls on it. It simulates NCCL's
// own schedules in a loop of calls, as nccl-tests times them. The figures are the most likely
// ones given the times; NCCL's source and the machine's row are the prior. Figures that the times
// do not determine stay near the prior. A *TableError says what a table lacks.
func FitNCCL(tables []*measured.Table, o NCCLOptions) (*NCCLFit, error) {
	f, err := ncclTables(tables, o)
	if err != nil {
		return nil, err
	}
	var best *ncclSearch
	hypotheses := f.processes(o)
	for _, process := range hypotheses {
		s, err := newSearch(f.Tables, process, o)
		if err == nil {
			err = s.find()
		}
		if err != nil {
			return nil, err
		}
		if best == nil || s.off < best.off {
			best = s
		}
	}
	if len(hypotheses) > 1 {
		f.Notes = append(f.Notes, "no table says how many GPUs a process had: "+
			map[string]string{oneProcess: "one process for all GPUs of a node",
				perGPU: "a process for each GPU"}[best.process]+" fits better")
	}
	f.Figures = best.report()
	if f.Machine, err = best.machine(); err != nil {
		return nil, err
	}
	return f, f.simulate(best.process, o.Set)
}

// processes returns who may have issued the calls of the tables that do not say so.
func (f *NCCLFit) processes(o NCCLOptions) []string {
	silent := func(t *NCCLTable) bool { return t.Process == "" }
	if o.Process == "" && slices.ContainsFunc(f.Tables, silent) {
		return []string{perGPU, oneProcess}
	}
	return []string{cmp.Or(o.Process, perGPU)}
}

// ncclTables reads what tables say of themselves.
func ncclTables(tables []*measured.Table, o NCCLOptions) (*NCCLFit, error) {
	f := &NCCLFit{Of: o.Machine}
	for _, t := range tables {
		one, err := ReadNCCLTable(t, o)
		if err != nil {
			return nil, err
		}
		f.Tables = append(f.Tables, one)
		f.Notes = append(f.Notes, one.Notes...)
	}
	return f, nil
}

// ReadNCCLTable reads what a table says of itself, and completes it. What it lacks is a
// *TableError.
func ReadNCCLTable(t *measured.Table, o NCCLOptions) (*NCCLTable, error) {
	n := &NCCLTable{TableFit: &TableFit{Table: t, Number: 1, Kind: t.Kind, Ranks: t.Ranks}}
	if err := n.complete(o.TableOptions); err != nil {
		return nil, err
	}
	if err := n.choose(o.Algorithm); err != nil {
		return nil, err
	}
	if strings.HasPrefix(t.Heading, "OSU MPI") {
		n.Notes = append(n.Notes, t.Heading+": its calls are MPI's, which need not be NCCL's")
	}
	n.Nodes = cmp.Or(o.Nodes, t.Nodes, (n.Ranks+o.Machine.GPUs-1)/o.Machine.GPUs)
	if n.Ranks%n.Nodes != 0 || n.Ranks/n.Nodes > o.Machine.GPUs {
		return nil, &TableError{"nodes", fmt.Sprintf("%d ranks on %s of %s, which have %d GPUs each",
			n.Ranks, prose.Plural(n.Nodes, "node"), o.Machine.Name, o.Machine.GPUs)}
	}
	n.Process = o.Process
	if n.Process == "" && t.PerProcess > 0 {
		n.Process = oneProcess
		if t.PerProcess == 1 {
			n.Process = perGPU
		}
	}
	points, err := n.TableFit.points(o.TableOptions)
	n.points = points
	return n, err
}

// choose finds the algorithm: that of this name, or the table's if NCCL has it, or what NCCL
// chooses.
func (n *NCCLTable) choose(name string) error {
	of := func(name string) error {
		n.nccl = nccl.Prefix + strings.TrimPrefix(name, nccl.Prefix)
		a, err := scenarios.ParseAlgorithm(n.nccl)
		if err == nil {
			_, err = find(n.Kind, a.Name)
		}
		return err
	}
	switch n.Kind {
	case collective.AllToAll, collective.SendRecv, collective.Gather, collective.Scatter:
		n.copied = true
		return of("p2p")
	}
	if name == "" && (n.Table.Algorithm == "" || of(strings.ToLower(n.Table.Algorithm)) != nil) {
		name = "auto"
	}
	if name != "" {
		if err := of(name); err != nil {
			return &TableError{"algorithm", reason(err)}
		}
	}
	return nil
}

// Title says what was measured: "all_reduce of float on 8 ranks, in place, as nccl:auto".
func (n *NCCLTable) Title() string {
	text := n.Kind.String()
	if n.Table.Type != "" {
		text += " of " + n.Table.Type
	}
	return fmt.Sprintf("%s on %s of %d ranks, %s, as %s", text, prose.Plural(n.Nodes, "node"),
		n.Ranks/n.Nodes, n.place(), n.nccl)
}

// candidate is the name of the file that stands for a machine whose figures are looked for.
const candidate = "calibrated.toml"

// scenario writes what a size of the table is simulated as.
func (n *NCCLTable) scenario(size unit.Bytes, process string) string {
	of, op := dtype.Float32, ""
	if known, err := dtype.Parse(n.Table.Type); err == nil {
		of = known
	}
	if n.Kind.Reduces() {
		op = "op = \"sum\"\n"
		known, _, err := collective.ParseOp(n.Table.Op)
		if err == nil && known != collective.PremulSum {
			op = fmt.Sprintf("op = %q\n", known)
		}
	}
	return fmt.Sprintf("[topology]\nfile = %q\nnodes = %d\nranks = %d\n[check]\nproof = false\n"+
		"numbers = false\n[benchmark]\nprocesses = %q\n[[collective]]\nkind = %q\nalgorithm = %q\n"+
		"bytes = \"%d B\"\ndtype = %q\nin_place = %t\n%s", candidate, n.Nodes, n.Ranks,
		cmp.Or(n.Process, process), n.Kind, n.nccl, size, of, n.InPlace && !n.copied, op)
}

// load loads the scenario of a size on a machine.
func (n *NCCLTable) load(m *machine.Machine, size unit.Bytes, process string,
	set []string) (*Scenario, error) {
	text := []byte(m.Text())
	return Load("table.toml", []byte(n.scenario(size, process)), LoadOptions{Set: set,
		Read: func(string, unit.Bytes) ([]byte, error) { return text, nil }})
}

// perCall returns the time of a call in a loop; an error where that takes too long to simulate.
func perCall(r *Result) (unit.Time, error) {
	if t := r.PerCall(); t > 0 {
		return t, nil
	}
	return 0, fmt.Errorf("%v of %v: %s", r.Point.Spec.Kind, r.Point.Spec.Bytes(),
		r.Calls.Off)
}

// wayOf returns how NCCL names what it does; empty where it has no name.
func wayOf(r *Result) string {
	return strings.TrimSpace(r.Picked.Algorithm + " " + r.Picked.Protocol)
}

// simulate simulates all times of all tables on the machine.
func (f *NCCLFit) simulate(process string, set []string) error {
	for number, t := range f.Tables {
		chosen := chosenToFit(t.points)
		for i, p := range t.points {
			f.Rows = append(f.Rows, NCCLRow{Table: number, Size: p.Size, Measured: p.Time,
				Fitted: chosen[i] && len(f.Figures) > 0})
		}
	}
	return forEach(len(f.Rows), func(i int) error {
		row := &f.Rows[i]
		s, err := f.Tables[row.Table].load(f.Machine, row.Size, process, set)
		if err != nil {
			return err
		}
		r, err := s.RunPoint(s.Points[0], RunOptions{})
		if err != nil {
			return err
		}
		row.Way = wayOf(r)
		row.Simulated, err = perCall(r)
		return err
	})
}

// Quality returns how far simulations are from the times of a table, or of all if it is negative,
// in a class of sizes (fidelity.SizeClasses): of those fitted, or of those held out.
func (f *NCCLFit) Quality(table, class int, fitted bool) calibrate.Quality {
	var errors []float64
	for i := range f.Rows {
		r := &f.Rows[i]
		if (table < 0 || r.Table == table) && fidelity.ClassOf(r.Size) == class && r.Fitted == fitted {
			errors = append(errors, max(r.Error(), -r.Error()))
		}
	}
	q := calibrate.Quality{Points: len(errors)}
	if q.Points > 0 {
		q.Median, q.P90 = fidelity.NearestRank(errors, 0.5), fidelity.NearestRank(errors, 0.9)
	}
	return q
}

// Text returns the machine as a file for topology.file: whole, every figure with where it is from.
func (f *NCCLFit) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s with figures fitted to %s of NCCL's calls, for topology.file\n", f.Of.Name,
		prose.Plural(len(f.Tables), "table"))
	for i, t := range f.Tables {
		fmt.Fprintf(&b, "#   %d: %s, table %d: %s\n", i+1, t.Table.File, t.Number, t.Title())
	}
	b.WriteString("# Each figure says whether it was fitted, read or assumed. Fitted were:\n")
	for _, one := range f.Figures {
		hardly := ""
		if !one.Fitted {
			hardly = "; by itself the times hardly tell it"
		}
		fmt.Fprintf(&b, "#   %s: %s, 95 %%: %s to %s; it was %s%s\n", one.Name, one.Found, one.Low,
			one.High, cmp.Or(one.Before, "not known"), hardly)
	}
	b.WriteString("# Errors of simulations, median and 90th percentile:\n")
	for class, of := range fidelity.SizeClasses() {
		fit, held := f.Quality(-1, class, true), f.Quality(-1, class, false)
		if fit.Points+held.Points > 0 {
			fmt.Fprintf(&b, "#   %s: %s of %d fitted, %s of %d held out\n", of.Name, percents(fit),
				fit.Points, percents(held), held.Points)
		}
	}
	for _, note := range f.Notes {
		b.WriteString("# Note: " + note + "\n")
	}
	return b.String() + f.Machine.Text()
}

// percents prints a median and a 90th percentile.
func percents(q calibrate.Quality) string {
	if q.Points == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %% and %.1f %%", 100*q.Median, 100*q.P90)
}
