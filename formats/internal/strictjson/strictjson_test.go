package strictjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/strictjson"
)

// read reads {"a": int, "b": [bool, …], "c": string, "d": number or null, "e": anything}.
func read(r io.Reader) (text string, err error) {
	d := strictjson.New(r, "f")
	err = d.Object(func(key string) error {
		switch key {
		case "a":
			n, err := d.Int(-1, 9)
			text += fmt.Sprint("a", n, "@", d.Line(), " ")
			return err
		case "b":
			return d.Array(func(i int) error {
				b, err := d.Bool()
				text += fmt.Sprint("b", i, b, "@", d.Line(), " ")
				return err
			})
		case "c":
			s, err := d.String()
			text += s + " "
			return err
		case "d":
			null, err := d.Null()
			if null || err != nil {
				text += "null "
				return err
			}
			x, err := d.Float()
			text += fmt.Sprint(x, " ")
			return err
		case "e":
			composite, err := d.Composite()
			text += fmt.Sprint(composite, " ")
			if err != nil {
				return err
			}
			return d.Skip()
		}
		return d.Unknown("key", key, "alpha", "beta")
	})
	if err == nil {
		err = d.End()
	}
	return text, err
}

func TestRead(t *testing.T) {
	const text = "{\"a\": -1,\n\n\"b\": [true,\n false, true],\r\n\"c\": \"x\\ny\", \"d\": null,\n" +
		"\"e\": {\"x\": [1, {}, \"]\"]}}\n\n"
	const want = "a-1@1 b0 true@3 b1 false@4 b2 true@4 x\ny null true "
	got, err := read(strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = read(iotest.OneByteReader(strings.NewReader(text)))
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = read(strings.NewReader(`{"b": [], "d": 2.5, "e": 3}`))
	require.NoError(t, err)
	require.Equal(t, "2.5 false ", got)
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "f:1: the file ends in the middle of a value",
		"[":                           "f:1: an object is expected, this is an array",
		"{\n\"a\": ":                  "f:2: the file ends in the middle of a value",
		"{\"b\": [true":               "f:1: the file ends in the middle of a value",
		"{\n\"a\": 10}":               "f:2: a whole number from -1 to 9 is expected, this is 10",
		`{"a": 1.5}`:                  "f:1: a whole number from -1 to 9 is expected, this is 1.5",
		`{"a": "1"}`:                  `f:1: a whole number from -1 to 9 is expected, this is "1"`,
		`{"a": 99999999999999999999}`: "this is 99999999999999999999",
		`{"a": {}}`:                   "f:1: a whole number from -1 to 9 is expected, this is an object",
		`{"a": null}`:                 "f:1: a whole number from -1 to 9 is expected, this is null",
		`{"b": 1}`:                    "f:1: an array is expected, this is 1",
		`{"b": [1]}`:                  "f:1: true or false is expected, this is 1",
		`{"c": true}`:                 "f:1: a string is expected, this is true",
		`{"d": -0.5}`:                 "f:1: a number that is not negative is expected, this is -0.5",
		`{"d": 1e999}`:                "f:1: a number that is not negative is expected, this is 1e999",
		`{"d": []}`:                   "f:1: a number is expected, this is an array",
		"{\"a\": 1,\n\n\"a\": 1}":     `f:3: key "a" is given twice`,
		`{"alhpa": 1}`: `f:1: key "alhpa": one of alpha, beta is expected` + "\n  did " +
			"you mean alpha?",
		`{"zzz": 1}`: `f:1: key "zzz": one of alpha, beta is expected`,
		"{} \n x":    "f:2: this is no JSON: ",
		"{}\n{}":     "f:2: the end of the file is expected, this is an object",
		"{}\n1":      "f:2: the end of the file is expected, this is 1",
		"{a":         "f:1: this is no JSON: ",
		`{"e": ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) +
			"}": "f:1: more than 64 values " +
			"inside one another",
	} {
		_, err := read(strings.NewReader(text))
		var wrong *foreign.Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, err.Error(), want, text)
	}
	_, err := read(iotest.ErrReader(errors.New("disk on fire")))
	require.EqualError(t, err, "f:1: disk on fire")
}

// Example reads a list of numbers.
func Example() {
	d := strictjson.New(strings.NewReader("[1, 2,\n 300]"), "numbers.json")
	err := d.Array(func(i int) error {
		n, err := d.Int(0, 99)
		if err == nil {
			fmt.Println(i, n)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 0 1
	// 1 2
	// numbers.json:2: a whole number from 0 to 99 is expected, this is 300
}
