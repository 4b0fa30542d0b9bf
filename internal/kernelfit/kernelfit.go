// Package kernelfit fits the figures of which a kernel's time is made (decision 25) to published
// times of matmuls and additions, and says how far the model is from others that it has not seen.
// Its data are tab-separated files in testdata, a row a measurement with its source. Programs do
// not use it: the figures of presets are what it finds, rounded, and its tests hold them to that.
package kernelfit

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"collsim/device"
	"collsim/kernel"
	"collsim/sim/model"
	"collsim/unit"
)

// Row is a kernel and how long it was measured to take.
type Row struct {
	Preset string
	Op     kernel.Op
	Took   unit.Time
	Source string
}

// Read reads a table of matmuls, or of additions of float16, which has no column k.
func Read(r io.Reader) (rows []Row, err error) {
	scanner, names := bufio.NewScanner(r), []string(nil)
	for scanner.Scan() {
		cells := strings.Split(scanner.Text(), "\t")
		switch {
		case strings.HasPrefix(cells[0], "#"):
		case names == nil:
			names = cells
		default:
			row, err := parse(names, cells)
			if err != nil {
				return nil, fmt.Errorf("kernelfit: %q: %w", scanner.Text(), err)
			}
			rows = append(rows, row)
		}
	}
	return rows, scanner.Err()
}

// parse reads a line.
func parse(names, cells []string) (Row, error) {
	if len(cells) != len(names) {
		return Row{}, fmt.Errorf("%d columns are expected", len(names))
	}
	cell := map[string]string{}
	for i, name := range names {
		cell[name] = cells[i]
	}
	row := Row{Preset: cell["preset"], Source: cell["source"]}
	text := "add " + cell["rows"] + "x" + cell["columns"] + " float16+float16->float16"
	took := cell["us"]
	if cell["k"] != "" {
		out := map[string]string{"float32": "float32", "int8": "int32", "float8_e4m3fn": "bfloat16"}
		to := out[cell["dtype"]]
		if to == "" {
			to = cell["dtype"]
		}
		text = fmt.Sprintf("matmul m=%s k=%s n=%s %[4]s*%[4]s->%s", cell["m"], cell["k"], cell["n"],
			cell["dtype"], to)
		took = cell["value"]
	}
	var err error
	if row.Op, err = kernel.Parse(text); err != nil {
		return Row{}, err
	}
	value, err := strconv.ParseFloat(took, 64)
	if err != nil || value <= 0 {
		return Row{}, fmt.Errorf("%q: a number above zero is expected", took)
	}
	if cell["unit"] == "TFLOP/s" {
		value = float64(row.Op.FLOPs()) / value / 1e6
	}
	row.Took = unit.Time(math.Round(value * 1e6))
	return row, nil
}

// Takes returns the time of a kernel that has a device to itself.
func Takes(d *device.Device, op *kernel.Op) unit.Time {
	rules := model.Rules{Env: model.Env{Device: *d}}
	g := rules.GridOf(0, op, nil)
	return g.Alone(int64(d.GPU.SMs), false)
}

// Error is the part by which what a row took is missed, of what it took.
func Error(d *device.Device, row *Row) float64 {
	return math.Abs(float64(Takes(d, &row.Op))/float64(row.Took) - 1)
}

// loss returns the mean of |ln(time/measured)|, which a fit makes small: twice is as bad as half.
func loss(d *device.Device, rows []Row) (sum float64) {
	for i := range rows {
		sum += math.Abs(math.Log(float64(Takes(d, &rows[i].Op)) / float64(rows[i].Took)))
	}
	return sum / float64(len(rows))
}

// Neutral is a device with figures that nobody has fitted: what a fit starts from.
func Neutral(d device.Device) device.Device {
	g := &d.GPU
	g.MatmulEfficiency = 800_000
	if g.Float8Efficiency > 0 {
		g.Float8Efficiency = g.MatmulEfficiency
	}
	// Half of the 64 bytes a clock that an SM of NVIDIA's since Volta can load.
	clock := cmp.Or(g.Clock, device.Hertz(2*unit.GB))
	g.L2Bandwidth = unit.Rate(int64(g.SMs) * int64(clock) * 32)
	g.MatmulStart, g.BlockStart = 3*unit.Microsecond, unit.Microsecond
	return d
}

// Fitted are the figures that a fit may change.
func Fitted() []string {
	return []string{"matmul_efficiency", "float8_efficiency", "l2_bandwidth", "matmul_start",
		"block_start"}
}

// Fit finds the figures of a device by which its times are nearest to the rows'. It starts from
// those of Neutral, with more and less of the cache and of a block's start.
func Fit(d device.Device, rows []Row) (best device.Device) {
	least := math.Inf(1)
	for _, cache := range []float64{0.25, 1} {
		for _, block := range []float64{0.5, 2} {
			next := Neutral(d)
			scale(&next, "l2_bandwidth", cache)
			scale(&next, "block_start", block)
			if l := descend(&next, rows); l < least {
				best, least = next, l
			}
		}
	}
	return best
}

// descend changes one figure after another by a factor, as long as that brings times nearer to the
// rows', and then by smaller factors.
func descend(d *device.Device, rows []Row) float64 {
	least := loss(d, rows)
	for _, factor := range []float64{1.5, 1.2, 1.08, 1.03} {
		for round, better := 0, true; better && round < 8; round++ {
			better = false
			for _, name := range Fitted() {
				for _, by := range []float64{factor, 1 / factor} {
					next := *d
					scale(&next, name, by)
					if l := loss(&next, rows); l < least {
						*d, least, better = next, l, true
					}
				}
			}
		}
	}
	return least
}

// scale multiplies a figure, a share up to all.
func scale(d *device.Device, name string, by float64) {
	g := &d.GPU
	switch name {
	case "matmul_efficiency":
		share(&g.MatmulEfficiency, by)
	case "float8_efficiency":
		share(&g.Float8Efficiency, by)
	case "l2_bandwidth":
		g.L2Bandwidth = unit.Rate(float64(g.L2Bandwidth) * by)
	case "matmul_start":
		g.MatmulStart = unit.Time(float64(g.MatmulStart) * by)
	case "block_start":
		g.BlockStart = unit.Time(float64(g.BlockStart) * by)
	}
}

func share(s *unit.Share, by float64) {
	*s = min(unit.Share(float64(*s)*by), device.AllEfficiency)
}

// Quantile is that part of sorted errors.
func Quantile(errors []float64, q float64) float64 {
	if len(errors) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(errors))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
