package schedule

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/kernel"
)

// wholeStep has something in each field.
func wholeStep() *Step {
	region := func() Region {
		return Region{Buffer: Scratch, Tile: 1, First: 2, Run: 3, Period: -4, Times: 5,
			List: []int32{6, 7}}
	}
	peer := Peer{Rank: 300, Lane: 1, Class: Pad, Tag: 2}
	return &Step{
		From:   []Source{{Kind: Get, Peer: peer, Region: region(), Team: []int32{1, 2}}, {Kind: Message}},
		To:     []Region{region(), {}},
		Send:   []Dest{{Peer: peer, Region: region(), Team: []int32{0, 1}}, {Silent: true}},
		Await:  []Event{{Lane: 1, Value: 2}, {Lane: 3, Value: 4}},
		Kernel: &kernel.Op{}, Launch: &Launch{Name: "x y"}, Round: 7,
	}
}

// TestStepsOfOneText: two steps are written down alike if and only if they are equal: every number,
// flag and list of a step, changed alone, tells it from what it was.
func TestStepsOfOneText(t *testing.T) {
	steps := []*Step{{}, wholeStep(), wholeStep()}
	for i := 0; ; i++ {
		s, left := wholeStep(), i
		if !alter(reflect.ValueOf(s).Elem(), &left) {
			break
		}
		steps = append(steps, s)
	}
	require.Greater(t, len(steps), 80)
	equal := 0
	for i, a := range steps {
		for j, b := range steps {
			require.Equal(t, a.equal(b), slices.Equal(a.append(nil), b.append(nil)), "%d, %d", i, j)
			if i < j && a.equal(b) {
				equal++
			}
		}
	}
	require.Equal(t, 1, equal, "all but the two that are the same differ")
}

// alter changes the one after so many of the numbers, flags and lists below a value, and says
// whether there is one.
func alter(v reflect.Value, left *int) bool {
	if k := v.Kind(); v.CanSet() && k != reflect.Struct && k != reflect.Array {
		if *left--; *left < 0 {
			switch {
			case v.CanInt():
				v.SetInt(v.Int() + 1)
			case v.CanUint():
				v.SetUint(v.Uint() + 1)
			case v.CanFloat():
				v.SetFloat(v.Float() + 1)
			case k == reflect.Bool:
				v.SetBool(!v.Bool())
			case k == reflect.String:
				v.SetString(v.String() + "z")
			case k == reflect.Slice:
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			default:
				v.SetZero()
			}
			return true
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if alter(v.Field(i), left) {
				return true
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			if alter(v.Index(i), left) {
				return true
			}
		}
	case reflect.Pointer:
		return alter(v.Elem(), left)
	}
	return false
}
