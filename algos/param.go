package algos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/internal/nearest"
	"collsim/unit"
)

// maxTiles bounds the tiles of a block: each is a round, and rounds are counted in 32 bits.
const maxTiles = 1 << 20

// segmented returns the parameter of algorithms that pipeline tiles of a block.
func segmented(usual string) []Param {
	return []Param{{Name: "segment", Value: usual, Tries: []string{"64KiB", "512KiB", "4MiB"},
		About: "the size of the pieces that follow one another, in bytes; the last may be shorter"}}
}

// AsSwitch is a parameter value that stands for a property of the node's switch. It becomes false
// if Options.NoMulticast says that no switch multicasts and reduces; otherwise it stays.
const AsSwitch = "switch"

// AsNetwork is a parameter value that stands for a property of the switches between nodes. It
// becomes false if Options.NoAggregation says that none multicasts and reduces; otherwise it stays.
const AsNetwork = "network"

// AsMachine is a parameter value that stands for Options.Machine.
const AsMachine = "device"

// AsEnvironment is a parameter value that stands for Options.Environment.
const AsEnvironment = "scenario"

// AsVersion is a parameter value that stands for Options.Version, or the newest version known.
const AsVersion = "newest"

// AsTuner is a parameter value that stands for Options.Tuner.
const AsTuner = "file"

// Parameter values that stand for Options.Shape, the second only where all of its sizes are even.
const (
	AsShape     = "shape"
	AsEvenShape = "even-shape"
)

// isEven reports whether all sizes of a shape, but for 1, are even.
func isEven(shape string) bool {
	return !slices.ContainsFunc(strings.Split(shape, "x"), func(size string) bool {
		return size != "1" && strings.ContainsAny(size[max(len(size)-1, 0):], "13579")
	})
}

// Param returns the value of a parameter: the given one, else the default; "" if the algorithm does
// not have it. Values that stand for options (AsSwitch, "node", …) are replaced by them.
func (a Algorithm) Param(name string, o Options) string {
	for _, list := range [][]Param{o.Params, a.Params} {
		for _, p := range list {
			switch {
			case p.Name == name && p.Value == perNode && o.PerNode > 0:
				return strconv.Itoa(o.PerNode)
			case p.Name == name && p.Value == AsSwitch && o.NoMulticast:
				return "false"
			case p.Name == name && p.Value == AsNetwork && o.NoAggregation:
				return "false"
			case p.Name == name && p.Value == AsMachine && o.Machine != "":
				return o.Machine
			case p.Name == name && o.Shape != "" &&
				(p.Value == AsShape || p.Value == AsEvenShape && isEven(o.Shape)):
				return o.Shape
			case p.Name == name && p.Value == AsVersion && o.Version != "":
				return o.Version
			case p.Name == name && p.Value == AsEnvironment:
				return o.Environment
			case p.Name == name && p.Value == AsTuner:
				return o.Tuner
			case p.Name == name:
				return p.Value
			}
		}
	}
	return ""
}

// maxCompared bounds the segments of a vector that are worth comparing: more take long to simulate
// and are never faster.
const maxCompared = 1 << 12

// Variants lists the parameters, one at a time, that are worth comparing where the options do not
// give them: values that make another schedule than the default does.
func (a Algorithm) Variants(spec collective.Spec, o Options) (list []Param) {
	for _, p := range a.Params {
		given := slices.ContainsFunc(o.Params, func(q Param) bool { return q.Name == p.Name })
		seen := []string{means(p.Value, spec, o)}
		for _, value := range p.Tries {
			meant := means(value, spec, o)
			if size, err := unit.ParseBytes(value); err == nil && spec.Bytes()/size > maxCompared {
				continue
			}
			if !given && !slices.Contains(seen, meant) {
				seen = append(seen, meant)
				list = append(list, Param{Name: p.Name, Value: value})
			}
		}
	}
	return list
}

// means returns a canonical form of a value: values with equal forms make equal schedules.
func means(value string, spec collective.Spec, o Options) string {
	switch {
	case value == perNode && o.PerNode > 0:
		return strconv.Itoa(o.PerNode)
	case value == perNode:
		return balanced
	}
	if size, err := unit.ParseBytes(value); err == nil && size >= spec.Bytes() {
		return "one segment"
	}
	return value
}

// checkParams refuses names that the algorithm does not have and names given twice.
func (a Algorithm) checkParams(o Options) error {
	names := make([]string, len(a.Params))
	for i, p := range a.Params {
		names[i] = p.Name
	}
	for i, given := range o.Params {
		known := false
		for _, name := range names {
			known = known || name == given.Name
		}
		if !known {
			if !a.Own() {
				names = append(names, "channels", "slices")
			}
			hint := "it has none"
			if len(names) > 0 {
				hint = choice(given.Name, names)
			}
			return fmt.Errorf("%s has no parameter %q; %s", a.Name, given.Name, hint)
		}
		for _, other := range o.Params[:i] {
			if other.Name == given.Name {
				return fmt.Errorf("%s: the parameter %s is given twice", a.Name, given.Name)
			}
		}
	}
	return nil
}

// choice formats the names that may have been meant.
func choice(name string, names []string) string {
	if near := nearest.To(name, names, 3); len(near) > 0 {
		return "nearest: " + list(near)
	}
	return "there are " + list(names)
}

// segment returns the number of elements of a tile, 0 for algorithms that do not pipeline.
func (a Algorithm) segment(spec collective.Spec, o Options) (int64, error) {
	text := a.Param("segment", o)
	if text == "" {
		return 0, nil
	}
	elements, err := segmentOf(text, spec)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", a.Name, err)
	}
	return elements, nil
}

// segmentOf returns the number of elements of a tile of a size.
func segmentOf(text string, spec collective.Spec) (int64, error) {
	size, err := unit.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	elements := int64(size) / int64(spec.Type.Width())
	if elements < 1 {
		return 0, fmt.Errorf("segment %v is less than one %v, which has %d bytes",
			size, spec.Type, spec.Type.Width())
	}
	if tiles := spec.Count / elements; tiles > maxTiles {
		return 0, fmt.Errorf("segment %v cuts %d elements of %v into %d pieces; "+
			"at most %d are possible", size, spec.Count, spec.Type, tiles, maxTiles)
	}
	return elements, nil
}
