package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// Check returns an error for an array whose type the format lacks.
func Check(a *tensor.Array) error {
	if a.Type == dtype.Complex128 {
		return tensor.In("", a.Name, tensor.Failed("is of complex128, which a .safetensors cannot "+
			"have; .npy or .npz can"))
	}
	return nil
}

// Write writes checked arrays, wide elements first, as readers want them aligned. It pads the
// header so that elements begin at a multiple of 8 bytes. software, if not empty, is an entry of
// the metadata, which come first.
func Write(w io.Writer, arrays []tensor.Array, software string) error {
	arrays = slices.Clone(arrays)
	slices.SortStableFunc(arrays, func(a, b tensor.Array) int { return b.Width - a.Width })
	var header bytes.Buffer
	at, entries := 0, 0
	if software != "" {
		header.WriteString(Made(software))
		entries++
	}
	for _, a := range arrays {
		name, err := json.Marshal(a.Name)
		if err != nil {
			return err
		}
		shape := strings.Trim(strings.ReplaceAll(tensor.ShapeText(a.Shape), " ", ""), "(),")
		fmt.Fprintf(&header, `%c%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`,
			"{,"[min(entries, 1)], name, nameOfType(a.Type), shape, at, at+len(a.Data))
		at += len(a.Data)
		entries++
	}
	if entries == 0 {
		header.WriteByte('{')
	}
	header.WriteByte('}')
	header.WriteString(strings.Repeat(" ", (8-header.Len()%8)%8))
	length := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	if _, err := w.Write(append(length, header.Bytes()...)); err != nil {
		return err
	}
	for _, a := range arrays {
		if _, err := w.Write(a.Data); err != nil {
			return err
		}
	}
	return nil
}

// Made returns the beginning of a header that names software as its writer.
func Made(software string) string { return `{"` + Metadata + `":{"software":"` + software + `"}` }

func nameOfType(t dtype.Type) string {
	for _, n := range names() {
		if n.dtype == t {
			return n.name
		}
	}
	panic("safetensors: there is no name for " + t.String())
}
