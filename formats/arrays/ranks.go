package arrays

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
	"collsim/unit"
)

// inName stands for the rank in the name of a file for each rank.
const inName = "{rank}"

// Want describes the data that a caller expects of each rank.
type Want struct {
	Ranks int
	Type  dtype.Type // see Array.As; 0: any type

	// Counts are the elements of each rank, in any shape; nil: any number. A rank with Nothing has
	// no data, such as a receiver of a broadcast: an array for it is ignored. A rank with Any may
	// have any number.
	Counts []int64

	// Limit is the most bytes of a file, unpacked; 1 GiB if it is 0.
	Limit unit.Bytes

	// Name selects an array of a file with several: its first axis is the rank, or it is that of
	// one rank if the path has {rank}. A file without an array of this name is read as if none were
	// selected.
	Name string
	// Whole asks for a single array as it is in the file, without an axis of ranks. Ranks is 1.
	Whole bool
}

// Nothing is the count of a rank without data. Any is that of a rank with any number of elements.
const (
	Nothing = -1
	Any     = -2
)

// ReadRanks returns the data of each rank. They come from tensors rank0, rank1, … of an .npz or
// .safetensors; from a single array (always in a .npy), whose first axis is the rank; or from one
// file for each rank if the path has {rank}. The arrays are named rank0, rank1, …. A rank with
// Nothing gets an Array without Data, with type and shape if the file has one by its name. Types,
// names and counts are checked before elements are read. Errors are *Error.
func ReadRanks(path string, w Want) ([]Array, error) {
	if !strings.Contains(path, inName) {
		f, err := Open(path, w.Limit)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Ranks(w)
	}
	if err := w.check(path); err != nil {
		return nil, err
	}
	if w.Whole {
		return nil, tensor.In(path, "", tensor.Failed("one file is expected, without {rank}: it has the "+
			"whole tensor"))
	}
	arrays := make([]Array, w.Ranks)
	for r := range arrays {
		if w.nothing(r) {
			continue
		}
		a, err := readOnly(fileOf(path, r), w, r)
		if err != nil {
			return nil, err
		}
		arrays[r] = a
	}
	return arrays, nil
}

// readOnly reads the data of a rank from a file with a single array.
func readOnly(path string, w Want, rank int) (Array, error) {
	f, err := Open(path, w.Limit)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	i := f.selected(w.Name)
	if i < 0 {
		return Array{}, tensor.In(path, "", tensor.Failed("holds %s; %s is expected, that of rank %d",
			f.tensorsText(), oneText(w.Name), rank))
	}
	return f.one(i, w, rank)
}

// selected returns the index of the array of a name, or of the only one; −1 if there is neither.
func (f *File) selected(name string) int {
	i := slices.IndexFunc(f.parts, func(p tensor.Part) bool {
		return name != "" && p.Array.Name == name
	})
	if i < 0 && len(f.parts) == 1 {
		return 0
	}
	return i
}

// oneText names the only array of a file that is expected.
func oneText(name string) string {
	if name == "" {
		return "one"
	}
	return fmt.Sprintf("one, or %.40q,", name)
}

// Ranks does what ReadRanks does for an open file.
func (f *File) Ranks(w Want) ([]Array, error) {
	if err := w.check(f.name); err != nil {
		return nil, err
	}
	i := f.selected(w.Name)
	if w.Whole {
		return f.whole(i, w)
	}
	if i >= 0 && f.parts[i].Array.Name == w.Name && w.Name != "" {
		return f.rows(i, w)
	}
	if !slices.ContainsFunc(f.parts, func(p tensor.Part) bool {
		return rankOf(p.Array.Name) >= 0
	}) {
		if i >= 0 {
			return f.rows(i, w)
		}
		return nil, tensor.In(f.name, "", tensor.Failed("holds %s; %s, or %s array whose first"+
			" axis is the rank", f.tensorsText(), ranksText(w.Ranks),
			strings.TrimSuffix(oneText(w.Name), ",")))
	}
	at := make([]int, w.Ranks) // index of each rank's array, plus 1
	for i, p := range f.parts {
		a := p.Array
		r := rankOf(a.Name)
		if r < 0 || r >= w.Ranks {
			return nil, tensor.In(f.name, a.Name, tensor.Failed("is not expected; %s", ranksText(w.Ranks)))
		}
		at[r] = i + 1
	}
	var missing []string
	for r, i := range at {
		if i == 0 && !w.nothing(r) {
			missing = append(missing, fmt.Sprintf("rank%d", r))
		}
	}
	if len(missing) > 0 {
		return nil, tensor.In(f.name, "", tensor.Failed("has no tensor %s; %s",
			listText(missing), ranksText(w.Ranks)))
	}
	return f.named(w, at)
}

// whole reads an array as it is in the file.
func (f *File) whole(i int, w Want) ([]Array, error) {
	if i < 0 {
		return nil, tensor.In(f.name, "", tensor.Failed("holds %s; %s is expected", f.tensorsText(),
			oneText(w.Name)))
	}
	a, err := f.one(i, w, 0)
	return []Array{a}, err
}

// named reads the tensors rank0, rank1, …, after checking all of them.
func (f *File) named(w Want, at []int) ([]Array, error) {
	for r, i := range at {
		if !w.nothing(r) {
			if err := f.suits(f.parts[i-1].Array, w, r); err != nil {
				return nil, err
			}
		}
	}
	arrays := make([]Array, w.Ranks)
	for r, i := range at {
		if w.nothing(r) {
			if i > 0 { // present, though not needed
				arrays[r] = f.parts[i-1].Array
				arrays[r].Data = nil
			}
			continue
		}
		a, err := f.one(i-1, w, r)
		if err != nil {
			return nil, err
		}
		arrays[r] = a
	}
	return arrays, nil
}

// one reads array i of the file as the data of a rank, after checking its type and count.
func (f *File) one(i int, w Want, rank int) (Array, error) {
	if err := f.suits(f.parts[i].Array, w, rank); err != nil {
		return Array{}, err
	}
	a, err := f.readAs(i, w.Type)
	if err != nil {
		return Array{}, err
	}
	return w.give(a, rank), nil
}

// readAs reads array i of the file for use as a type, 0 for its own, and checks that bools are 0
// or 1.
func (f *File) readAs(i int, t dtype.Type) (Array, error) {
	a, err := f.Read(i)
	if err == nil && (t == dtype.Bool || t == 0 && a.Type == dtype.Bool) {
		err = tensor.In(f.name, a.Name, tensor.CheckBools(a.Data))
	}
	return a, err
}

// rows reads an array whose first axis is the rank. The ranks share its memory.
func (f *File) rows(i int, w Want) ([]Array, error) {
	whole := f.parts[i].Array
	if len(whole.Shape) == 0 || whole.Shape[0] != int64(w.Ranks) {
		return nil, tensor.In(f.name, whole.Name, tensor.Failed("has shape %s; its first axis is the "+
			"rank, and %d are expected", tensor.ShapeText(whole.Shape), w.Ranks))
	}
	row := whole
	row.Shape = whole.Shape[1:]
	for r := range w.Ranks {
		if w.nothing(r) {
			continue
		}
		if err := f.suits(row, w, r); err != nil {
			return nil, err
		}
	}
	whole, err := f.readAs(i, w.Type)
	if err != nil {
		return nil, err
	}
	arrays := make([]Array, w.Ranks)
	size := len(whole.Data) / w.Ranks
	for r := range arrays {
		if !w.nothing(r) {
			row.Data = whole.Data[r*size : (r+1)*size : (r+1)*size]
			row.Shape = slices.Clone(whole.Shape[1:])
			arrays[r] = w.give(row, r)
		}
	}
	return arrays, nil
}

// suits checks type and count of an array for a rank.
func (f *File) suits(a Array, w Want, rank int) error {
	if w.Type != 0 {
		if _, err := a.As(w.Type); err != nil {
			return tensor.In(f.name, a.Name, err)
		}
	}
	if w.Counts == nil || w.Counts[rank] == Any || a.Count() == w.Counts[rank] {
		return nil
	}
	if w.Whole {
		return tensor.In(f.name, a.Name, tensor.Failed("has shape %s, a count of %d; a count of %d is "+
			"expected", tensor.ShapeText(a.Shape), a.Count(), w.Counts[rank]))
	}
	return tensor.In(f.name, a.Name, tensor.Failed("gives rank %d shape %s, a count of %d; a count "+
		"of %d is expected", rank, tensor.ShapeText(a.Shape), a.Count(), w.Counts[rank]))
}

// give renames a checked array after its rank.
func (w *Want) give(a Array, rank int) Array {
	if w.Type != 0 {
		as, err := a.As(w.Type)
		if err != nil {
			panic("arrays: an array that suited does not: " + err.Error())
		}
		a = as
	}
	a.Name = fmt.Sprintf("rank%d", rank)
	return a
}

func (w *Want) nothing(rank int) bool { return w.Counts != nil && w.Counts[rank] == Nothing }

// check panics or fails on a Want that is not consistent.
func (w *Want) check(file string) error {
	if w.Ranks < 1 {
		return tensor.In(file, "", tensor.Failed("%d ranks cannot have data; 1 or more are "+
			"expected", w.Ranks))
	}
	if w.Counts != nil && len(w.Counts) != w.Ranks {
		panic(fmt.Sprintf("arrays: %d counts for %d ranks", len(w.Counts), w.Ranks))
	}
	return nil
}

// rankOf returns the rank in a tensor's name, or −1.
func rankOf(name string) int {
	digits, ok := strings.CutPrefix(name, "rank")
	r, err := strconv.Atoi(digits)
	if !ok || err != nil || r < 0 || strconv.Itoa(r) != digits {
		return -1
	}
	return r
}

func fileOf(pattern string, rank int) string {
	return strings.ReplaceAll(pattern, inName, strconv.Itoa(rank))
}

// ranksText names the expected tensors.
func ranksText(n int) string {
	if n == 1 {
		return "rank0 alone is expected"
	}
	return fmt.Sprintf("rank0 … rank%d are expected", n-1)
}

func (f *File) tensorsText() string {
	if len(f.parts) == 0 {
		return "no tensors"
	}
	var names []string
	for _, p := range f.parts {
		names = append(names, fmt.Sprintf("%.40q", p.Array.Name))
	}
	return "tensors " + listText(names)
}

// listText lists at most five names and counts the others.
func listText(names []string) string {
	if more := len(names) - 5; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), more)
	}
	return strings.Join(names, ", ")
}
