package dtype

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestVectors are results to hold another implementation against, as bits and in decimal. The lines
// of testdata were checked by a program in another language that calculates with fractions.
func TestVectors(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var name string
			d.ScanArgs(t, "type", &name)
			dt, err := Parse(name)
			require.NoError(t, err)
			return map[Type]func(*testing.T, *datadriven.TestData) string{
				Float64: vectors[float64], Float32: vectors[float32], Float16: vectors[F16],
				BFloat16: vectors[BF16], Float8E4M3: vectors[E4M3], Float8E5M2: vectors[E5M2],
				Int8: vectors[int8], Int16: vectors[int16], Int32: vectors[int32],
				Int64: vectors[int64], Uint8: vectors[uint8], Uint16: vectors[uint16],
				Uint32: vectors[uint32], Uint64: vectors[uint64],
			}[dt](t, d)
		})
	})
}

func vectors[T Number](t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		words := strings.Fields(line)
		switch d.Cmd {
		case "from":
			x, err := strconv.ParseFloat(words[0], 64)
			require.NoError(t, err)
			fmt.Fprintf(&out, "%s -> %s", words[0], shown(From[T](x)))
			if inside := FromUnsaturated[T](x); Bits(inside) != Bits(From[T](x)) {
				fmt.Fprintf(&out, ", unsaturated %s", shown(inside))
			}
			out.WriteByte('\n')
			continue
		case "reciprocal":
			n, err := strconv.Atoi(words[0])
			require.NoError(t, err)
			fmt.Fprintf(&out, "1 / %d = %s\n", n, shown(Reciprocal[T](n)))
			continue
		}
		a, sign := []T{element[T](t, words[0])}, ""
		fmt.Fprintf(&out, "%s ", shown(a[0]))
		if d.Cmd == "divide" {
			n, err := strconv.Atoi(words[1])
			require.NoError(t, err)
			Divide(a, n)
			fmt.Fprintf(&out, "/ %d = %s\n", n, shown(a[0]))
			continue
		}
		b := []T{element[T](t, words[1])}
		switch d.Cmd {
		case "sum":
			sign = "+"
			Sum(a, b)
		case "prod":
			sign = "*"
			Prod(a, b)
		case "min", "max":
			sign = d.Cmd
			if Min[T](a, b); d.Cmd == "max" {
				a[0] = element[T](t, words[0])
				Max(a, b)
			}
		default:
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		fmt.Fprintf(&out, "%s %s = %s\n", sign, shown(b[0]), shown(a[0]))
	}
	return out.String()
}

// element reads a number, or bits that begin with 0b or 0x and have no exponent.
func element[T Number](t *testing.T, word string) T {
	if bits, err := strconv.ParseUint(word, 0, 64); err == nil && strings.HasPrefix(word, "0x") {
		return fromBits[T](bits)
	}
	x, err := strconv.ParseFloat(word, 64)
	require.NoError(t, err)
	return FromUnsaturated[T](x)
}

// shown is an element as value and bits.
func shown[T Number](x T) string {
	return fmt.Sprintf("%v (%0*x)", x, 2*Of[T]().Width(), Bits(x))
}
