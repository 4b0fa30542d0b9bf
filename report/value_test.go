package report

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/fidelity"
)

// theirs is what encoding/json writes.
func theirs(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(v))
	return b.String()
}

func ours(t *testing.T, v Value) string {
	t.Helper()
	text, err := encode(v)
	require.NoError(t, err)
	return string(text)
}

// TestEncode: the bytes are those of encoding/json.
func TestEncode(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	properties.Property("any float", prop.ForAll(func(bits uint64) bool {
		x := math.Float64frombits(bits)
		return math.IsNaN(x) || math.IsInf(x, 0) || ours(t, Number(x)) == theirs(t, x)
	}, gen.UInt64()))
	properties.Property("any bytes", prop.ForAll(func(s []byte) bool {
		return ours(t, Text(string(s))) == theirs(t, string(s))
	}, gen.SliceOf(gen.UInt8())))
	properties.TestingRun(t)

	for _, x := range []float64{0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e-10, 1e20, 1e21, 1e100,
		0.1, -2.5, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		require.Equal(t, theirs(t, x), ours(t, Number(x)))
	}
	for _, s := range []string{"a->b & <c>", "\"\\\b\f\n\r\t\x00\x1f\x7f",
		"\u2028\u2029 µ 世 \U0001f600", "\xff \xed\xa0\x80 \ufffd"} {
		require.Equal(t, theirs(t, s), ours(t, Text(s)))
	}
	type pair struct {
		First  []any          `json:"first"`
		Second map[string]any `json:"second"`
	}
	require.Equal(t, theirs(t, pair{[]any{1, "x", nil, true, []any{}, []any{2, 3}},
		map[string]any{"in": map[string]any{}, "on": 0.5}}),
		ours(t, object(members{{"first", array(Int(1), Text("x"), Value{}, Bool(true), array(),
			array(Int(2), Int(3)))}, {"second", object(members{{"in", object(nil)},
			{"on", Number(0.5)}})}})))
}

// TestNoNumber: JSON has neither infinities nor NaN, however deep.
func TestNoNumber(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		_, err := encode(array(object(members{{"x", array(Number(1), Number(x))}})))
		require.ErrorContains(t, err, "JSON has no number")
		require.Equal(t, Value{}, finite(x))
	}
}

// TestSpelling: CSV has no quotes around texts, and nothing is empty.
func TestSpelling(t *testing.T) {
	for want, v := range map[string]Value{"": {}, "a b": Text("a b"), "1e-7": Number(1e-7),
		"-3": Int(-3), "true": Bool(true), "1 x": array(Int(1), Text("x")),
		"a=1 b=": object(members{{"a", Int(1)}, {"b", Value{}}})} {
		require.Equal(t, want, v.String())
	}
}

// TestPut: keys with dots are objects, which are null as long as all that is in them is.
func TestPut(t *testing.T) {
	var fields members
	for _, f := range []struct {
		path []string
		v    Value
	}{{[]string{"a", "x"}, Value{}}, {[]string{"b"}, Int(1)}, {[]string{"a", "y", "z"}, Value{}},
		{[]string{"c", "x"}, Value{}}, {[]string{"c", "y", "z"}, Int(2)}} {
		fields = fields.put(f.path, f.v)
	}
	require.JSONEq(t, `{"a": null, "b": 1, "c": {"x": null, "y": {"z": 2}}}`,
		ours(t, object(fields)))
}

// TestColumns: no two columns have a name in common, and a column is somewhere.
func TestColumns(t *testing.T) {
	keys, csv := map[string]bool{}, map[string]bool{}
	for _, c := range Columns() {
		require.NotNil(t, c.Value)
		require.NotEmpty(t, c.Key+c.CSV+c.Heading)
		require.False(t, c.Key != "" && keys[c.Key], c.Key)
		require.False(t, c.CSV != "" && csv[c.CSV], c.CSV)
		require.False(t, c.CSV == "" && c.Place > 0)
		require.Equal(t, c.Heading != "", c.Width > 0)
		keys[c.Key], csv[c.CSV] = true, true
	}
}

// TestMedian: of an even number of values it is between the middle two.
func TestMedian(t *testing.T) {
	require.InDelta(t, 3, Median([]float64{3}), 0)
	require.InDelta(t, 2.5, Median([]float64{1, 2, 3, 9}), 0)
	require.InDelta(t, 4, Median([]float64{1, 2, 4, 5, 9}), 0)
}

// TestWorst: the worst case is named also where it is the first; none has no name.
func TestWorst(t *testing.T) {
	cases := []fidelity.Case{{ID: "first"}, {ID: "second"}}
	for at, want := range map[int]string{-1: `"worst": ""`, 0: `"worst": "first"`,
		1: `"worst": "second"`} {
		require.Contains(t, ours(t, qualityFields(cases).write(&fidelity.Quality{Worst: at})), want)
	}
}
