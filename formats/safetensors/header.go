package safetensors

import (
	"bytes"
	"errors"
	"math"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/strictjson"
	"collsim/formats/internal/tensor"
)

// headerReader parses the JSON of a header.
type headerReader struct{ *strictjson.Reader }

// parseHeader parses the header.
func parseHeader(header []byte) ([]entry, error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, tensor.Failed("its header begins with %.8q; '{' is expected", header)
	}
	r := headerReader{strictjson.NewPart(bytes.NewReader(header), "header")}
	var entries []entry
	err := r.Object(func(name string) error {
		if name == Metadata {
			return r.metadata()
		}
		e, err := r.entry()
		e.array.Name = name
		entries = append(entries, e)
		return tensor.In("", name, r.placed("header", err))
	})
	if err == nil {
		err = r.End()
	}
	return entries, r.placed("header", err)
}

// placed adds the place to an error of the JSON: the member, and the last byte read of the header.
func (r headerReader) placed(what string, err error) error {
	var wrong *foreign.Error
	if !errors.As(err, &wrong) {
		return err
	}
	return tensor.Failed("its %s, up to byte %d: %s", what, r.Offset(), wrong.Text)
}

// metadata reads the metadata of the file, which are texts and do not affect elements.
func (r headerReader) metadata() error {
	return r.placed(Metadata, r.Object(func(string) error {
		_, err := r.String()
		return err
	}))
}

// entry reads the entry of one tensor. As in the reference implementation, unknown keys are
// ignored.
func (r headerReader) entry() (e entry, err error) {
	var offsets []int64
	seen := 0
	err = r.Object(func(key string) error {
		var err error
		switch key {
		case "dtype":
			var name string
			if name, err = r.String(); err == nil {
				err = setType(&e.array, name)
			}
		case "shape":
			e.array.Shape, err = r.integers(key)
		case "data_offsets":
			offsets, err = r.integers(key)
		default:
			return r.Skip()
		}
		seen++
		return err
	})
	switch {
	case err != nil:
		return e, err
	case seen != 3:
		return e, tensor.Failed("dtype, shape and data_offsets are expected in its header")
	case len(offsets) != 2:
		return e, tensor.Failed("has %d data_offsets; 2 are expected", len(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, nil
}

// integers reads a list of integers from 0 to 2⁶³−1.
func (r headerReader) integers(key string) ([]int64, error) {
	list := []int64{}
	err := r.Array(func(int) error {
		n, err := r.Int(0, math.MaxInt64)
		list = append(list, n)
		return err
	})
	return list, r.placed(key, err)
}
