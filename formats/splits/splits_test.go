package splits

import (
	"bytes"
	"strings"
	"testing"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
	"collsim/formats/npy"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	array := func(kind dtype.Type, shape []int64, data ...byte) string {
		var b bytes.Buffer
		require.NoError(t, npy.Write(&b, &tensor.Array{Type: kind, Width: kind.Width(),
			Shape: shape, Data: data}))
		return b.String()
	}
	tests := []struct {
		name, text string
		want       [][]int64
		wrong      string
	}{
		{name: "CSV", text: "# from rank 0\n1,2\n\n3, 4\n", want: [][]int64{{1, 2}, {3, 4}}},
		{name: "blanks and tabs", text: "\ufeff1 2\r\n3\t4", want: [][]int64{{1, 2}, {3, 4}}},
		{name: "JSON", text: " [[1, 2], [3, 4]]\n", want: [][]int64{{1, 2}, {3, 4}}},
		{name: "JSON of one row", text: "[5, 0]", want: [][]int64{{5, 0}}},
		{name: "npy", text: array(dtype.Uint8, []int64{2, 2}, 1, 2, 3, 255),
			want: [][]int64{{1, 2}, {3, 255}}},
		{name: "npy of one row", text: array(dtype.Int16, []int64{2}, 1, 1, 2, 0),
			want: [][]int64{{257, 2}}},
		{name: "npy of int32", text: array(dtype.Int32, []int64{1, 1}, 0, 0, 1, 0),
			want: [][]int64{{65536}}},
		{name: "npy of int64", text: array(dtype.Int64, []int64{1}, 0, 0, 0, 0, 1, 0, 0, 0),
			want: [][]int64{{1 << 32}}},

		{name: "nothing", text: " \n", wrong: "is empty"},
		{name: "no numbers", text: "# none\n", wrong: "has no numbers"},
		{name: "a heading", text: "from,to\n", wrong: `line 1 has "from"; a whole number is expected`},
		{name: "a fraction", text: "1,2\n1.5,2\n", wrong: `line 2 has "1.5"; a whole number is expected`},
		{name: "below 0", text: "1,2\n1,-2\n", wrong: "row 1, column 1 is below 0"},
		{name: "below 0 in JSON", text: "[[-1]]", wrong: "row 0, column 0 is below 0"},
		{name: "below 0 in npy", text: array(dtype.Int8, []int64{1}, 255), wrong: "row 0, column 0"},
		{name: "above int64", text: array(dtype.Uint64, []int64{1}, 0, 0, 0, 0, 0, 0, 0, 255),
			wrong: "row 0, column 0"},
		{name: "an object", text: `{"a": 1}`, wrong: "is no JSON of the form"},
		{name: "fractions", text: "[1.5]", wrong: "is no JSON of the form"},
		{name: "floats", text: array(dtype.Float32, []int64{1}, 0, 0, 0, 0),
			wrong: "is an array of <f4 with 1 axes; integers"},
		{name: "three axes", text: array(dtype.Int8, []int64{1, 1, 1}, 0), wrong: "with 3 axes"},
		{name: "cut short", text: array(dtype.Int8, []int64{2}, 0, 0)[:129], wrong: "needs 2"},
		{name: "too many", text: strings.Repeat("1,", maxNumbers+1), wrong: "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read([]byte(tt.text))
			if tt.wrong != "" {
				require.ErrorContains(t, err, tt.wrong)
				require.NotContains(t, err.Error(), ": :")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"1,2\n3,4\n", "[[1]]", "[1]", "\x93NUMPY\x01\x00", "#\n", "[[[["} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := Read(text)
		if err != nil {
			return
		}
		for _, row := range rows {
			for _, n := range row {
				require.GreaterOrEqual(t, n, int64(0))
			}
		}
	})
}
