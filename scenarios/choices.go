package scenarios

import "slices"

// The choices of a scenario are types from the file to the table. Their zero values are the
// defaults, their spellings those of the file.

// Sharing selects the rule by which messages share a link.
type Sharing uint8

// The ways of sharing.
const (
	Fluid Sharing = iota // all at once, max-min fairly
	FIFO                 // one after the other
)

func sharings() []string { return []string{"fluid", "fifo"} }

// String returns the spelling in a scenario.
func (s Sharing) String() string { return sharings()[s] }

// Switching selects when a node forwards a message that arrives.
type Switching uint8

// The ways of switching.
const (
	CutThrough   Switching = iota // while it arrives
	StoreForward                  // when it is there
)

func switchings() []string { return []string{"cut-through", "store-and-forward"} }

// String returns the spelling in a scenario.
func (s Switching) String() string { return switchings()[s] }

// Engine selects the simulation engine. All engines give the same times.
type Engine uint8

// The engines.
const (
	BestEngine  Engine = iota // fold where that may; of many ranks sweep; else event
	EventEngine               // every rank, event by event
	FoldEngine                // a rank of each class of equal ones
	SweepEngine               // every rank, row by row
)

func engines() []string { return []string{"best", "event", "fold", "sweep"} }

// String returns the spelling in a scenario.
func (e Engine) String() string { return engines()[e] }

// Processes is who issues the calls of a benchmark.
type Processes uint8

// The processes.
const (
	ProcessPerGPU Processes = iota
	OneProcess              // a node
)

func processes() []string { return []string{"per-gpu", "one"} }

// String returns the spelling in a scenario.
func (p Processes) String() string { return processes()[p] }

// DataKind selects the data on which numbers are checked.
type DataKind uint8

// The kinds of data.
const (
	ExactData  DataKind = iota // small integers, whose sums are exact in any order
	NormalData                 // random numbers of the normal distribution
	UniformData
)

func dataKinds() []string { return []string{"exact", "normal", "uniform"} }

// String returns the spelling in a scenario.
func (d DataKind) String() string { return dataKinds()[d] }

// Accumulation is in which format steps add.
type Accumulation uint8

// The formats.
const (
	Native  Accumulation = iota // the type itself: rounded after every addition
	Float32                     // rounded to the type once a step
)

func accumulations() []string { return []string{"native", "float32"} }

// String returns the spelling in a scenario.
func (a Accumulation) String() string { return accumulations()[a] }

// GradientMode is which backward pass is asked for.
type GradientMode uint8

// The backward passes.
const (
	NoGradient GradientMode = iota
	FullGradient
	LocalGradient // of what a rank's own output counts, which moves nothing
)

func gradientModes() []string { return []string{"", "full", "local"} }

// String returns the spelling in a scenario.
func (m GradientMode) String() string { return gradientModes()[m] }

// Executor names an executor of schedules: one of these, or another that Options.Executors names.
type Executor string

// The executors that are documented.
const (
	Host      Executor = "host" // the processors of this machine or of Hardware.Hosts
	Callbacks Executor = "callbacks"
	MPI       Executor = "mpi"
	CUDA      Executor = "cuda" // the GPUs of this machine, of virtual ranks
	NCCL      Executor = "nccl"
)

func executors() []string {
	return []string{string(Host), string(Callbacks), string(MPI), string(CUDA), string(NCCL)}
}

// Transport selects how ranks of host exchange messages, and where ranks of nccl run.
type Transport uint8

// The transports.
const (
	NoTransport Transport = iota // of another executor, which has its own
	Goroutines
	UnixSockets
	TCP
)

func transports() []string { return []string{"", "goroutines", "unix", "tcp"} }

// String returns the spelling in a scenario.
func (t Transport) String() string { return transports()[t] }

// Network selects the network that carries the messages of a real execution.
type Network uint8

// The networks.
const (
	Machine Network = iota // what is there
	Lab                    // namespaces wired as the topology is
)

func networks() []string { return []string{"machine", "lab"} }

// String returns the spelling in a scenario.
func (n Network) String() string { return networks()[n] }

// pick returns the setter of a choice: the place of a name among those of its type, 0 for none.
func pick[T any, C ~uint8](names []string, store func(*T, C)) setter {
	return set(func(t *T, name string) { store(t, C(max(slices.Index(names, name), 0))) })
}
