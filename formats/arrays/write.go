package arrays

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
	"collsim/formats/safetensors"
)

// Write writes arrays into a .npy (one array), .npz or .safetensors. They keep their order; a
// .safetensors has wide elements first, as its readers want them aligned. The same arrays always
// give the same bytes. The file appears when it is complete; a path that is not a regular file is
// written to directly. Errors are *Error.
func Write(path string, arrays []Array) error { return write(path, arrays, false) }

// write does what Write does, and marks the file if marked.
func write(path string, arrays []Array, marked bool) error {
	format, err := formatOf(path)
	if err != nil {
		return err
	}
	ready := make([]Array, len(arrays))
	for i := range arrays {
		if ready[i], err = tensor.Checked(&arrays[i]); err != nil {
			return tensor.In(path, "", err)
		}
		if format == tensor.Safetensors {
			if err := safetensors.Check(&ready[i]); err != nil {
				return tensor.In(path, "", err)
			}
		}
	}
	if err := checkNames(format, ready); err != nil {
		return tensor.In(path, "", err)
	}
	return replace(path, func(w io.Writer) error { return encode(w, format, ready, marked) })
}

// encode writes arrays that were checked.
func encode(w io.Writer, format string, arrays []Array, marked bool) error {
	mark := ""
	if marked {
		mark = software
	}
	switch {
	case format == tensor.NPZ:
		return npy.WriteArchive(w, arrays, mark)
	case format == tensor.Safetensors:
		return safetensors.Write(w, arrays, mark)
	case marked:
		return npy.WriteMarked(w, &arrays[0])
	}
	return npy.Write(w, &arrays[0])
}

// WriteRanks writes the data of each rank so that ReadRanks can read them. An .npz or .safetensors
// has tensors rank0, rank1, …. A path with {rank} gives one file for each rank. A .npy has the rank
// as first axis, which requires equal types and shapes. An Array without Data and Shape is a rank
// without data; a .npy cannot leave one out. The files carry a mark, which Marked finds and other
// readers ignore: they are results, which another run may overwrite.
func WriteRanks(path string, ranks []Array) error {
	format, err := formatOf(path)
	if err != nil {
		return err
	}
	var named []Array
	for r, a := range ranks {
		if a.Data == nil && a.Shape == nil {
			continue
		}
		a.Name = fmt.Sprintf("rank%d", r)
		named = append(named, a)
		if strings.Contains(path, inName) {
			if err := write(fileOf(path, r), []Array{a}, true); err != nil {
				return err
			}
		}
	}
	switch {
	case strings.Contains(path, inName):
		return nil
	case format != tensor.NPY:
		return write(path, named, true)
	case len(named) < len(ranks) || len(ranks) == 0:
		return tensor.In(path, "", tensor.Failed("a .npy cannot leave out ranks, and %d of %d have "+
			"data; .npz or .safetensors can", len(named), len(ranks)))
	}
	stacked, err := stack(named)
	if err != nil {
		return tensor.In(path, "", err)
	}
	return write(path, []Array{stacked}, true)
}

// WriteResults writes arrays under their names, with the mark of WriteRanks.
func WriteResults(path string, list []Array) error { return write(path, list, true) }

// Stack joins arrays of one type and shape, those of all ranks, along a new first axis.
func Stack(ranks []Array) (Array, error) { return stack(ranks) }

// stack joins arrays along a new first axis.
func stack(arrays []Array) (Array, error) {
	var all Array
	for i := range arrays {
		a, err := tensor.Checked(&arrays[i])
		if err != nil {
			return Array{}, err
		}
		if i == 0 {
			all = Array{Type: a.Type, Width: a.Width}
			all.Shape = append([]int64{int64(len(arrays))}, a.Shape...)
			all.Data = make([]byte, 0, len(arrays)*len(a.Data))
		}
		if a.Type != all.Type || a.Width != all.Width || !slices.Equal(a.Shape, all.Shape[1:]) {
			return Array{}, tensor.Failed("%s is %s of %s, %s is %s of %s; a .npy has one shape and type"+
				" for all, .npz and .safetensors do not", arrays[0].Name,
				tensor.ShapeText(arrays[0].Shape), tensor.TypeText(&arrays[0]), a.Name,
				tensor.ShapeText(a.Shape), tensor.TypeText(&a))
		}
		all.Data = append(all.Data, a.Data...)
	}
	return all, nil
}

// checkNames refuses names that the format cannot store.
func checkNames(format string, arrays []Array) error {
	if format == tensor.NPY {
		if len(arrays) != 1 {
			return tensor.Failed("a .npy holds one array, not %d", len(arrays))
		}
		return nil
	}
	seen := map[string]bool{}
	for _, a := range arrays {
		switch {
		case a.Name == "" || format == tensor.Safetensors && a.Name == safetensors.Metadata:
			return tensor.Failed("a tensor cannot be called %q", a.Name)
		case seen[a.Name]:
			return tensor.Failed("two tensors are called %.60q", a.Name)
		case format == tensor.Safetensors && a.Type == 0:
			return tensor.In("", a.Name, tensor.Failed("is void of %s; a .safetensors has types alone",
				tensor.BytesText(int64(a.Width))))
		}
		seen[a.Name] = true
	}
	return nil
}
