package main

import (
	"fmt"
	"math/rand/v2"
)

// randomPasses returns a random set of passes with parameters.
func randomPasses(luck *rand.Rand) (list []setting) {
	add := func(once int, key string, values ...string) {
		if luck.IntN(once) == 0 {
			list = append(list, setting{key, pick(luck, values...)})
		}
	}
	bytes := func(sizes ...int) (list []string) {
		for _, n := range sizes {
			list = append(list, fmt.Sprintf(`"%d B"`, n))
		}
		return list
	}
	add(2, "symmetric_memory", "true")
	add(2, "one_shot", bytes(0, 64, 256, 4096)...)
	add(3, "bucket", bytes(1, 64, 256, 1024, 1<<20)...)
	add(3, "coalesce", "true")
	add(2, "in_place", "true")
	add(2, "pipeline", `"seed"`, `"repaired"`, `"repaired"`, `"if faster"`)
	add(3, "comm_buffer", bytes(16, 40, 64, 100, 256, 2048)...)
	add(3, "register", "true")
	add(2, "registering", `"1 us"`)
	add(3, "persistent", "true")
	add(2, "reorder", "true")
	add(2, "reuse", "true")
	return list
}
