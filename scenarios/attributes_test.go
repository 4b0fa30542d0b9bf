package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestKeysOfKinds: all kinds with all keys of a collective. A kind takes those that mean something
// for it; what would be without effect is refused, by key and line.
func TestKeysOfKinds(t *testing.T) {
	type of = func(collective.Kind) bool
	never := func(collective.Kind) bool { return false }
	data := func(k collective.Kind) bool { return k != collective.Barrier }
	sized := func(k collective.Kind) bool { return data(k) && !k.Splits() }
	axis := func(k collective.Kind) bool {
		return k.Gathers() || k.Scatters() || k == collective.AllToAll || k == collective.AllToAllV
	}
	for _, c := range []struct {
		key, value string
		with       string // beside it
		meant      of
	}{
		{"op", `"max"`, "", collective.Kind.Reduces},
		{"op", `"premulsum(factor=2)"`, "", collective.Kind.Reduces},
		{"op", `"premulsum"`, "", never},
		{"op", `"premulsum(factor=0)"`, "", never},
		{"op", `"sum(factor=2)"`, "", never},
		{"avg", `"post"`, "", never},
		{"avg", `"post"`, `op = "avg"`, collective.Kind.Reduces},
		{"accumulate", `"float32"`, "", collective.Kind.Reduces},
		{"root", "1", "", collective.Kind.Rooted},
		{"in_place", "true", "", func(k collective.Kind) bool {
			return data(k) && k != collective.AllToAllV
		}},
		{"dtype", `"float16"`, "", data},
		{"count", "12", "", sized},
		{"bytes", `"96 B"`, "", sized},
		{"shape", "[6, 6]", "", func(k collective.Kind) bool {
			return data(k) && k != collective.ReduceScatterV
		}},
		{"axis", "1", "", never}, // of no tensor
		{"axis", "1", "shape = [6, 6]", func(k collective.Kind) bool {
			return axis(k) && k != collective.ReduceScatterV
		}},
		{"axis", "2", "shape = [6, 6]", never}, // there is none
		{"concat", "1", "shape = [6, 6]", func(k collective.Kind) bool {
			return k == collective.AllToAll
		}},
		{"output", `"out.npz"`, "", data},
		{"compare", `"theirs.npz"`, "", data},
		{"input", `"in.npz"`, "", func(k collective.Kind) bool { // of every rank, 6 elements
			return data(k) && k != collective.Broadcast && k != collective.Scatter &&
				k != collective.AllGatherV // which fit no splits here
		}},
		{"gradient", `"full"`, "", data},
	} {
		for _, kind := range collective.Kinds() {
			text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = 3\nbandwidth = \"1 GB/s\"\n"+
				"latency = \"1 us\"\n[[collective]]\nkind = %q\n", kind)
			sizes := c.key == "count" || c.key == "bytes" || c.key == "shape" || c.key == "input" ||
				strings.Contains(c.with, "shape")
			switch {
			case kind == collective.AllToAllV:
				text += "splits = [[2, 2, 2], [2, 2, 2], [2, 2, 2]]\n"
			case kind.Splits() && (c.key == "axis" || c.key == "shape"):
				text += "splits = [[6, 6, 6]]\n"
			case kind.Splits():
				text += "splits = [[2, 2, 2]]\n"
			case data(kind) && !sizes:
				text += "count = 6\n"
			}
			text += c.with + "\n" + c.key + " = " + c.value + "\n"
			_, err := load("s.toml", []byte(text), world{Check: judged, Shape: shaped,
				Input: collective.Shape{6}})
			require.Equal(t, c.meant(kind), err == nil, "%s\n%v", text, err)
			if err != nil {
				require.Contains(t, err.Error(), "s.toml:", text)
			}
		}
	}
}
