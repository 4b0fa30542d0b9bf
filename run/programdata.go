package run

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/formats/arrays"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// TensorOutput holds what a tensor of a program has at the end, for the file that its key names: by
// rank, without Data where a rank has none; of a whole tensor, one array.
type TensorOutput struct {
	Of     scenarios.TensorData
	Name   string // of the tensor
	Arrays []arrays.Array
}

// programData holds the data of a program's files.
type programData struct {
	given, theirs reference.Values
	wanted        []string
}

// readData reads the files of a program, as its tensors have their types, shapes and lengths.
func readData(r *runner, result *ProgramResult) (*programData, error) {
	p := result.Point
	if !p.HasData() {
		return nil, nil
	}
	of := result.Lowered.Schedule.Means.Ops
	lengths, err := reference.TensorLengths(result.Lowered.Schedule)
	if err != nil {
		return nil, p.Refuse("program", err.Error(), "")
	}
	data := &programData{given: reference.Values{}, theirs: reference.Values{}}
	for i := range p.TensorData {
		d := &p.TensorData[i]
		name := tensorName(d)
		at := slices.IndexFunc(of.Tensors, func(t schedule.Tensor) bool { return t.Name == name })
		if at < 0 {
			return nil, result.noTensor(d)
		}
		t := &of.Tensors[at]
		if err := r.readTensor(p, d, t, lengths[name], data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// noTensor refuses files of a tensor that the program does not have.
func (result *ProgramResult) noTensor(d *scenarios.TensorData) error {
	key := d.Key("compare")
	for _, one := range []struct{ of, name string }{{"input", d.Input}, {"output", d.Output}} {
		if one.name != "" {
			key = d.Key(one.of)
		}
	}
	text := fmt.Sprintf("there is no tensor %s: no op writes it", tensorName(d))
	if !d.Gradient {
		return result.Point.Refuse(key, text, "a tensor that is given has a shape, or an input")
	}
	why := "no result depends on it by way of floats"
	for _, n := range result.Lowered.Notes {
		if n.Pass == "gradient" && slices.Contains(n.Tensors, d.Tensor) {
			why = n.Why
		}
	}
	return result.Point.Refuse(key, fmt.Sprintf("%s has no gradient: %s", d.Tensor, why), "")
}

// readTensor reads the files of a tensor.
func (r *runner) readTensor(p *scenarios.ProgramPoint, d *scenarios.TensorData, t *schedule.Tensor,
	lengths []int64, to *programData) error {
	switch {
	case d.Input != "" && !t.Role.IsGiven():
		return p.Refuse(d.Key("input"), t.Name+" is written by an op; input is of what is given", "")
	case (d.Output != "" || d.Compare != "") && t.Role == schedule.Given:
		key := map[bool]string{true: "output", false: "compare"}[d.Output != ""]
		return p.Refuse(d.Key(key), t.Name+" is given; output and compare are of what an op writes", "")
	case d.Output != "" && d.Whole && slices.ContainsFunc(lengths, func(n int64) bool {
		return n != t.Shape.Elements()
	}):
		return p.Refuse(d.Key("output"), t.Name+" has other lengths on its ranks, or not all have it; a "+
			"file without placement takes such", "")
	case d.Output != "":
		to.wanted = append(to.wanted, t.Name)
	}
	if t.Role.IsGiven() { // every rank has all of it, whichever overwrite it
		lengths = slices.Repeat([]int64{t.Shape.Elements()}, p.Topology.Ranks)
	}
	for _, one := range []struct {
		key, name string
		to        reference.Values
	}{{"input", d.Input, to.given}, {"compare", d.Compare, to.theirs}} {
		if one.name == "" {
			continue
		}
		values, err := tensorValues(r.s.arrays, one.name, d, t, lengths)
		if err != nil {
			return p.Refuse(d.Key(one.key), err.Error(), "")
		}
		one.to[t.Name] = values
	}
	return nil
}

// tensorValues reads what each rank has of a tensor: so many elements.
func tensorValues(a *arrayFiles, file string, d *scenarios.TensorData, t *schedule.Tensor,
	lengths []int64) ([][]byte, error) {
	ranks := len(lengths)
	w := tensorWant(d, ranks)
	w.Type = t.Type
	if !d.Whole {
		w.Counts = slices.Clone(lengths)
		for rank, n := range lengths {
			if n == 0 {
				w.Counts[rank] = arrays.Nothing
			}
		}
	}
	list, err := a.of(file, w)
	if err != nil {
		return nil, err
	}
	if d.Whole {
		return cut(a.resolve(file), d, t, list[0], lengths)
	}
	values := make([][]byte, ranks)
	for rank, one := range list {
		if values[rank] = one.Data; lengths[rank] < t.Shape.Elements() {
			continue // its length along an axis is its own
		}
		if !slices.Equal(one.Shape, t.Shape) {
			return nil, fmt.Errorf("%s: rank %d has shape %v there; %s has shape %v", a.resolve(file), rank,
				collective.Shape(one.Shape), t.Name, t.Shape)
		}
	}
	return values, nil
}

// cut gives every rank its part of a whole tensor.
func cut(file string, d *scenarios.TensorData, t *schedule.Tensor, whole arrays.Array,
	lengths []int64) ([][]byte, error) {
	ranks := len(lengths)
	part, err := d.PartOf(whole.Shape, ranks)
	if err != nil {
		return nil, fmt.Errorf("%s: %s %w", file, t.Name, err)
	}
	if !slices.Equal(part, t.Shape) {
		return nil, fmt.Errorf("%s: %s has shape %v there, %v on a rank; it has shape %v in the program",
			file, t.Name, collective.Shape(whole.Shape), part, t.Shape)
	}
	values := make([][]byte, ranks)
	for rank, place := range placesOf(d, ranks) {
		if place < 0 && t.Role.IsGiven() {
			return nil, fmt.Errorf("rank %d is in no team of its group: %s is given on every rank", rank,
				t.Name)
		}
		if lengths[rank] == 0 || place < 0 {
			continue
		}
		if lengths[rank] != part.Elements() {
			return nil, fmt.Errorf("%s has other lengths on its ranks; files without placement take such",
				t.Name)
		}
		values[rank] = whole.Data
		if d.Axis >= 0 {
			values[rank] = piece(&whole, d.Axis, place, d.TeamSize(ranks))
		}
	}
	return values, nil
}

// placesOf returns the place of each rank in its team, −1 of a rank that is in none.
func placesOf(d *scenarios.TensorData, ranks int) []int {
	places := make([]int, ranks)
	if d.Teams == nil {
		for rank := range places {
			places[rank] = rank
		}
		return places
	}
	for rank := range places {
		places[rank] = -1
	}
	for _, team := range d.Teams {
		for place, rank := range team {
			places[rank] = place
		}
	}
	return places
}

// piece returns the place-th of n equal parts along an axis.
func piece(whole *arrays.Array, axis, place, n int) []byte {
	outer := collective.Shape(whole.Shape[:axis]).Elements()
	row := collective.Shape(whole.Shape[axis:]).Elements() * int64(whole.Width)
	size := row / int64(n)
	part := make([]byte, 0, outer*size)
	for i := range outer {
		part = append(part, whole.Data[i*row+int64(place)*size:][:size]...)
	}
	return part
}

// joined puts the parts of a team together to a whole tensor: what piece has taken apart.
func joined(parts [][]byte, shape collective.Shape, axis int, width int64) []byte {
	outer, size := shape[:axis].Elements(), shape[axis:].Elements()*width
	whole := make([]byte, 0, outer*size*int64(len(parts)))
	for i := range outer {
		for _, part := range parts {
			whole = append(whole, part[i*size:][:size]...)
		}
	}
	return whole
}

// outputsOf returns what the files of outputs are to hold. Of a whole tensor that is not the same
// for all who have it there is no one file.
func (result *ProgramResult) outputsOf(values reference.Values) (list []TensorOutput, err error) {
	p, of := result.Point, result.Lowered.Schedule.Means.Ops
	for _, d := range p.TensorData {
		if d.Output == "" {
			continue
		}
		out := TensorOutput{Of: d, Name: tensorName(&d)}
		if a, b := unlike(&d, values[out.Name]); b > a {
			return nil, p.Refuse(d.Key("output"), fmt.Sprintf("ranks %d and %d have different elements of "+
				"%s where its placement has the same", a, b, out.Name), "without placement a file has "+
				"those of every rank")
		}
		at := slices.IndexFunc(of.Tensors, func(t schedule.Tensor) bool { return t.Name == out.Name })
		out.Arrays = arraysOf(&d, &of.Tensors[at], values[out.Name])
		list = append(list, out)
	}
	return list, nil
}

// unlike returns two ranks that should have the same part of a whole tensor and do not; 0, 0 if
// there are none.
func unlike(d *scenarios.TensorData, values [][]byte) (a, b int) {
	if !d.Whole {
		return 0, 0
	}
	first := map[int]int{} // rank by part
	for rank, place := range placesOf(d, len(values)) {
		if d.Axis < 0 {
			place = min(place, 0)
		}
		if place < 0 {
			continue
		}
		one, known := first[place]
		if !known {
			first[place] = rank
		} else if string(values[one]) != string(values[rank]) {
			return one, rank
		}
	}
	return 0, 0
}

// arraysOf returns the arrays of a tensor for a file: of every rank, or of the first team's whole.
func arraysOf(d *scenarios.TensorData, t *schedule.Tensor, values [][]byte) (list []arrays.Array) {
	array := func(shape collective.Shape, data []byte) arrays.Array {
		return arrays.Array{Name: t.Name, Type: t.Type, Width: t.Type.Width(), Shape: shape, Data: data}
	}
	if !d.Whole {
		for _, data := range values {
			if data == nil {
				list = append(list, arrays.Array{})
				continue
			}
			shape := slices.Clone(t.Shape)
			if own := int64(len(data)) / int64(t.Type.Width()); own != shape.Elements() {
				shape[0] = own / shape[1:].Elements()
			}
			list = append(list, array(shape, data))
		}
		return list
	}
	team := make([]int, len(values))
	for rank := range team {
		team[rank] = rank
	}
	if d.Teams != nil {
		team = d.Teams[0]
	}
	if d.Axis < 0 {
		return []arrays.Array{array(t.Shape, values[team[0]])}
	}
	var parts [][]byte
	for _, rank := range team {
		parts = append(parts, values[rank])
	}
	shape := slices.Clone(t.Shape)
	shape[d.Axis] *= int64(len(team))
	return []arrays.Array{array(shape, joined(parts, t.Shape, d.Axis, int64(t.Type.Width())))}
}

// tooMuchData refuses a program with data whose numbers are not computed at its own size.
func (result *ProgramResult) tooMuchData(why string) error {
	p := result.Point
	return p.Refuse("check.memory", fmt.Sprintf("a program with data is computed at its own size: %s",
		why), fmt.Sprintf("check.memory is %v", unit.Bytes(p.Check.Memory)))
}
