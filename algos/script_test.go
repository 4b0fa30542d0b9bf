package algos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/unit"
)

// TestScripts runs the commands in testdata/scripts:
//
//	build KIND ALGORITHM ranks=N count=N …   the schedule's text
//	prove KIND ALGORITHM ranks=N count=N …   what the proof found
//	cost KIND ALGORITHM ranks=N count=N …    the published cost, and its time with α = 1 us,
//	                                          1/β = 1 GB/s and 1/γ = 4 GB/s
//	find KIND ALGORITHM                      the algorithm, or what is wrong with its name
//
// The other arguments are root, op, type, in-place, channels, slices, slots and parameters.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text, err := command(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return text
		})
	})
}

func command(d *datadriven.TestData) (string, error) {
	kind, err := collective.ParseKind(d.CmdArgs[0].Key)
	if err != nil {
		return "", err
	}
	a, err := algos.Find(kind, d.CmdArgs[1].Key)
	if err != nil {
		return "", err
	}
	if d.Cmd == "find" {
		return fmt.Sprintf("%s: %s\n%s\n", a.Name, a.About, a.Source), nil
	}
	spec, o, err := problem(kind, d.CmdArgs[2:])
	if err != nil {
		return "", err
	}
	if d.Cmd == "cost" {
		return cost(a, spec, o)
	}
	s, err := a.Build(spec, o)
	if err != nil {
		return "", err
	}
	if d.Cmd == "build" {
		return s.String(), nil
	}
	proven, violations := proof.Verify(s, proof.Options{})
	if len(violations) > 0 {
		return "", violations[0]
	}
	proven.Traffic = nil // too long to read
	return strings.NewReplacer(" Traffic:[]", "", " Undefined:[]", "").Replace(
		fmt.Sprintf("%+v\n", *proven)), nil
}

func cost(a algos.Algorithm, spec collective.Spec, o algos.Options) (string, error) {
	c, err := a.CostOf(spec, o)
	if err != nil {
		return "", err
	}
	m := algos.Model{Alpha: unit.Microsecond, Rate: unit.Rate(unit.GB),
		Reduce: unit.Rate(4 * unit.GB)}
	time, err := a.ClosedForm(spec, o, m)
	bound := ""
	if c.AtMost {
		bound = "at most "
	}
	return fmt.Sprintf("%s%d α, %d transfers of %d blocks, %d additions: %v\n", bound, c.Alpha,
		c.Steps(), blocksOf(c), sumsOf(c), time), err
}

// problem reads the arguments that say what is to be built.
func problem(kind collective.Kind, args []datadriven.CmdArg) (
	collective.Spec, algos.Options, error) {
	spec := collective.Spec{Kind: kind, Type: dtype.Float32, Factor: 1}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	o := algos.Options{}
	numbers := map[string]*int{"ranks": &spec.Ranks, "root": &spec.Root, "channels": &o.Channels,
		"slices": &o.Slices, "slots": &o.Slots}
	for _, arg := range args {
		value := strings.Join(arg.Vals, ",")
		var err error
		switch into, number := numbers[arg.Key]; {
		case number:
			_, err = fmt.Sscan(value, into)
		case arg.Key == "count":
			_, err = fmt.Sscan(value, &spec.Count)
		case arg.Key == "op":
			spec.Op, spec.Factor, err = collective.ParseOp(value)
		case arg.Key == "type":
			spec.Type, err = dtype.Parse(value)
		case arg.Key == "in-place":
			spec.InPlace = true
		default:
			o.Params = append(o.Params, algos.Param{Name: arg.Key, Value: value})
		}
		if err != nil {
			return spec, o, fmt.Errorf("%s=%s: %w", arg.Key, value, err)
		}
	}
	if kind == collective.Barrier {
		spec.Type = 0
	}
	if kind.Splits() { // count is the largest split here
		most, rows := spec.Count, 1
		if spec.Count = 0; kind == collective.AllToAllV {
			rows = spec.Ranks
		}
		for r := range int64(rows) {
			row := make([]int64, spec.Ranks)
			for q := range row {
				row[q] = (2*r + 3*int64(q)) % (most + 1)
			}
			spec.Splits = append(spec.Splits, row)
		}
	}
	return spec, o, nil
}

// TestFurtherIsDescribed: each of Further says what it does, when to use it, where it comes from,
// and, where a cost is published that no parameter changes, a formula of it.
func TestFurtherIsDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, a := range algos.Further() {
		require.NotEmpty(t, a.About, a.Name)
		require.NotEmpty(t, a.When, a.Name)
		require.NotEmpty(t, a.Source, a.Name)
		_, err := a.CostOf(specOf(a.Kinds[0], 8, 64), algos.Options{})
		if err == nil && a.Cost != nil {
			require.NotEmpty(t, a.Formula, a.Name)
		}
		for _, kind := range a.Kinds {
			key := kind.String() + " " + a.Name
			require.False(t, names[key], "%s: it is there twice", key)
			names[key] = true
			_, err := algos.FindIn(algos.Table(), kind, a.Name)
			require.Error(t, err, "%s: Table has it, too", key)
		}
	}
}

func TestTable(t *testing.T) {
	last := ""
	for _, a := range algos.Table() {
		place := fmt.Sprintf("%02d %s", a.Kinds[0], a.Name)
		require.Less(t, last, place, "the table is sorted by kind and name")
		last = place
		require.NotEmpty(t, a.About)
		require.NotEmpty(t, a.When)
		require.NotEmpty(t, a.Source)
		require.Equal(t, a.Plan == nil, a.Formula != "", a.Name) // nobody publishes what plans cost
		if a.Of != nil {
			require.Equal(t, a.Of.Params, a.Params)
			require.Len(t, a.Of.Kinds, len(a.Kinds))
		}
		for _, k := range a.Kinds {
			found, err := algos.Find(k, strings.ReplaceAll(a.Name, "-", "_"))
			require.NoError(t, err)
			require.Equal(t, a.Name, found.Name)
			require.True(t, found.Does(k))
		}
	}
	for _, k := range collective.Kinds() {
		for i, a := range algos.ForKind(k) {
			require.True(t, a.Does(k))
			if i > 0 {
				require.Less(t, algos.ForKind(k)[i-1].Name, a.Name)
			}
		}
	}
}
