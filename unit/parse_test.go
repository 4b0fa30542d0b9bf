package unit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// parser is any of the four, with the value in the smallest unit and as it prints.
type parser func(string) (int64, fmt.Stringer, error)

func parserOf[T interface {
	~int64
	fmt.Stringer
}](parse func(string) (T, error)) parser {
	return func(s string) (int64, fmt.Stringer, error) {
		v, err := parse(s)
		return int64(v), v, err
	}
}

// TestParse shows, for each kind of quantity, what is accepted, its value in the smallest unit and
// how it is printed, and the text of every error.
func TestParse(t *testing.T) {
	read := map[string]parser{"time": parserOf(ParseTime), "bytes": parserOf(ParseBytes),
		"rate": parserOf(ParseRate), "share": parserOf(ParseShare)}
	datadriven.RunTest(t, "testdata/parse.txt", func(t *testing.T, d *datadriven.TestData) string {
		parse, ok := read[d.Cmd]
		require.True(t, ok, "unknown command %q", d.Cmd)
		var out strings.Builder
		for _, line := range strings.Split(d.Input, "\n") {
			v, printed, err := parse(line)
			if err != nil {
				require.Zero(t, v, "a value beside an error")
				fmt.Fprintln(&out, err)
				continue
			}
			fmt.Fprintf(&out, "%s = %d = %s\n", line, v, printed)
		}
		return out.String()
	})
}

func TestParseIgnoresBlanksAround(t *testing.T) {
	v, err := ParseTime("  1.5 \t us ")
	require.NoError(t, err)
	require.Equal(t, 1_500_000*Picosecond, v)
}

func TestParseOfNothing(t *testing.T) {
	for _, s := range []string{"", " ", "\t"} {
		_, err := ParseShare(s)
		require.ErrorContains(t, err, `a number and a unit are expected, as in "50 %"`)
	}
}

func TestParseErrorCanBeMatched(t *testing.T) {
	_, err := ParseBytes("64M")
	var parse *ParseError
	require.True(t, errors.As(err, &parse))
	require.Equal(t, "64M", parse.Value)
	require.Equal(t, "64 MiB (67108864) or 64 MB (64000000)?", parse.Text)
	require.Empty(t, parse.Hint)
}

func TestParseErrorIsShortWhateverWasGiven(t *testing.T) {
	_, err := ParseBytes(strings.Repeat("9", 1<<20))
	require.ErrorContains(t, err, "a number has at most 60 digits")
	require.Less(t, len(err.Error()), 200)
	_, err = ParseRate("1 " + strings.Repeat("x", 1<<20))
	require.Less(t, len(err.Error()), 300)
}

func TestStringOfWhatNobodyCanAskFor(t *testing.T) {
	require.Equal(t, "never", Forever.String())
	require.Equal(t, "never", (Forever + Forever).String())
	require.Equal(t, "-1.50 us", (-1500 * Nanosecond).String())
	require.Equal(t, "-9223372.036854775808 s", Time(math.MinInt64).String())
	require.Equal(t, "-64 MiB", (-64 * MiB).String())
	require.Equal(t, "-12.5 GB/s", Rate(-12_500_000_000).String())
	require.Equal(t, "0 B/s", Rate(0).String())
}

func TestStringParsesBack(t *testing.T) {
	p := laws(t)
	raw, shift := gen.Int64Range(0, math.MaxInt64-1), gen.IntRange(0, 62)
	p.Property("times", prop.ForAll(func(raw int64, shift int) bool {
		v := Time(raw >> shift)
		back, err := ParseTime(v.String())
		return v.String() == "never" || err != nil && v >= Time(times.limit) || back == v
	}, raw, shift))
	p.Property("sizes", prop.ForAll(func(raw int64, shift int) bool {
		v := Bytes(raw >> shift)
		back, err := ParseBytes(v.String())
		return err == nil && back == v
	}, raw, shift))
	p.Property("sizes of whole units", prop.ForAll(func(n int64, unit int) bool {
		v := Bytes(n * prefixes[unit].num)
		back, err := ParseBytes(v.String())
		return err == nil && back == v && len(v.String()) <= len(fmt.Sprintf("%d MiB", n))
	}, gen.Int64Range(1, 1000), gen.IntRange(1, len(prefixes)-1)))
	p.Property("rates", prop.ForAll(func(raw int64, shift int) bool {
		v := Rate(max(1, raw>>shift))
		back, err := ParseRate(v.String())
		return err == nil && back == v
	}, raw, shift))
	p.Property("shares", prop.ForAll(func(v int64) bool {
		back, err := ParseShare(Share(v).String())
		return err == nil && back == Share(v)
	}, gen.Int64Range(1, 2*int64(whole))))
	p.TestingRun(t)
}

var seeds = []string{"", "0", "0 s", "1.5 us", "64 MiB", "64M", "64MB", "100 Gbit/s", "12.5 GB/s",
	"1 GBps", "unlimited", "-1 s", "NaN", "inf ns", "1e9 B", "0x10", "50 %", "1.", ".5 us",
	"99999999999999999999 TiB", "0.000000000001 s", "1 \u00b5s", "1 \xff", "64 MiB ", "٣ s"}

// fuzz checks what every parser owes: no panic, a *ParseError on one line or a value in range that
// is printed so that it parses back.
func fuzz(f *testing.F, least int64, parse parser) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, printed, err := parse(s)
		if err != nil {
			var e *ParseError
			require.ErrorAs(t, err, &e)
			require.Equal(t, s, e.Value)
			require.NotContains(t, err.Error(), "\n")
			require.Zero(t, v)
			return
		}
		require.GreaterOrEqual(t, v, least)
		back, _, err := parse(printed.String())
		require.NoError(t, err, "%q was printed as %q", s, printed)
		require.Equal(t, v, back)
	})
}

func FuzzParseTime(f *testing.F)  { fuzz(f, 0, parserOf(ParseTime)) }
func FuzzParseBytes(f *testing.F) { fuzz(f, 0, parserOf(ParseBytes)) }
func FuzzParseRate(f *testing.F)  { fuzz(f, 1, parserOf(ParseRate)) }
func FuzzParseShare(f *testing.F) { fuzz(f, 1, parserOf(ParseShare)) }

func ExampleParseBytes() {
	size, _ := ParseBytes("64 MiB")
	rate, _ := ParseRate("100 Gbit/s")
	fmt.Println(size, "at", rate, "takes", size.Over(rate))
	_, err := ParseBytes("64M")
	fmt.Println(err)
	// Output:
	// 64 MiB at 12.5 GB/s takes 5.36870912 ms
	// "64M": 64 MiB (67108864) or 64 MB (64000000)?
}

// TestWholeNumbers: a number without a fraction is what it is with one, also near the limit.
func TestWholeNumbers(t *testing.T) {
	for _, n := range []string{"0", "1", "007", "999999999999", "9223372036", "9223372037",
		"9223372036854775806", "9223372036854775807", "18446744073709551616"} {
		for name, parse := range map[string]parser{"ps": parserOf(ParseTime), "ms": parserOf(ParseTime),
			"B": parserOf(ParseBytes), "GiB": parserOf(ParseBytes), "bit/s": parserOf(ParseRate),
			"GB/s": parserOf(ParseRate), "%": parserOf(ParseShare)} {
			got, _, wrong := parse(n + " " + name)
			want, _, alsoWrong := parse(n + ".0 " + name)
			require.Equal(t, want, got, "%s %s", n, name)
			require.Equal(t, alsoWrong == nil, wrong == nil, "%s %s", n, name)
		}
	}
}
