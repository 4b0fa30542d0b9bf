package diagnose

import (
	"fmt"
	"strings"

	"collsim/unit"
)

// Overlay writes the keys that make a scenario simulate a cause for the calls of a log: TOML that
// takes the place of its own keys. Two calls in a row stand for the loop of a benchmark.
func Overlay(c *Cause, log string, sizes []unit.Bytes) []byte {
	list := make([]string, len(sizes))
	for i, size := range sizes {
		list[i] = fmt.Sprint(int64(size))
	}
	text := fmt.Sprintf("[check]\nproof = false\nnumbers = false\n[collective]\nbytes = [%s]\n"+
		"[benchmark]\ncalls = 2\n", strings.Join(list, ", "))
	if log != "" {
		text += fmt.Sprintf("[measured]\nfile = %q\n", log)
	}
	return []byte(text + c.Variant())
}

// Variant writes the [[variant]] of a cause; empty for the scenario as it is.
func (c *Cause) Variant() string {
	if c.Change == "" {
		return ""
	}
	return fmt.Sprintf("[[variant]]\nname = %q\n%s\n", c.Name(), c.Change)
}
