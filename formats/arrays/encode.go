package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// encode writes arrays that were checked.
func encode(w io.Writer, format string, arrays []Array) error {
	switch format {
	case npz:
		return encodeNPZ(w, arrays)
	case safetensors:
		return encodeSafetensors(w, arrays)
	}
	return encodeNPY(w, &arrays[0])
}

func encodeNPY(w io.Writer, a *Array) error {
	if _, err := w.Write(npyText(a)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}

// encodeNPZ stores members: what deflate makes of them depends on its version. Their time is the
// first that zip can express, as in NumPy.
func encodeNPZ(w io.Writer, arrays []Array) error {
	archive := zip.NewWriter(w)
	for i := range arrays {
		member, err := archive.CreateHeader(&zip.FileHeader{
			Name:     arrays[i].Name + npy,
			Method:   zip.Store,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return err
		}
		if err := encodeNPY(member, &arrays[i]); err != nil {
			return err
		}
	}
	return archive.Close()
}

// encodeSafetensors pads the header so that elements begin at a multiple of 8 bytes.
func encodeSafetensors(w io.Writer, arrays []Array) error {
	arrays = slices.Clone(arrays)
	slices.SortStableFunc(arrays, func(a, b Array) int { return b.Width - a.Width })
	var header bytes.Buffer
	at := 0
	for i, a := range arrays {
		name, err := json.Marshal(a.Name)
		if err != nil {
			return err
		}
		shape := strings.Trim(strings.ReplaceAll(shapeText(a.Shape), " ", ""), "(),")
		fmt.Fprintf(&header, `%c%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}`,
			"{,"[min(i, 1)], name, a.safetensorsName(), shape, at, at+len(a.Data))
		at += len(a.Data)
	}
	if len(arrays) == 0 {
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

func (a *Array) safetensorsName() string {
	for _, n := range safetensorsNames() {
		if n.dtype == a.Type {
			return n.name
		}
	}
	panic("arrays: a .safetensors has no name for " + a.Type.String())
}
