package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// TestScripts makes files from text, or takes those of testdata/files, and prints what is read from
// them or the error. The commands:
//
//	file NAME...                              a file that NumPy or safetensors made
//	npy [version=1.0] [data=HEX] [length=N]   the header is the input; length lies about it
//	safetensors [data=HEX] [length=N]         the same
//	npz [ranks=N …]                           each line of input a member: NAME DESCR SHAPE HEX
//
// With ranks=N, and perhaps type=T and counts=(3,-1,…), what Ranks gives is printed.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "file" {
				var out strings.Builder
				for _, arg := range d.CmdArgs {
					if len(arg.Vals) > 0 {
						continue
					}
					all, err := os.ReadFile(filepath.Join("testdata", "files", arg.Key))
					require.NoError(t, err)
					out.WriteString(arg.Key + ": " + show(t, d, arg.Key, all))
				}
				return out.String()
			}
			return show(t, d, "x."+d.Cmd, build(t, d))
		})
	})
}

// build makes the file that a command describes.
func build(t *testing.T, d *datadriven.TestData) []byte {
	elements := unhex(t, argument(t, d, "data", ""))
	length := len(d.Input)
	if d.HasArg("length") {
		d.ScanArgs(t, "length", &length)
	}
	switch d.Cmd {
	case "npy":
		var major, minor byte
		_, err := fmt.Sscanf(argument(t, d, "version", "1.0"), "%d.%d", &major, &minor)
		require.NoError(t, err)
		file := append([]byte(tensor.MagicNPY), major, minor)
		if major == 1 {
			file = binary.LittleEndian.AppendUint16(file, uint16(length))
		} else {
			file = binary.LittleEndian.AppendUint32(file, uint32(length))
		}
		return append(append(file, d.Input...), elements...)
	case "safetensors":
		file := binary.LittleEndian.AppendUint64(nil, uint64(length))
		return append(append(file, d.Input...), elements...)
	case "npz":
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		for line := range strings.Lines(d.Input) {
			words := append(strings.Fields(line), "")
			member, err := w.Create(words[0])
			require.NoError(t, err)
			header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s}",
				words[1], words[2])
			text := append([]byte(tensor.MagicNPY), 1, 0, byte(len(header)), 0)
			_, err = member.Write(append(append(text, header...), unhex(t, words[3])...))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		return file.Bytes()
	}
	t.Fatalf("unknown command %q", d.Cmd)
	return nil
}

// show reads a file, and prints what is in it.
func show(t *testing.T, d *datadriven.TestData, name string, file []byte) string {
	f, err := NewFile(name, bytes.NewReader(file), int64(len(file)), 0)
	if err != nil {
		return err.Error() + "\n"
	}
	defer func() { require.NoError(t, f.Close()) }()
	var arrays []Array
	if d.HasArg("ranks") {
		arrays, err = f.Ranks(wanted(t, d))
	} else {
		arrays, err = readAll(f)
	}
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d of %d\n", len(arrays), len(f.parts))
	for _, a := range arrays {
		out.WriteString(line(a))
	}
	return out.String()
}

func wanted(t *testing.T, d *datadriven.TestData) (w Want) {
	d.ScanArgs(t, "ranks", &w.Ranks)
	if name := argument(t, d, "type", ""); name != "" {
		var err error
		w.Type, err = dtype.Parse(name)
		require.NoError(t, err)
	}
	for _, arg := range d.CmdArgs {
		if arg.Key == "counts" {
			for i := range arg.Vals {
				var n int64
				arg.Scan(t, i, &n)
				w.Counts = append(w.Counts, n)
			}
		}
	}
	return w
}

// line prints an array: name, type, shape, and the bits of its elements.
func line(a Array) string {
	if a.Data == nil {
		return "  nothing\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "  %s %s %s:", strings.TrimSpace(a.Name+" "), tensor.TypeText(&a),
		tensor.ShapeText(a.Shape))
	for i := 0; i < len(a.Data); i += a.Width {
		element := bytes.Clone(a.Data[i : i+a.Width])
		slices.Reverse(element)
		fmt.Fprintf(&out, " %x", element)
	}
	return out.String() + "\n"
}

func readAll(f *File) ([]Array, error) {
	arrays := f.Arrays()
	for i := range arrays {
		var err error
		if arrays[i], err = f.Read(i); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

func argument(t *testing.T, d *datadriven.TestData, key, otherwise string) string {
	if d.HasArg(key) {
		d.ScanArgs(t, key, &otherwise)
	}
	return otherwise
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}
