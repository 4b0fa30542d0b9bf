package nccl

import (
	"fmt"
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/unit"
)

// A library holds the functions of NCCL (nccl.h), which take integers, pointers, and an id of 128
// bytes by value.
type library struct {
	*loaded
	out *outs
}

// A uniqueID is an ncclUniqueId, in words.
type uniqueID [128 / 8]uint64

// simInfo is an ncclSimInfo_t, initialized as by NCCL_SIM_INFO_INITIALIZER.
type simInfo struct {
	size           uint64
	magic, version uint32
	estimate       float32 // microseconds; −1 if NCCL has no prediction
	_              uint32
}

const simMagic = 0x74685283

// Constants of nccl.h; a test compares them with the header.
const (
	success       = 0
	inProgress    = 7
	hostImmediate = 1 // ncclScalarHostImmediate
)

// codeNames lists the values of ncclResult_t by number. ncclTimeout exists since 2.30.
func codeNames() []string {
	return []string{"ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
		"ncclInvalidArgument", "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress", "ncclTimeout"}
}

// A typeNumber is a value of ncclDataType_t.
type typeNumber struct {
	typ    dtype.Type
	name   string
	number uintptr
}

// typeNumbers lists the data types of NCCL.
func typeNumbers() []typeNumber {
	return []typeNumber{{dtype.Int8, "ncclInt8", 0}, {dtype.Uint8, "ncclUint8", 1},
		{dtype.Int32, "ncclInt32", 2}, {dtype.Uint32, "ncclUint32", 3}, {dtype.Int64, "ncclInt64", 4},
		{dtype.Uint64, "ncclUint64", 5}, {dtype.Float16, "ncclFloat16", 6},
		{dtype.Float32, "ncclFloat32", 7}, {dtype.Float64, "ncclFloat64", 8},
		{dtype.BFloat16, "ncclBfloat16", 9}, {dtype.Float8E4M3, "ncclFloat8e4m3", 10},
		{dtype.Float8E5M2, "ncclFloat8e5m2", 11}}
}

// An operatorNumber is a value of ncclRedOp_t. PremulSum has none: communicators create it.
type operatorNumber struct {
	op     collective.Op
	name   string
	number uintptr
}

// operatorNumbers lists the operators of NCCL.
func operatorNumbers() []operatorNumber {
	return []operatorNumber{{collective.Sum, "ncclSum", 0}, {collective.Prod, "ncclProd", 1},
		{collective.Max, "ncclMax", 2}, {collective.Min, "ncclMin", 3}, {collective.Avg, "ncclAvg", 4}}
}

// theLibrary describes NCCL.
func theLibrary() *wanted {
	return &wanted{what: "NCCL", variable: ncclVariable, files: []string{"libnccl.so.2", "libnccl.so"},
		functions: []string{"ncclGetVersion", "ncclGetUniqueId", "ncclGetErrorString",
			"ncclGetLastError", "ncclGroupStart", "ncclGroupEnd", "ncclCommInitRank", "ncclCommInitAll",
			"ncclCommDestroy", "ncclCommGetAsyncError", "ncclRedOpCreatePreMulSum",
			"ncclRedOpDestroy", "ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclAllGather",
			"ncclReduceScatter", "ncclSend", "ncclRecv"},
		get: "install NCCL 2.13 or later (pip install nvidia-nccl-cu12, or -cu13, as the driver is: " +
			"the file is nvidia/nccl/lib/libnccl.so.2; Debian: apt install libnccl2)"}
}

// loadLibrary loads NCCL.
func loadLibrary(configured string) (*library, error) {
	l, err := theLibrary().load(configured)
	if err != nil {
		return nil, err
	}
	return &library{loaded: l, out: &outs{}}, nil
}

// version returns the library's version, such as "NCCL 2.30.7". It identifies the stand-in.
func (l *library) version() (string, error) {
	if at, err := symbol(l.handle, "collsim_standin"); err == nil && at != 0 {
		return "stand-in: not NCCL", nil
	}
	err := l.call(-1, 0, "ncclGetVersion", address(&l.out.number))
	major, minor := l.out.number/10000, l.out.number/100%100
	return fmt.Sprintf("NCCL %d.%d.%d", major, minor, l.out.number%100), err
}

// failure returns the error of a result code, for a rank; −1 is none.
func (l *library) failure(call string, code int32, rank int, comm uintptr) *hw.Error {
	e := &hw.Error{Call: call, Code: fmt.Sprint(code), Rank: rank, Lane: -1, Step: -1,
		Text: l.text("ncclGetErrorString", uintptr(code))}
	if names := codeNames(); code >= 0 && int(code) < len(names) {
		e.Code = names[code]
	}
	if last := l.text("ncclGetLastError", comm); last != "" {
		e.Text += ": " + last
	}
	return e
}

// call calls a function for a rank, and returns an error for any result but success.
func (l *library) call(rank int, comm uintptr, name string, args ...uintptr) error {
	if code := l.code(name, args...); code != success {
		return l.failure(name, code, rank, comm)
	}
	return nil
}

// groupEstimate ends a group of calls without executing it, and returns NCCL's prediction of its
// time. It returns 0 if there is none, or if the library is older than NCCL 2.22.
func (l *library) groupEstimate() unit.Time {
	const simulate = "ncclGroupSimulateEnd"
	s := &l.out.sim
	*s = simInfo{size: uint64(unsafe.Sizeof(*s)), magic: simMagic, estimate: -1}
	if l.code("ncclGetVersion", address(&l.out.number)) != success {
		return 0
	}
	s.version = uint32(l.out.number)
	if l.code(simulate, address(s)) != success || !(s.estimate > 0 && s.estimate < 1e12) {
		return 0
	}
	return unit.Time(float64(s.estimate) * float64(unit.Microsecond))
}

// newID creates the id of a communicator. A thread of this process serves its ranks, so the process
// must live until they have joined.
func (l *library) newID() (*uniqueID, error) {
	id := &l.out.id
	return id, l.call(-1, 0, "ncclGetUniqueId", address(&id[0]))
}

// asynchronous returns the error that a communicator has met since the previous call, nil if none.
func (l *library) asynchronous(rank int, comm uintptr) error {
	err := l.call(rank, comm, "ncclCommGetAsyncError", comm, address(&l.out.number))
	if code := l.out.number; err == nil && code != success && code != inProgress {
		return l.failure("asynchronous", code, rank, comm)
	}
	return err
}

// datatype returns NCCL's type for a collective's elements, and how many of it an element takes. A
// collective that only moves data may have any type; it is sent as bytes.
func datatype(spec *collective.Spec) (number uintptr, each int64, err error) {
	for _, t := range typeNumbers() {
		if t.typ == spec.Type {
			return t.number, 1, nil
		}
	}
	if spec.Kind.Reduces() {
		if spec.Type.IsComplex() {
			return 0, 0, hw.Refuse("%v: NCCL has no such type to reduce; torch gives it twice as many of %v",
				spec.Type, spec.Type.Component())
		}
		return 0, 0, hw.Refuse("%v: NCCL has no such type to reduce", spec.Type)
	}
	return typeNumbers()[1].number, int64(spec.Type.Width()), nil
}

// functionOf returns NCCL's function for a collective, or the reason why NCCL has none.
func functionOf(s *collective.Spec) (name string, err error) {
	names := map[collective.Kind]string{collective.AllReduce: "ncclAllReduce",
		collective.AllGather: "ncclAllGather", collective.ReduceScatter: "ncclReduceScatter",
		collective.Broadcast: "ncclBroadcast", collective.Reduce: "ncclReduce",
		collective.Gather: "ncclGather", collective.Scatter: "ncclScatter",
		collective.AllToAll: "ncclAlltoAll", collective.AllToAllV: "ncclSend",
		collective.SendRecv: "ncclSend"}
	name, ok := names[s.Kind]
	switch {
	case s.Kind == collective.Custom:
		return "", hw.Refuse("NCCL does whole collectives, not the steps of a schedule")
	case !ok:
		return "", hw.Refuse("NCCL has no %v", s.Kind)
	case s.InPlace && (s.Kind == collective.AllToAll || s.Kind == collective.SendRecv):
		return "", hw.Refuse("NCCL has no %v in place", s.Kind)
	case s.Op >= collective.And:
		return "", hw.Refuse("NCCL has no operator %v", s.Op)
	case s.Op == collective.Avg && s.Avg == collective.AvgPost && s.Type.IsFloat():
		return "", hw.Refuse("NCCL divides floats before the sum, not after it")
	}
	_, _, err = datatype(s)
	return name, err
}
