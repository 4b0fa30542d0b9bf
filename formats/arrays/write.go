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

// Write puts arrays into a .npy (one array), .npz or .safetensors, in that order (a .safetensors
// has wide elements first, as its readers want them aligned). The same arrays give the same bytes
// always. The file appears when it is complete; what is no ordinary file is written to as it is.
// Errors are *Error.
func Write(path string, arrays []Array) error { return write(path, arrays, false) }

// write is Write, with a mark or without.
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

// WriteRanks writes the data of each rank so that ReadRanks can read them: as rank0, rank1, … into
// an .npz or .safetensors; into one file per rank if {rank} is in the path; into a .npy with the
// rank as first axis, which takes equal types and shapes. An Array without Data and Shape is a rank
// that has nothing; a .npy cannot leave one out. The files have a mark, which Marked finds and no
// reader minds: they are results, and may be replaced by those of another run.
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

// stack makes arrays into one with a new first axis.
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

// checkNames refuses names that the format cannot have.
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
