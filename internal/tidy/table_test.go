package tidy

import "strings"

// row says what a package may import: of ours, and which modules of others.
type row struct {
	path    string   // below the module, "." for its root; "x/..." for the packages below x
	ours    string   // separated by blanks
	modules []string // by the beginning of their import paths
}

// table is the design's table of packages. A package that is not in it is refused: a new idea needs
// a row here first. Everybody may import internal/nearest and
// internal/prose, which is how errors suggest names and count.
func table() []row {
	const (
		toAlgos = "unit collective schedule topology algos device dtype"
		// Engines take the rules from sim/model, and nothing from each other.
		toEngine = "sim/model sim/internal/cycle sim/internal/exchange sim/internal/flat schedule unit"

		hw   = "schedule collective dtype kernel topology device trace unit hw internal/input"
		toHW = "unit dtype collective schedule formats formats/... topology device bounds algos " +
			"algos/openmpi algos/nccl algos/synth proof reference trace sim program nccl hw scenarios " +
			"fidelity internal/input"
	)
	return []row{
		{path: "unit"},
		{path: "dtype", ours: "internal/cpu"},
		{path: "collective", ours: "unit dtype"},
		{path: "collective/calls", ours: "collective"},
		{path: "comm/group", ours: "collective dtype"},
		{path: "comm/symmetric", ours: "collective dtype comm/group"},
		{path: "symmetry"},
		{path: "schedule", ours: "collective dtype kernel symmetry unit internal/parallel"},
		{path: "program/mesh", ours: "collective"},
		{path: "proof", ours: "schedule collective dtype kernel symmetry unit"},
		{path: "kernel", ours: "collective dtype unit internal/cpu internal/parallel"},
		{path: "topology", ours: "symmetry unit"},
		{path: "topology/...", ours: "topology unit"},
		{path: "device", ours: "dtype unit"},
		{path: "machine", ours: "topology device unit",
			modules: []string{"github.com/BurntSushi/toml"}},
		{path: "bounds", ours: "collective topology unit"},
		{path: "algos", ours: "schedule topology collective unit"},
		{path: "comm", ours: "collective comm/group algos schedule proof dtype"},
		{path: "algos/openmpi", ours: "algos schedule collective dtype unit"},
		{path: "algos/synth", ours: "algos schedule symmetry topology collective unit"},
		{path: "algos/libraries", ours: "algos collective"},
		{path: "algos/nccl", ours: "algos schedule collective dtype unit internal/ncclnames"},
		{path: "algos/openmpi/openmpitest", ours: "algos/openmpi collective dtype"},
		{path: "algos/algostest",
			ours: "algos schedule topology collective dtype unit device proof reference sim " +
				"internal/tier",
			modules: testLibraries()},
		{path: "random", ours: "algos program schedule collective dtype unit",
			modules: testLibraries()},
		{path: "reference", ours: "schedule collective dtype kernel unit"},
		{path: "trace", ours: "unit"},
		{path: "formats", ours: "formats/... schedule collective dtype unit internal/input"},
		{path: "formats/...",
			ours: "formats/internal/... schedule trace topology collective collective/calls dtype unit " +
				"internal/diag internal/input internal/output internal/parallel"},
		{path: "formats/dumps",
			ours: "formats/chakra formats/internal/... collective collective/calls internal/diag"},
		{path: "formats/internal/wire",
			modules: []string{"google.golang.org/protobuf/encoding/protowire"}},
		{path: "formats/system", ours: "machine device unit internal/diag"},
		{path: "formats/ncclxml", ours: "formats/system machine device unit"},
		{path: "formats/topom", ours: "formats/system machine unit"},
		{path: "formats/rocmtopo", ours: "formats/system machine unit"},
		{path: "formats/topofile",
			ours: "formats/ncclxml formats/topom formats/rocmtopo formats/system machine"},
		{path: "formats/fx", ours: "formats/hlo formats/internal/foreign collective dtype unit " +
			"internal/prose"},
		{path: "formats/simai", ours: "formats/internal/foreign collective unit"},
		{path: "formats/splits", ours: "formats/npy formats/internal/tensor dtype unit"},
		{path: "formats/arrays",
			ours: "formats/npy formats/safetensors formats/internal/... internal/input " +
				"internal/output dtype unit"},
		{path: "sim",
			ours: "sim/model sim/event sim/fold sim/sweep sim/critical sim/timeline sim/activity schedule " +
				"symmetry trace unit"},
		{path: "sim/model",
			ours: "sim/internal/flat schedule kernel symmetry topology device dtype trace unit"},
		{path: "sim/event", ours: toEngine},
		{path: "sim/fold", ours: toEngine + " sim/internal/ramp symmetry topology"},
		{path: "sim/sweep", ours: toEngine},
		{path: "sim/critical", ours: "sim/model unit"},
		{path: "sim/activity", ours: "sim/model unit"},
		{path: "sim/timeline", ours: "sim/model sim/activity trace unit"},
		{path: "sim/internal/cycle"},
		{path: "sim/internal/exchange", ours: "sim/model sim/internal/flat schedule unit"},
		{path: "sim/internal/flat"},
		{path: "sim/internal/ramp", ours: "unit"},
		{path: "sim/simtest",
			ours: "sim/model sim/internal/flat schedule kernel topology device collective dtype " +
				"unit random internal/tier",
			modules: testLibraries()},
		{path: "program", ours: toAlgos + " kernel program/lowering symmetry"},
		{path: "nccl", ours: toAlgos + " program"},
		{path: "hw", ours: hw},
		{path: "hw/...", ours: hw},
		{path: "hw/gate"},
		{path: "hw/rank", ours: hw + " hw/gate internal/memory"},
		{path: "hw/callbacks", ours: hw + " hw/rank"},
		{path: "hw/cuda", ours: hw + " hw/rank hw/gate internal/memory",
			modules: []string{"github.com/ebitengine/purego"}},
		{path: "hw/cuda/cudatest", ours: "hw/internal/clib"},
		{path: "hw/hwtest", ours: "schedule proof collective internal/input", modules: testLibraries()},
		{path: "hw/host", ours: hw + " hw/rank hw/gate"},
		{path: "hw/mpi", ours: hw + " hw/rank hw/gate algos/openmpi",
			modules: []string{"github.com/ebitengine/purego"}},
		{path: "hw/nccl", ours: hw + " hw/rank hw/gate",
			modules: []string{"github.com/ebitengine/purego"}},
		{path: "hw/nccl/nccltest", ours: "hw/internal/clib internal/input internal/output"},
		{path: "hw/internal/clib", ours: "internal/input internal/output"},
		{path: "hw/internal/recorded", ours: "collective dtype internal/input"},
		{path: "hw/calibrate", ours: hw + " formats/measured"},
		{path: "hw/lab", ours: hw + " hw/host hw/mpi hw/gate"},
		{path: "fidelity", ours: "unit"},
		{path: "compare", ours: "fidelity formats/measured unit"},
		{path: "diagnose", ours: "collective fidelity scenarios topology unit"},
		{path: "shards"},
		{path: "plots", ours: "trace symmetry topology unit",
			modules: []string{"gonum.org/v1/plot",
				"golang.org/x/image/font", "golang.org/x/image/math/fixed", // plot's fonts
				"github.com/golang/freetype/raster", // what plot draws PNG with, but in integers
				"codeberg.org/go-pdf/fpdf"}},        // what plot draws PDF with
		{path: "page", ours: "plots report unit"},
		{path: "program/lowering", ours: "unit"},
		{path: "scenarios", ours: "collective dtype topology device machine unit program/lowering " +
			"program/mesh internal/diag internal/input internal/ncclnames",
			modules: []string{"github.com/BurntSushi/toml"}},
		{path: "run", ours: toHW + " collective/calls hw/calibrate machine internal/parallel symmetry " +
			"algos/libraries"},
		{path: "report", ours: "algos/nccl run program scenarios collective collective/calls unit " +
			"device schedule formats formats/dumps formats/measured compare diagnose fidelity hw " +
			"hw/calibrate reference sim bounds proof"},
		{path: ".", ours: "run report scenarios"},
		{path: "cmd/collsim",
			ours: ". run report compare diagnose page plots machine shards hw/... collective/calls " +
				"internal/diag internal/output internal/memory " + toHW,
			modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"}},
		{path: "internal/cpu"},
		{path: "internal/golden"},      // its tests alone import anything
		{path: "internal/performance"}, // likewise
		{path: "internal/kernelfit", ours: "device kernel sim/model unit"},
		{path: "internal/judge"}, // an opinion of its own: it must not know the proof
		{path: "internal/judge/vary", ours: "internal/judge"},
		{path: "internal/judge/campaign",
			ours: "internal/judge internal/judge/vary internal/input internal/output schedule proof " +
				"algos collective dtype"},
		{path: "internal/diag"},
		{path: "internal/input", ours: "unit"},
		{path: "internal/mutate"},
		{path: "internal/mutate/testdata/sample"},
		{path: "internal/judge/programs", // likewise: no program, proof, reference or scenarios
			modules: []string{"github.com/BurntSushi/toml"}},
		{path: "internal/judge/programs/campaign",
			ours: "internal/judge/programs internal/output run program schedule proof reference algos " +
				"collective dtype unit"},
		{path: "internal/memory", ours: "internal/input"},
		{path: "internal/ncclnames"},
		{path: "internal/nearest"},
		{path: "internal/output"},
		{path: "internal/parallel"},
		{path: "internal/prose"},
		{path: "internal/skips"},
		{path: "internal/samples", ours: "internal/input internal/tier", modules: testLibraries()},
		{path: "internal/tidy"},
		{path: "internal/tier"},
	}
}

// testLibraries are the modules that test files of any package may import.
func testLibraries() []string {
	return []string{
		"github.com/stretchr/testify",
		"github.com/leanovate/gopter",
		"github.com/cockroachdb/datadriven",
		"github.com/rogpeppe/go-internal",
		"github.com/santhosh-tekuri/jsonschema",
	}
}

// matchPath reports whether a package is what a row's path or an entry of ours stands for.
func matchPath(pattern, path string) bool {
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(path, above+"/")
	}
	return pattern == path
}

// rowOf returns the row of a package: one of its own, or else that of the packages below another.
func rowOf(path string) (row, bool) {
	var found row
	ok := false
	for _, r := range table() {
		if r.path == path {
			return r, true
		}
		if matchPath(r.path, path) {
			found, ok = r, true
		}
	}
	return found, ok
}

// mayImport reports whether the package of row r may import another of ours.
func (r row) mayImport(path string) bool {
	if path == "internal/nearest" || path == "internal/prose" {
		return true
	}
	for _, pattern := range strings.Fields(r.ours) {
		if matchPath(pattern, path) {
			return true
		}
	}
	return false
}

// mayUse reports whether a package of another module may be imported.
func mayUse(modules []string, path string) bool {
	for _, m := range modules {
		if path == m || strings.HasPrefix(path, m+"/") {
			return true
		}
	}
	return false
}

// deterministic are the packages whose results must not depend on the order of a map: they and the
// packages below them.
func deterministic() []string {
	return []string{"unit", "dtype", "collective", "symmetry", "schedule", "proof", "topology",
		"device", "kernel", "algos", "reference", "trace", "sim", "fidelity", "bounds", "run",
		"report", "."}
}

// commands are the packages that may print: they and the packages below them.
func commands() []string {
	return []string{"cmd", "internal/judge/campaign", "internal/judge/programs/campaign",
		"internal/mutate", "internal/skips"}
}

// writers are the packages that may open a file for writing: what writes all files, the lab, which
// sets what the kernel does in its namespaces, and what hands changed sources to the compiler.
func writers() []string { return []string{"internal/output", "hw/lab", "internal/mutate"} }

// readers are the packages that may open files for reading, read streams whole and unpack: what
// reads all inputs, the lab, which opens namespaces, and what changes sources.
func readers() []string { return []string{"internal/input", "hw/lab", "internal/mutate"} }

// rounded are the packages in which a float must round alike on every processor.
func rounded() []string {
	return []string{"unit", "dtype", "collective", "symmetry", "schedule", "proof", "topology",
		"device", "bounds", "kernel",
		"algos", "reference", "trace", "sim", "scenarios", "fidelity", "run", "report", "."}
}

// within reports whether a package is one of these or below one of them.
func within(path string, packages ...string) bool {
	for _, p := range packages {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}
