package collective

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestKey: a key tells Specs apart by every field that there is, and by nothing else.
func TestKey(t *testing.T) {
	base := Spec{Kind: AllToAllV, Op: Sum, Type: dtype.Float32, Ranks: 2, Root: 0, Count: 3,
		Splits: [][]int64{{1, 2}, {3, 4}}, Factor: 1}
	changed := Spec{Kind: Custom, Op: Max, Type: dtype.Int8, Ranks: 3, Root: 1, Count: 4,
		Splits: [][]int64{{1, 2}, {3, 5}}, InPlace: true, Avg: AvgPost, Factor: 0.5}
	same := base
	same.Splits = [][]int64{{1, 2}, {3, 4}}
	require.Equal(t, base.Key(), same.Key())
	for i := range reflect.TypeFor[Spec]().NumField() {
		one := base
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(changed).Field(i))
		require.NotEqual(t, base.Key(), one.Key(), reflect.TypeFor[Spec]().Field(i).Name)
	}
	seen := map[Key][][]int64{}
	for _, splits := range [][][]int64{nil, {{}}, {{}, {}}, {{1}}, {{1}, {}}, {{}, {1}}, {{1, 1}},
		{{1}, {1}}, {{0}}, {{64}}, {{-1}}, {{128, 1}}, {{1, 128}}} {
		k := Spec{Splits: splits}.Key()
		require.NotContains(t, seen, k)
		seen[k] = splits
	}
}
