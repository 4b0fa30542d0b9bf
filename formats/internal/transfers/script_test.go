package transfers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/schedule"
)

// TestLower runs testdata/lower.txt: plans, a move a line (stage from->to source target, then "add
// place", "first", "complete", "way N"), and the schedules that they become, with their proof.
func TestLower(t *testing.T) {
	datadriven.RunTest(t, "testdata/lower.txt", func(t *testing.T, d *datadriven.TestData) string {
		p := scriptPlan(t, d)
		low, err := Lower(p)
		if err != nil {
			return err.Error() + "\n"
		}
		proven, found := proof.Verify(low.Schedule, proof.Options{Iterations: 1})
		verdict := ""
		for _, v := range found {
			verdict += v.Error() + "\n"
		}
		if proven != nil {
			verdict = fmt.Sprintf("proved: %d rounds, %d slots\n", proven.Rounds, proven.MinSlots)
		}
		return low.Schedule.String() + verdict
	})
}

func scriptPlan(t *testing.T, d *datadriven.TestData) Plan {
	kind, err := collective.ParseKind(d.Cmd)
	require.NoError(t, err)
	p := Plan{Name: "script", Spec: collective.Spec{Kind: kind, Type: dtype.Int32}}
	count, tiles := 0, 1
	blocks := [3]int{1, 1, 1}
	d.ScanArgs(t, "ranks", &p.Spec.Ranks)
	d.ScanArgs(t, "count", &count)
	d.MaybeScanArgs(t, "tiles", &tiles)
	for b, name := range []string{"in", "out", "scratch"} {
		d.MaybeScanArgs(t, name, &blocks[b])
		p.Cuts[b] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Even, N: int64(blocks[b])}}
	}
	d.MaybeScanArgs(t, "memory", &p.Memory)
	p.Spec.Count, p.Tiles, p.Spec.InPlace = int64(count), int32(tiles), d.HasArg("in-place")
	if kind.Reduces() {
		p.Spec.Op = collective.Sum
	}
	for _, line := range strings.Split(d.Input, "\n") {
		p.Moves = append(p.Moves, scriptMove(t, line))
	}
	return p
}

func scriptMove(t *testing.T, line string) (m Move) {
	words := strings.Fields(line)
	require.GreaterOrEqual(t, len(words), 4, line)
	_, err := fmt.Sscanf(words[0]+" "+words[1], "%d %d->%d", &m.Stage, &m.From, &m.To)
	require.NoError(t, err, line)
	m.Source, m.Target = scriptPlace(t, words[2]), scriptPlace(t, words[3])
	for i := 4; i < len(words); i++ {
		switch words[i] {
		case "add":
			i++
			m.Add = scriptPlace(t, words[i])
		case "way":
			i++
			_, err := fmt.Sscan(words[i], &m.Conn)
			require.NoError(t, err)
		case "first":
			m.AddFirst = true
		case "complete":
			m.Completes = true
		default:
			t.Fatalf("no word %q", words[i])
		}
	}
	return m
}

func scriptPlace(t *testing.T, text string) Blocks {
	name, block, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	n := 0
	_, err := fmt.Sscan(block, &n)
	require.NoError(t, err, text)
	buffer, ok := map[string]schedule.Buffer{"in": schedule.Input, "out": schedule.Output,
		"scratch": schedule.Scratch}[name]
	require.True(t, ok, text)
	return At(buffer, n)
}
