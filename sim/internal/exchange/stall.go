package exchange

import "slices"

// Stalled follows the waits from a lane to the lane that it waits for, until they close or end: on
// is negative where a lane waits for one that is over. A circle begins with its lowest lane.
func Stalled[Lane int32 | int64](first Lane, on func(Lane) Lane) (path []Lane, isCircle bool) {
	place := map[Lane]int{}
	for at := first; at >= 0; at = on(at) {
		if from, met := place[at]; met {
			path = path[from:]
			lowest := slices.Index(path, slices.Min(path))
			return slices.Concat(path[lowest:], path[:lowest]), true
		}
		place[at] = len(path)
		path = append(path, at)
	}
	return path, false
}
