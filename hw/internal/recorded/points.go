package recorded

import "fmt"

// Points holds times of a GPU.
type Points struct {
	Head
	Points []Point
}

// A Point is a time in two runs. The fields of its experiment identify it; tools/record/bench.c
// and rules.py define them.
type Point struct {
	Experiment, Of  string       // "launch", "copy", …; "device", "host", "front", …
	Unit            string       // "us"
	Samples         int          // of a run
	Runs            [][3]float64 // of each: the median, the 10th and the 90th percentile
	Spread          float64      // difference of the medians, as a share of the smaller
	Covered         []int        // of "beside": samples of a run during which the background lasted
	Calls           int          // averaged in a sample
	Blocks, Sources int
	Pairs, Kernels  int
	Copies          int
	Way, By, DType  string
	Front, Back     string
	M, N, K         int
	Waves           float64 // as estimated by cuBLASLt
	Bytes, Count    int64
	Kind, Op        string
	InPlace         bool `json:"in_place"`
}

// complete checks the recording.
func (p *Points) complete() error {
	if len(p.Points) == 0 && len(p.Failed) == 0 {
		return fmt.Errorf("it has no points, and nothing is said to have failed")
	}
	for i := range p.Points {
		x := &p.Points[i]
		if x.Experiment == "" || x.Of == "" || x.Unit != "us" || x.Samples < 1 || len(x.Runs) != 2 {
			return fmt.Errorf("point %d: what it is of and two runs in us are expected", i)
		}
		for _, run := range x.Runs {
			if !(run[1] <= run[0] && run[0] <= run[2]) {
				return fmt.Errorf("point %d: %v: the median does not lie between the percentiles", i, run)
			}
		}
		low, high := min(x.Runs[0][0], x.Runs[1][0]), max(x.Runs[0][0], x.Runs[1][0])
		if off := (high-low)/low - x.Spread; low > 0 && !(off < 1e-4 && off > -1e-4) {
			return fmt.Errorf("point %d: a spread of %v is not that of %v", i, x.Spread, x.Runs)
		}
	}
	return nil
}
