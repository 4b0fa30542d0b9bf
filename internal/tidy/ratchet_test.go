package tidy

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the numbers of findings that are left in testdata")

// holdTo holds the number of findings of each name to the one in a file, which may only fall. A
// name that is not in the file may have as many as all may. The flag -update writes the numbers of
// now, unless one has risen.
func holdTo(t *testing.T, file string, all int, found map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	left := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		left[name], err = strconv.Atoi(count)
		require.NoError(t, err)
	}
	now := ""
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list := found[name]
		if most := max(left[name], all); len(list) > most {
			t.Errorf("%s: %d findings, more than %d (%s); some are\n%s", name, len(list), most, file,
				strings.Join(list[:min(len(list), 400)], "\n"))
		}
		if len(list) > all {
			now += fmt.Sprintf("%s %d\n", name, len(list))
		}
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(file, []byte(now), 0o644))
	}
}

// manyMethods is the most methods of a type that a reader keeps in mind.
const manyMethods = 60

// methods lists the methods of each type of a package without tests.
func (s *source) methods() map[string][]string {
	list := map[string][]string{}
	for _, name := range s.pkg.Scope().Names() {
		named, ok := s.pkg.Scope().Lookup(name).Type().(interface {
			NumMethods() int
			Method(i int) *types.Func
		})
		if !ok {
			continue
		}
		for i := range named.NumMethods() {
			list[name] = append(list[name], named.Method(i).Name())
		}
	}
	return list
}

// TestMethods holds types to sixty methods; those that have more, in testdata/methods.txt, may only
// lose some.
func TestMethods(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	found := map[string][]string{}
	for _, s := range sources {
		for name, list := range s.methods() {
			found[s.path+"."+name] = list
		}
	}
	holdTo(t, "testdata/methods.txt", manyMethods, found)
}
