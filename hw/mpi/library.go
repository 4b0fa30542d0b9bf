package mpi

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
)

// A library holds the functions and handles of Open MPI. In its ABI (mpi.h), handles are addresses
// of objects with symbols, a request is a pointer, and a status has 24 bytes.
type library struct {
	handle    uintptr
	functions map[string]uintptr
	objects   map[string]uintptr
	out       *outs
	rank      int  // for errors
	tools     bool // MPI's tools interface is initialized
}

// outs is memory for the results of C functions. It is on the heap, since Go may move a goroutine's
// stack.
type outs struct {
	number, flag int32
	pointer      uintptr
	status       status
	text         [512]byte
}

// A status is an MPI_Status. Source, tag, error and cancellation are unused here; a private word
// counts bytes.
type status struct {
	_     [4]int32
	bytes uint64
}

// Constants of Open MPI's mpi.h.
const (
	funneled  = 1 // MPI_THREAD_FUNNELED
	undefined = -32766
	inPlace   = uintptr(1) // MPI_IN_PLACE
)

// functionNames lists the functions that this package calls.
func functionNames() []string {
	return []string{"MPI_Get_library_version", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank",
		"MPI_Comm_size", "MPI_Comm_split", "MPI_Comm_free", "MPI_Comm_set_errhandler",
		"MPI_Error_string", "MPI_Isend", "MPI_Irecv", "MPI_Test", "MPI_Iprobe", "MPI_Barrier",
		"MPI_Bcast", "MPI_Allreduce", "MPI_Reduce",
		"MPI_Allgather", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Alltoall",
		"MPI_Gather", "MPI_Scatter", "MPI_T_init_thread", "MPI_T_cvar_get_index",
		"MPI_T_cvar_handle_alloc", "MPI_T_cvar_handle_free", "MPI_T_cvar_write"}
}

// objectNames lists the handles that this package uses.
func objectNames() []string {
	return []string{"ompi_mpi_comm_world", "ompi_mpi_errors_return", "ompi_mpi_byte",
		"ompi_mpi_float", "ompi_mpi_double", "ompi_mpi_int8_t", "ompi_mpi_int16_t",
		"ompi_mpi_int32_t", "ompi_mpi_int64_t", "ompi_mpi_uint8_t", "ompi_mpi_uint16_t",
		"ompi_mpi_uint32_t", "ompi_mpi_uint64_t", "ompi_mpi_op_sum", "ompi_mpi_op_prod",
		"ompi_mpi_op_min", "ompi_mpi_op_max", "ompi_mpi_c_bool", "ompi_mpi_c_float_complex",
		"ompi_mpi_c_double_complex", "ompi_mpi_op_land", "ompi_mpi_op_lor", "ompi_mpi_op_lxor",
		"ompi_mpi_op_band", "ompi_mpi_op_bor", "ompi_mpi_op_bxor"}
}

// load loads the library and looks up its symbols.
func load(configured string) (*library, error) {
	l := &library{functions: map[string]uintptr{}, objects: map[string]uintptr{}, out: &outs{}}
	var tried []string
	for _, name := range libraryNames(configured) {
		handle, err := open(name)
		if err == nil {
			l.handle = handle
			break
		}
		tried = append(tried, err.Error())
	}
	if l.handle == 0 {
		return nil, &hw.Missing{What: "MPI library", Why: strings.Join(tried, "; "),
			Get: get + ", or name it by " + libraryVariable}
	}
	for _, kind := range []struct {
		names []string
		into  map[string]uintptr
	}{{functionNames(), l.functions}, {objectNames(), l.objects}} {
		for _, name := range kind.names {
			at, err := symbol(l.handle, name)
			if err != nil {
				return nil, &hw.Missing{What: "Open MPI", Why: err.Error(), Get: get}
			}
			kind.into[name] = at
		}
	}
	return l, nil
}

// call calls a function and returns an error for any result but success.
func (l *library) call(name string, args ...uintptr) error {
	if code := invoke(l.functions[name], args...); code != 0 {
		return l.failure(name, code)
	}
	return nil
}

// failure returns the error of a result code, with the library's text.
func (l *library) failure(name string, code int32) error {
	e := &hw.Error{Call: name, Code: fmt.Sprint(code), Rank: l.rank, Lane: -1, Step: -1}
	if strings.HasPrefix(name, "MPI_T_") {
		return e
	}
	o := l.out
	if invoke(l.functions["MPI_Error_string"], uintptr(code), address(&o.text[0]),
		address(&o.number)) == 0 {
		code, text, _ := strings.Cut(string(o.text[:o.number]), ": ")
		e.Code, e.Text = code, text
	}
	return e
}

// address returns the address of a variable. REQUIRES: the variable is on the heap.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// memory returns the address of bytes; 0 for an empty slice.
func memory(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return address(&b[0])
}

// version returns the library's name and version.
func (l *library) version() (string, error) {
	n := &l.out.number
	err := l.call("MPI_Get_library_version", address(&l.out.text[0]), address(n))
	text, _, _ := bytes.Cut(l.out.text[:*n], []byte(","))
	return strings.TrimRight(string(text), "\x00"), err
}

// begin initializes the library and makes it return errors. It returns the rank of this process and
// the number of ranks.
func (l *library) begin() (rank, ranks int, err error) {
	o, world := l.out, l.objects["ompi_mpi_comm_world"]
	if err := l.call("MPI_Init_thread", 0, 0, funneled, address(&o.number)); err != nil {
		return 0, 0, err
	}
	if err := l.returnErrors(world); err != nil {
		return 0, 0, err
	}
	if err := l.call("MPI_Comm_rank", world, address(&o.number)); err != nil {
		return 0, 0, err
	}
	l.rank = int(o.number)
	err = l.call("MPI_Comm_size", world, address(&o.number))
	return l.rank, int(o.number), err
}

// returnErrors makes errors on a communicator return codes instead of ending the process.
func (l *library) returnErrors(comm uintptr) error {
	return l.call("MPI_Comm_set_errhandler", comm, l.objects["ompi_mpi_errors_return"])
}

// split creates a communicator of the first ranks; it returns 0 on other ranks. All ranks must call
// it.
func (l *library) split(ranks int) (comm uintptr, err error) {
	color := 0
	if l.rank >= ranks {
		color = undefined
	}
	err = l.call("MPI_Comm_split", l.objects["ompi_mpi_comm_world"], uintptr(color),
		uintptr(l.rank), address(&l.out.pointer))
	if err != nil || color == undefined {
		return 0, err
	}
	comm = l.out.pointer
	return comm, l.returnErrors(comm)
}

// free frees a communicator.
func (l *library) free(comm uintptr) error {
	l.out.pointer = comm
	return l.call("MPI_Comm_free", address(&l.out.pointer))
}

// set writes one of Open MPI's integer variables through MPI's tools interface. The interface is
// initialized at first use only: Open MPI then opens all its components, and one of them takes 200
// ms (see components).
func (l *library) set(name string, value int) error {
	o := l.out
	if !l.tools {
		if err := l.call("MPI_T_init_thread", funneled, address(&o.number)); err != nil {
			return err
		}
		l.tools = true
	}
	copy(o.text[:], name+"\x00")
	err := l.call("MPI_T_cvar_get_index", address(&o.text[0]), address(&o.number))
	if err == nil {
		index := o.number
		err = l.call("MPI_T_cvar_handle_alloc", uintptr(index), 0, address(&o.pointer),
			address(&o.number))
	}
	if err == nil {
		o.number = int32(value)
		err = l.call("MPI_T_cvar_write", o.pointer, address(&o.number))
		if freed := l.call("MPI_T_cvar_handle_free", address(&o.pointer)); err == nil {
			err = freed
		}
	}
	if e, ok := err.(*hw.Error); ok {
		e.Text = fmt.Sprintf("variable %s = %d", name, value)
	}
	return err
}

// datatype returns the library's type for a collective's elements, and how many of it an element
// takes. A collective that only moves data may have any type; it is sent as bytes.
func (l *library) datatype(spec *collective.Spec) (handle uintptr, each int64, err error) {
	names := map[dtype.Type]string{dtype.Float32: "float", dtype.Float64: "double",
		dtype.Bool: "c_bool", dtype.Complex64: "c_float_complex", dtype.Complex128: "c_double_complex",
		dtype.Int8: "int8_t", dtype.Int16: "int16_t", dtype.Int32: "int32_t", dtype.Int64: "int64_t",
		dtype.Uint8: "uint8_t", dtype.Uint16: "uint16_t", dtype.Uint32: "uint32_t",
		dtype.Uint64: "uint64_t"}
	if name, ok := names[spec.Type]; ok {
		return l.objects["ompi_mpi_"+name], 1, nil
	}
	if spec.Kind.Reduces() {
		return 0, 0, hw.Refuse("%v: MPI has no such type to reduce", spec.Type)
	}
	return l.objects["ompi_mpi_byte"], int64(spec.Type.Width()), nil
}

// operator returns the handle of an operator, for elements of a type: MPI's and, or and xor of
// bools are logical, those of integers bitwise.
func (l *library) operator(op collective.Op, t dtype.Type) (uintptr, error) {
	names := map[collective.Op]string{collective.Sum: "sum", collective.Prod: "prod",
		collective.Min: "min", collective.Max: "max", collective.And: "band", collective.Or: "bor",
		collective.Xor: "bxor"}
	if t == dtype.Bool {
		names = map[collective.Op]string{collective.And: "land", collective.Or: "lor",
			collective.Xor: "lxor"}
	}
	if name, ok := names[op]; ok {
		return l.objects["ompi_mpi_op_"+name], nil
	}
	return 0, hw.Refuse("MPI has no operator %v", op)
}
