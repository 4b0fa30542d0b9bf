package scenarios

import (
	"embed"
	"fmt"
	"strings"

	"collsim/internal/nearest"
)

//go:embed examples
var exampleFiles embed.FS

// examplePrefix marks the name of an embedded example in place of a file's.
const examplePrefix = "example:"

// Examples lists the names of the embedded examples, the first one to read first.
func Examples() []string {
	return []string{"ring", "recursive-doubling", "machine", "four-dgx", "compare", "every",
		"slow-link", "late-rank", "hang", "chain", "imported", "numbers", "numerics", "types",
		"shapes", "two-racks", "nodes", "experts", "mlp", "tensor-parallel", "sequence-parallel",
		"one-shot", "low-contention", "ddp", "accumulation", "layers", "fsdp", "prefetch", "zero3",
		"two-groups", "moe", "stages", "1f1b", "interleaved", "training-step", "trace", "profile",
		"profile-moe", "one-rank", "module", "torch-layer", "torch-block", "slow-nic", "unequal-nodes",
		"fabrics", "synth", "dispatch", "permute", "quantised", "own-schedule", "overlap", "map", "sharp",
		"collnet"}
}

// ExampleFile returns a file that is embedded beside the examples, as "allpairs.xml".
func ExampleFile(name string) ([]byte, error) { return exampleFiles.ReadFile("examples/" + name) }

// Example returns the text of an embedded example; an unknown name is an error with the nearest.
func Example(name string) ([]byte, error) {
	text, err := exampleFiles.ReadFile("examples/" + name + ".toml")
	if err == nil {
		return text, nil
	}
	hint := "there are " + strings.Join(Examples(), ", ")
	if near := nearest.To(name, Examples(), 1); len(near) > 0 {
		hint = "did you mean " + examplePrefix + near[0] + "?"
	}
	return nil, fmt.Errorf("%s%.40s: no example of that name; %s", examplePrefix, name,
		hint)
}
