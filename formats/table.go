package formats

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"collsim/formats/forestcoll"
	"collsim/formats/goal"
	"collsim/formats/hlo"
	"collsim/formats/msccl"
	"collsim/formats/mscclpp"
	"collsim/formats/sccl"
	"collsim/formats/teccl"
	"collsim/schedule"
)

// Format describes a file format of schedules.
type Format struct {
	Name       string   // "msccl"
	About      string   // a description
	Extensions []string // usual extensions of its files, without the dot

	Dataless  bool // it has the sizes of messages and not their contents
	protocol  bool // it names a protocol, which an option may replace
	strictNop bool
	runtimes  []string // runtimes whose limits a file may be checked against

	is    func(head []byte) bool // recognises a beginning; nil: the extension decides
	read  func(io.Reader, Options) (*File, error)
	write func(io.Writer, *schedule.Schedule, WriteOptions) ([]string,
		error) // nil: cannot be written
}

// Formats that callers treat specially: our own text form, traces with a file for each rank, and
// programs of all ranks.
const (
	Text    = "schedule"
	Trace   = "chakra"
	Profile = "kineto"
	HLO     = "hlo"
)

// Table lists the formats that Read reads. The first whose beginning a file has is its format.
func Table() []Format {
	return []Format{
		{Name: Text, About: "collsim's own text form (docs/schedule.md)",
			Extensions: []string{"schedule"}, is: beginsWith("schedule"), read: readText,
			write: writeText},
		{Name: "msccl", About: "MSCCL XML, of Microsoft's and AMD's runtimes, and the compact dialect",
			Extensions: []string{"xml"}, protocol: true, runtimes: []string{"msccl", "rccl", "none"},
			is: beginsWith("<algo"), read: msccl.Read, write: writeMSCCL},
		{Name: "mscclpp", About: "MSCCL++ JSON execution plans", Extensions: []string{"json"},
			protocol: true, strictNop: true, runtimes: []string{"none"},
			is: hasKey("gpus", "num_threads_per_block", "reuse_resources"), read: mscclpp.Read,
			write: writeMSCCLPP},
		{Name: "goal", About: "GOAL text of LogGOPSim and ATLAHS: messages without data",
			Extensions: []string{"goal"}, Dataless: true, is: beginsWith("num_ranks"),
			read: goal.Read, write: writeGOAL},
		{Name: "sccl", About: "JSON algorithms of SCCL, msccl-tools and TACCL",
			Extensions: []string{"json"}, runtimes: []string{"none"},
			is: hasKey("msccl_type", "sccl_type"), read: sccl.Read},
		{Name: "teccl", About: "JSON schedules of TE-CCL", Extensions: []string{"json"},
			is:   hasKey("1-Epoch_Duration", "7-Flows", "8-Chunk paths", "TopologyParams"),
			read: teccl.Read},
		{Name: Trace, About: "Chakra execution traces of MLCommons, a file a rank: messages and " +
			"requests without data", Extensions: []string{"et"}, Dataless: true,
			is: hasKey("ctrl_deps", "comm_type", "workload_graph"), read: readTraceFile},
		{Name: Profile, About: "traces of PyTorch's profiler, a file a rank: what GPUs did, and " +
			"requests without data", Extensions: []string{"json"}, Dataless: true,
			is: hasKey("traceEvents", "deviceProperties", "baseTimeNanoseconds"), read: readTraceFile},
		{Name: HLO, About: "HLO modules of XLA, as text after optimizations: what ranks ask for, " +
			"without data", Extensions: []string{"hlo"}, Dataless: true,
			is: beginsWith("HloModule"), read: hlo.Read},
		{Name: "forestcoll", About: "XML spanning trees of ForestColl", Extensions: []string{"xml"},
			is: beginsWith("<Algo"), read: forestcoll.Read},
	}
}

// Lookup returns the format with a name.
func Lookup(name string) (Format, bool) {
	for _, f := range Table() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// refuses names an option that does not apply to the format; empty if there is none.
func (f *Format) refuses(o *Options) string {
	switch {
	case o.Protocol != "" && !f.protocol:
		return fmt.Sprintf("protocol %q cannot be chosen: %s files have none", o.Protocol, f.Name)
	case o.StrictNop && !f.strictNop:
		return "strict-nop is for mscclpp plans; this is " + f.Name
	case o.Order != "" && f.Name != Trace && f.Name != Profile:
		return "order is for calls of traces that nothing orders; this is " + f.Name
	case o.Runtime != "" && len(f.runtimes) == 0:
		return fmt.Sprintf("runtime %q cannot be chosen: %s files are for none", o.Runtime, f.Name)
	case o.Runtime != "" && !slices.Contains(f.runtimes, o.Runtime):
		return fmt.Sprintf("runtime %q: %s is expected of %s files", o.Runtime,
			strings.Join(f.runtimes, ", "), f.Name)
	case f.Dataless && (o.Type != 0 || o.Op != 0):
		return "type and operator cannot be chosen: " + f.Name + " tells the sizes of messages alone"
	}
	return ""
}

// Hint lists the formats for an error.
func Hint() string {
	var list []string
	for _, f := range Table() {
		list = append(list, fmt.Sprintf("%s (.%s)", f.Name, strings.Join(f.Extensions, ", .")))
	}
	return "formats are " + strings.Join(list, ", ")
}
