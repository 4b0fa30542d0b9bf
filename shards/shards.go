// Package shards divides the points of a sweep among tasks, and puts the lines of their results
// (collsim FILE --jsonl) together again. Tasks may be those of a Slurm job array or of an indexed
// job of Kubernetes; a task that was killed is run again and leaves out what its file has.
//
// A point is known by its ID and by a digest of what it means. Merged lines are the bytes of a run
// of all points.
package shards

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shard is one of a number of parts of a sweep. The zero value is all of it.
type Shard struct{ Number, Of int } // from 1

// Parse reads "2/16", or "auto/16" or "auto", where the environment of a task says which it is.
func Parse(text string, getenv func(string) string) (Shard, error) {
	number, of, _ := strings.Cut(text, "/")
	if number == "auto" {
		n, all, err := task(getenv)
		if err != nil {
			return Shard{}, err
		}
		number = strconv.Itoa(n)
		if of == "" {
			of = all
		}
	}
	n, err := strconv.Atoi(number)
	all, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || n < 1 || n > all {
		return Shard{}, fmt.Errorf("%.40q: a shard of a number of them is expected, as 2/16, or auto/16",
			text)
	}
	return Shard{n, all}, nil
}

// task returns which task of a job array this is, from 1, and of how many, if the environment says
// so: Slurm's by SLURM_ARRAY_TASK_ID, _MIN and _COUNT, Kubernetes' by JOB_COMPLETION_INDEX.
func task(getenv func(string) string) (number int, of string, err error) {
	if text := getenv("JOB_COMPLETION_INDEX"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, "", fmt.Errorf("JOB_COMPLETION_INDEX = %.40q: a whole number is expected", text)
		}
		return n + 1, "", nil
	}
	text := getenv("SLURM_ARRAY_TASK_ID")
	if text == "" {
		return 0, "", fmt.Errorf("auto: no task of a job array: neither SLURM_ARRAY_TASK_ID nor " +
			"JOB_COMPLETION_INDEX is set")
	}
	id, err := strconv.Atoi(text)
	first, err2 := strconv.Atoi(cmp.Or(getenv("SLURM_ARRAY_TASK_MIN"), "1"))
	if err != nil || err2 != nil {
		return 0, "", fmt.Errorf("SLURM_ARRAY_TASK_ID = %.40q, SLURM_ARRAY_TASK_MIN = %.40q: whole "+
			"numbers are expected", text, getenv("SLURM_ARRAY_TASK_MIN"))
	}
	return id - first + 1, getenv("SLURM_ARRAY_TASK_COUNT"), nil
}

// Of returns the items of a shard, in their order. Items are dealt out by cost, the dearest first,
// so that shards take about as long.
func Of[T any](s Shard, items []T, cost func(T) float64) []T {
	if s.Of <= 1 {
		return items
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(cost(items[b]), cost(items[a]))
	})
	var mine []int
	for k := s.Number - 1; k < len(order); k += s.Of {
		mine = append(mine, order[k])
	}
	slices.Sort(mine)
	part := make([]T, len(mine))
	for i, at := range mine {
		part[i] = items[at]
	}
	return part
}
