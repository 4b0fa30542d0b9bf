package hlo_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/hlo"
	"collsim/formats/internal/foreign"
	"collsim/proof"
)

// TestScripts runs the scripts of testdata/scripts: "program" reads a module and prints a line an
// op, with counts=, trips= or branches= of a scenario; "entry ranks=N" one of which the input is
// the instructions of the entry, on as many partitions, with a sum before it.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text, o := d.Input, hlo.Options{}
			if d.Cmd == "entry" {
				ranks, replicas := 0, 1
				d.ScanArgs(t, "ranks", &ranks)
				if d.HasArg("replicas") {
					d.ScanArgs(t, "replicas", &replicas)
				}
				text = fmt.Sprintf("HloModule m, num_partitions=%d, replica_count=%d\nsum { x = f32[] "+
					"parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }\nENTRY e {\n%s\n}",
					ranks/replicas, replicas, text)
			} else {
				require.Equal(t, "program", d.Cmd)
			}
			for _, arg := range d.CmdArgs {
				for _, value := range arg.Vals {
					name, of, _ := strings.Cut(value, ":")
					switch arg.Key {
					case "counts":
						o.Ranks, _ = strconv.Atoi(value)
					case "trips":
						o.Trips = append(o.Trips, hlo.Stated{Name: name, Value: of})
					case "branches":
						o.Branches = append(o.Branches, hlo.Stated{Name: name, Value: of})
					}
				}
			}
			p, err := hlo.ReadProgram("m", strings.NewReader(text), o)
			if err != nil {
				return err.Error() + "\n"
			}
			return asText(p)
		})
	})
}

// asText is a line an op, and the notes.
func asText(p *hlo.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %d ranks\n", p.Name, p.Ranks)
	for i, o := range p.Ops {
		fmt.Fprintf(&b, "%d %s (line %d): ", i, o.Name, o.Line)
		switch {
		case o.Call != nil:
			fmt.Fprintf(&b, "%v of", o.Call)
		case o.Tensors != nil:
			fmt.Fprintf(&b, "matmul to %v of", o.Out)
		default:
			fmt.Fprintf(&b, "moves %d B", int64(o.Moves))
		}
		for _, x := range o.Tensors {
			fmt.Fprintf(&b, " %v %v", x.Type, x.Shape)
		}
		if o.Call != nil {
			fmt.Fprintf(&b, ", teams %v", o.Teams)
		}
		if o.Async {
			b.WriteString(", async")
		}
		if o.Thread != "" {
			fmt.Fprintf(&b, ", on %s", o.Thread)
		}
		if len(o.After) > 0 {
			fmt.Fprintf(&b, ", after %v", o.After)
		}
		b.WriteString("\n")
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

// TestSamples: modules of XLA's tests are read, as programs and as messages, which come to their
// end.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.hlo")
	require.NoError(t, err)
	require.Len(t, files, 2)
	for i, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		p, err := hlo.ReadProgram(file, bytes.NewReader(text), hlo.Options{})
		require.NoError(t, err)
		require.Equal(t, 8, p.Ranks)
		require.Len(t, p.Ops, 3)
		kind := []collective.Kind{collective.AllGather, collective.ReduceScatter}[i]
		for k, o := range p.Ops[:2] {
			require.Equal(t, kind, o.Call.Kind)
			require.Equal(t, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, o.Teams)
			require.True(t, o.Async)
			require.Empty(t, o.After)
			rows := []int64{128, 1024}[i] * int64(k+1)
			require.Equal(t, collective.Shape{rows, 2048, 2048}, o.Tensors[0].Shape)
		}
		// The input is dilated by 16: of the 16 places of the window each result reads one.
		require.Equal(t, collective.Shape{256 * 16, 64}, p.Ops[2].Tensors[0].Shape)
		require.Equal(t, collective.Shape{64, 256}, p.Ops[2].Tensors[1].Shape)
		f, err := hlo.Read(bytes.NewReader(text), foreign.Options{File: file})
		require.NoError(t, err)
		require.Empty(t, f.Found)
		_, wrong := proof.Verify(f.Schedule, proof.Options{Iterations: 1, Causal: f.Causal})
		require.Empty(t, wrong)
	}
}

// TestChains: a permute of a chain, as messages, comes to its end; one that is too long is refused.
func TestChains(t *testing.T) {
	for ranks, want := range map[int]string{5: "", 1025: "m:4: r: source_target_pairs: 1025 " +
		"ranks in a chain, or in rings and chains of several lengths; at most 1024 are read"} {
		var pairs []string
		for rank := range ranks - 1 {
			pairs = append(pairs, fmt.Sprintf("{%d,%d}", rank, rank+1))
		}
		text := fmt.Sprintf("HloModule m, is_scheduled=true, replica_count=%d\nENTRY e {\n  "+
			"a = f32[8] parameter(0)\n  ROOT r = f32[8] collective-permute(a), "+
			"source_target_pairs={%s}\n}", ranks, strings.Join(pairs, ","))
		f, err := hlo.Read(strings.NewReader(text), foreign.Options{File: "m"})
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Empty(t, f.Found)
		proven, wrong := proof.Verify(f.Schedule, proof.Options{Iterations: 1, Causal: f.Causal})
		require.Empty(t, wrong)
		require.Equal(t, 1, proven.Rounds)
	}
}

// FuzzRead: whatever is read is refused with an error of the right type and a line of the text, or
// is a program whose ops come behind those that they wait for, among ranks that there are, and a
// schedule that can be judged.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/samples/*.hlo", "testdata/scripts/*.txt"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(f, err)
			for _, block := range regexp.MustCompile(`\n(program|entry).*\n`).Split(string(text), -1) {
				input, _, _ := strings.Cut(block, "\n----")
				f.Add([]byte(input))
				f.Add([]byte("HloModule m\nENTRY e {\n" + input + "\n}"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		stated := []hlo.Stated{{Name: "*", Value: "1"}}
		for _, o := range []hlo.Options{{}, {Ranks: 4, Branches: stated, Trips: stated}} {
			fuzzed(t, text, o)
		}
	})
}

// fuzzed checks what is read of a text.
func fuzzed(t *testing.T, text []byte, o hlo.Options) {
	p, err := hlo.ReadProgram("m", bytes.NewReader(text), o)
	if err != nil {
		var e *foreign.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Text)
		require.Positive(t, e.Line)
		require.LessOrEqual(t, e.Line, 1+bytes.Count(text, []byte("\n")))
		return
	}
	names := map[string]bool{}
	for i, o := range p.Ops {
		require.False(t, names[o.Name], o.Name)
		names[o.Name] = true
		for _, on := range o.After {
			require.Less(t, on, i)
		}
		seen := map[int]bool{}
		for _, team := range o.Teams {
			for _, rank := range team {
				require.False(t, seen[rank] || rank < 0 || rank >= p.Ranks, "%v", o.Teams)
				seen[rank] = true
			}
		}
		if o.Call == nil {
			continue
		}
		for _, x := range o.Tensors {
			call := *o.Call
			call.Type, call.Shape = x.Type, x.Shape
			_, err := call.Shapes(call.Inputs(len(o.Teams[0])))
			require.NoError(t, err, "%v", &call)
		}
	}
	if p.Ranks > 16 || len(p.Ops) > 50 {
		return
	}
	file, err := hlo.Read(bytes.NewReader(text), foreign.Options{File: "m"})
	if o.Ranks != 0 && err != nil { // it has neither the counts nor what is stated
		return
	}
	require.NoError(t, err)
	if file.Schedule != nil {
		proof.Verify(file.Schedule, proof.Options{Iterations: 1, Causal: file.Causal})
	}
}
