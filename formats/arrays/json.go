package arrays

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// parseTensors reads the header of a .safetensors. Keys are compared exactly and may not be
// repeated, and null stands for nothing: encoding/json by itself would let all three pass.
func parseTensors(header []byte) ([]tensor, error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, failed("its header begins with %.8q; '{' is expected", header)
	}
	d := json.NewDecoder(bytes.NewReader(header))
	d.UseNumber()
	var tensors []tensor
	err := object(d, func(name string) error {
		if name == metadata {
			return object(d, func(key string) error {
				if _, err := text(d); err != nil {
					return failed("its %s says %.40q of something; text is expected", metadata, key)
				}
				return nil
			})
		}
		t, err := parseTensor(d)
		if err != nil {
			return in("", name, err)
		}
		t.array.Name = name
		tensors = append(tensors, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, failed("its header goes on after its JSON, at byte %d", d.InputOffset())
	}
	return tensors, nil
}

// parseTensor reads what is said about one tensor. As in the reference implementation, keys that it
// does not know are left alone.
func parseTensor(d *json.Decoder) (tensor, error) {
	var t tensor
	var offsets []int64
	seen := 0
	err := object(d, func(key string) error {
		var err error
		switch key {
		case "dtype":
			var name string
			if name, err = text(d); err == nil {
				err = t.array.setType(name)
			}
		case "shape":
			t.array.Shape, err = integers(d, key)
		case "data_offsets":
			offsets, err = integers(d, key)
		default:
			return jsonError(d, d.Decode(&json.RawMessage{}))
		}
		seen++
		return err
	})
	if err != nil {
		return t, err
	}
	if seen != 3 {
		return t, failed("dtype, shape and data_offsets are expected in its header")
	}
	if len(offsets) != 2 {
		return t, failed("has %d data_offsets; 2 are expected", len(offsets))
	}
	t.begin, t.end = offsets[0], offsets[1]
	return t, nil
}

// object reads a JSON object and calls each for every key, to read its value.
func object(d *json.Decoder, each func(key string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := text(d)
		if err != nil {
			return err
		}
		if seen[key] {
			return failed("its header has the key %.60q twice", key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	return delimiter(d, '}')
}

// integers reads a list of integers from 0 to 2⁶³−1.
func integers(d *json.Decoder, what string) ([]int64, error) {
	if err := delimiter(d, '['); err != nil {
		return nil, err
	}
	list := []int64{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, jsonError(d, err)
		}
		number, ok := token.(json.Number)
		n, err := strconv.ParseInt(number.String(), 10, 64)
		if !ok || err != nil || n < 0 {
			return nil, failed("its %s has %.40s; integers from 0 to 2⁶³−1 are expected",
				what, shown(token))
		}
		list = append(list, n)
	}
	return list, delimiter(d, ']')
}

func text(d *json.Decoder) (string, error) {
	token, err := d.Token()
	if err != nil {
		return "", jsonError(d, err)
	}
	s, ok := token.(string)
	if !ok {
		return "", failed("its header has %.40s before byte %d; text is expected",
			shown(token), d.InputOffset())
	}
	return s, nil
}

func delimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return jsonError(d, err)
	}
	if token != want {
		return failed("its header has %.40s before byte %d; '%v' is expected",
			shown(token), d.InputOffset(), want)
	}
	return nil
}

// shown returns a token as it stood in the header.
func shown(token json.Token) string {
	switch t := token.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(t)
	case json.Delim:
		return "'" + t.String() + "'"
	}
	return fmt.Sprint(token)
}

// jsonError says where the header is not JSON.
func jsonError(d *json.Decoder, err error) error {
	if err == nil {
		return nil
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return failed("its header's JSON does not end")
	}
	return failed("its header is not JSON near byte %d: %v", d.InputOffset(), err)
}
