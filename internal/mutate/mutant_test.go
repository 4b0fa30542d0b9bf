package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package p

import "fmt"

func f(a, b int) int {
	if a < b && !(b == 3) {
		fmt.Println(a)
		a += 2
	}
	for i := range b {
		a = max(a, i)
		b--
	}
	return a*b - 1
}

var half, yes = 0.5, true
`

// TestMutants: of every kind, at their lines, and each changes what it says alone.
func TestMutants(t *testing.T) {
	list, err := mutantsOf("p.go", []byte(source))
	require.NoError(t, err)
	var said []string
	for _, m := range list {
		said = append(said, m.String())
		require.Equal(t, m.was, source[m.from:m.to])
		changed := string(m.apply([]byte(source)))
		require.Equal(t, source[:m.from]+m.is+source[m.to:], changed)
		require.NotEqual(t, source, changed)
	}
	require.Equal(t, []string{
		"p.go:6: a < b && !(b == 3) becomes !(a < b && !(b == 3))",
		"p.go:6: && becomes ||",
		"p.go:6: < becomes <=",
		"p.go:6: ! becomes ",
		"p.go:6: == becomes !=",
		"p.go:6: 3 becomes 4",
		"p.go:7: fmt.Println(a) becomes nothing",
		"p.go:8: += becomes -=",
		"p.go:8: a += 2 becomes nothing",
		"p.go:8: 2 becomes 3",
		"p.go:11: a = max(a, i) becomes nothing",
		"p.go:11: max becomes min",
		"p.go:12: -- becomes ++",
		"p.go:14: - becomes +",
		"p.go:14: * becomes /",
		"p.go:14: 1 becomes 2",
		"p.go:17: 0.5 becomes (0.5 + 1)",
		"p.go:17: true becomes false",
	}, said)
	_, err = mutantsOf("p.go", []byte("package"))
	require.Error(t, err)
}

// TestSwaps: no operator becomes itself.
func TestSwaps(t *testing.T) {
	for op, is := range swaps() {
		require.NotEqual(t, op.String(), is)
	}
}

// TestMutate: of a package of this module, tests notice a change and do not notice another one, and
// the same seed draws the same.
func TestMutate(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-at", "plural.go:9", "./testdata/sample"}, &out))
	require.Equal(t, `killed   plural.go:9: n == 1 becomes !(n == 1)
killed   plural.go:9: == becomes !=
survived plural.go:9: 1 becomes 2
2 of 3 killed
`, regexp.MustCompile("collsim/internal/mutate/testdata/sample(/|: )").
		ReplaceAllString(out.String(), ""))
	require.ErrorContains(t, run(t.Context(), nil, &out), "packages are expected")
	require.ErrorContains(t, run(t.Context(), []string{"./none"}, &out), "does not know it")

	a, b := options{seed: 5}, options{seed: 5}
	p := &pkg{Dir: ".", GoFiles: []string{"mutant.go"}}
	drawn, err := a.draw(p)
	require.NoError(t, err)
	again, err := b.draw(p)
	require.NoError(t, err)
	require.Equal(t, drawn, again)
}
