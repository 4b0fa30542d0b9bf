package scenarios

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// effects is all that a scenario comes to.
func effects(t *testing.T, text string, set ...string) (any, error) {
	t.Helper()
	w := testOptions()
	w.Set, w.Input = set, collective.Shape{256}
	s, err := load("s.toml", []byte(text), w)
	if err != nil {
		return nil, err
	}
	return []any{s.Name, s.Description, s.Seed, s.InputLimit, s.Output, s.Tolerance, s.Known,
			s.Points, s.Programs},
		nil
}

// TestEveryKeyHasAnEffect: what is set to its example makes another scenario, or does not fit to
// the rest of one: no key of the table is taken and then forgotten.
func TestEveryKeyHasAnEffect(t *testing.T) {
	file, err := os.ReadFile("testdata/effects.toml")
	require.NoError(t, err)
	beside := map[string]string{ // what a key does not go without
		"device.offload":     "device.queue=3",
		"collective.enabled": "collective[1].enabled=true"}
	texts := strings.Split(string(file), "# ----\n")
	var plain []any
	for _, text := range texts {
		one, err := effects(t, text)
		require.NoError(t, err, text)
		plain = append(plain, one)
	}
	for _, k := range Keys() {
		if k.Example == k.Default { // there is but one value
			continue
		}
		why := ""
		for i, text := range texts {
			set := []string{k.Path + "=" + k.Example}
			if also, ok := beside[k.Path]; ok {
				set = append(set, also)
			}
			other, err := effects(t, text, set...)
			judged := err != nil && strings.Contains(err.Error(), k.name()+" = "+k.Example) &&
				!strings.Contains(err.Error(), "has no effect")
			if judged || err == nil && !reflect.DeepEqual(plain[i], other) {
				why = ""
				break
			}
			why += fmt.Sprintln(err)
		}
		require.Empty(t, why, "%s = %s changes nothing", k.Path, k.Example)
	}
}
