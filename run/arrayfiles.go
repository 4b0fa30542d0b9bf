package run

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/program"
	"collsim/scenarios"
	"collsim/unit"
)

// arrayFiles reads data files, each once.
type arrayFiles struct {
	read func(path string, w arrays.Want) ([]arrays.Array, error)
	// beside returns a file that is embedded beside the scenario, nil if there is none.
	beside  func(name string) []byte
	resolve func(string) string
	limit   unit.Bytes
	files   []arrayFile
}

// arrayFile holds the arrays that were read from a file, or the error, and the want they were
// checked against.
type arrayFile struct {
	path  string
	want  arrays.Want
	ranks []arrays.Array
	err   error
}

// of returns the data of each rank in a file. It reads the file once for each want.
func (a *arrayFiles) of(name string, w arrays.Want) ([]arrays.Array, error) {
	path := a.resolve(name)
	for _, f := range a.files {
		if f.path == path && f.want.Type == w.Type && f.want.Name == w.Name &&
			f.want.Whole == w.Whole && slices.Equal(f.want.Counts, w.Counts) {
			return f.ranks, f.err
		}
	}
	w.Limit = a.limit
	f := arrayFile{path: path, want: w}
	if text := a.beside(name); text != nil {
		f.ranks, f.err = readBytes(name, text, w)
	} else {
		f.ranks, f.err = a.read(path, w)
	}
	a.files = append(a.files, f)
	return f.ranks, f.err
}

// readBytes reads what each rank has of a file that is in memory.
func readBytes(name string, text []byte, w arrays.Want) ([]arrays.Array, error) {
	f, err := arrays.NewFile(name, bytes.NewReader(text), int64(len(text)), w.Limit)
	if err != nil {
		return nil, err
	}
	return f.Ranks(w)
}

// beside returns a function for the files that are embedded beside an example.
func beside(scenario string) func(name string) []byte {
	return func(name string) []byte {
		if !strings.HasPrefix(scenario, "example:") {
			return nil
		}
		text, err := scenarios.ExampleFile(name)
		if err != nil {
			return nil
		}
		return text
	}
}

// tensorName returns the name of the tensor that files are of: their table's, or its gradient's.
func tensorName(d *scenarios.TensorData) string {
	if d.Gradient {
		return program.GradientName(d.Tensor)
	}
	return d.Tensor
}

// tensorShape returns the shape and type of a rank's part of a given tensor, as its file has them.
func (a *arrayFiles) tensorShape(d *scenarios.TensorData, ranks int) (collective.Shape,
	dtype.Type, error) {
	list, err := a.of(d.Input, tensorWant(d, ranks))
	if err != nil {
		return nil, 0, err
	}
	first := list[0]
	for rank, one := range list {
		if !slices.Equal(one.Shape, first.Shape) || one.Type != first.Type {
			return nil, 0, fmt.Errorf("%s: rank %d has shape %v there, rank 0 %v; a given tensor is "+
				"alike on all ranks", a.resolve(d.Input), rank, collective.Shape(one.Shape),
				collective.Shape(first.Shape))
		}
	}
	if first.Type == 0 {
		return nil, 0, fmt.Errorf("%s has bits without a type; dtype is expected beside it",
			a.resolve(d.Input))
	}
	part, err := d.PartOf(first.Shape, ranks)
	if err != nil {
		return nil, 0, fmt.Errorf("%s %w", a.resolve(d.Input), err)
	}
	return part, first.Type, nil
}

// tensorWant returns what is expected of a tensor's file, as far as the scenario says.
func tensorWant(d *scenarios.TensorData, ranks int) arrays.Want {
	w := arrays.Want{Ranks: ranks, Name: tensorName(d), Whole: d.Whole}
	if d.Whole {
		w.Ranks = 1
	}
	return w
}
