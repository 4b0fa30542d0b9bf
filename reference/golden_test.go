package reference

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"collsim/collective"
	"collsim/dtype"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestGolden holds the interpreter and the definition to vectors that were worked out without
// them, of all types, operators and kinds.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txt")
	require.NoError(t, err)
	cases := 0
	for _, file := range files {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			cases++
			var complaint string
			switch d.CmdArgs[2].Key {
			case "float64":
				complaint = goldenCase[float64](t, d)
			case "float32":
				complaint = goldenCase[float32](t, d)
			case "float16":
				complaint = goldenCase[dtype.F16](t, d)
			case "bfloat16":
				complaint = goldenCase[dtype.BF16](t, d)
			case "float8_e4m3fn":
				complaint = goldenCase[dtype.E4M3](t, d)
			case "float8_e5m2":
				complaint = goldenCase[dtype.E5M2](t, d)
			case "int8":
				complaint = goldenCase[int8](t, d)
			case "int16":
				complaint = goldenCase[int16](t, d)
			case "int32":
				complaint = goldenCase[int32](t, d)
			case "int64":
				complaint = goldenCase[int64](t, d)
			case "uint8":
				complaint = goldenCase[uint8](t, d)
			case "uint16":
				complaint = goldenCase[uint16](t, d)
			case "uint32":
				complaint = goldenCase[uint32](t, d)
			case "uint64":
				complaint = goldenCase[uint64](t, d)
			}
			if complaint == "" {
				return d.Expected // which has been compared in its own way
			}
			return complaint
		})
	}
	require.GreaterOrEqual(t, cases, 392)
}

// goldenCase carries a case out; it says what differs, nothing if all is well.
func goldenCase[T dtype.Number](t *testing.T, d *datadriven.TestData) string {
	inputs, _ := rows[T](t, d.Input)
	spec, o, factored := goldenSpec(t, d, len(inputs))
	spec.Type = dtype.Of[T]()
	for _, in := range inputs {
		spec.Count = max(spec.Count, int64(len(in)))
	}
	if spec.Kind == collective.ReduceScatter || spec.Kind == collective.Scatter ||
		spec.Kind == collective.AllToAll {
		spec.Count /= int64(spec.Ranks)
	}
	for _, tr := range trials(spec.Ranks) {
		if tr.kind != spec.Kind || tr.name != d.CmdArgs[1].Key {
			continue
		}
		got, err := RunWith(build(t, spec, tr.plan), inputs, o)
		require.NoError(t, err)
		want, exact := rows[T](t, d.Expected)
		if complaint := sameRows(want, got); complaint != "" {
			return complaint
		}
		if !factored {
			return ""
		}
		all := spec
		all.Kind, all.Root, all.Count = collective.AllReduce, 0, int64(len(inputs[0]))
		if got, err = Define(all, inputs); err != nil {
			return err.Error()
		}
		if complaint := sameRows(exact, got[:1]); complaint != "" {
			return "exactly: " + complaint
		}
		return ""
	}
	return "no such plan: " + d.CmdArgs[1].Key
}

func goldenSpec(t *testing.T, d *datadriven.TestData,
	ranks int) (spec collective.Spec, o RunOptions, reduces bool) {
	kind, err := collective.ParseKind(d.CmdArgs[0].Key)
	require.NoError(t, err)
	spec = collective.Spec{Kind: kind, Ranks: ranks}
	d.ScanArgs(t, "root", &spec.Root)
	if d.HasArg("accumulate") {
		o.Accumulate = InFloat32
	}
	if !d.HasArg("op") {
		return spec, o, false
	}
	for _, arg := range d.CmdArgs {
		if arg.Key != "op" {
			continue
		}
		name, factor, _ := strings.Cut(strings.TrimSuffix(strings.Join(arg.Vals, ""), ")"), "(")
		if name == "avg-post" {
			name, spec.Avg = "avg", collective.AvgPost
		}
		if factor != "" {
			name += "(factor=" + factor + ")"
		}
		spec.Op, spec.Factor, err = collective.ParseOp(name)
		require.NoError(t, err)
	}
	return spec, o, true
}

// rows reads lines of numbers that end in a dot; those of what is exact apart.
func rows[T dtype.Number](t *testing.T, text string) (all, exact [][]T) {
	for line := range strings.Lines(text) {
		row := []T{}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		apart := fields[0] == "exactly"
		if apart {
			fields = fields[1:]
		}
		require.Equal(t, ".", fields[len(fields)-1], line)
		for _, field := range fields[:len(fields)-1] {
			row = append(row, number[T](t, field))
		}
		if apart {
			exact = append(exact, row)
		} else {
			all = append(all, row)
		}
	}
	return all, exact
}

// number reads a decimal, which the type holds exactly; or bits=decimal, both of the same number.
func number[T dtype.Number](t *testing.T, field string) T {
	bits, text, both := strings.Cut(field, "=")
	if !both {
		text = bits
	}
	x := make([]T, 1)
	if isFloat[T]() {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		x[0] = dtype.FromUnsaturated[T](v) // of which infinities are left
		if v == v {
			require.Equal(t, v, dtype.Value(x[0]), field)
		}
	} else if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		x[0] = T(v)
	} else {
		v, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		x[0] = T(v)
	}
	if both {
		want, err := strconv.ParseUint(bits, 16, 64)
		require.NoError(t, err)
		require.Equal(t, want, dtype.Bits(x[0]), field)
	}
	return x[0]
}

func sameRows[T dtype.Number](want, got [][]T) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows, not %d", len(got), len(want))
	}
	for r := range want {
		if !sameBits(want[r], got[r]) || len(want[r]) != len(got[r]) {
			return fmt.Sprintf("rank %d: %v, not %v (%x, not %x)", r, got[r], want[r], raw(got[r]),
				raw(want[r]))
		}
	}
	return ""
}
