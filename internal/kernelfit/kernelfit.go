// Package kernelfit fits the parameters of the kernel time model to published times of matmuls and
// additions, and measures the model's error on other data. Its data are tab-separated files in
// testdata: each row is a measurement with its source. Programs do not use it: presets have its
// results, rounded, and its tests compare them.
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

// A Row is a kernel with its measured time.
type Row struct {
	Preset string
	Op     kernel.Op
	Took   unit.Time
	Source string
}

// Read reads a table of matmuls, or of float16 additions, which has no column k.
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
				return nil, fmt.Errorf("%q: %w", scanner.Text(), err)
			}
			rows = append(rows, row)
		}
	}
	return rows, scanner.Err()
}

// parse parses a line.
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

// Takes returns the time of a kernel that has the device to itself.
func Takes(d *device.Device, op *kernel.Op) unit.Time {
	rules := model.Rules{Env: model.Env{Device: *d}}
	g := rules.GridOf(0, op, nil)
	return g.Alone(int64(d.GPU.SMs), false)
}

// Error returns the relative error of a row's predicted time.
func Error(d *device.Device, row *Row) float64 {
	return math.Abs(float64(Takes(d, &row.Op))/float64(row.Took) - 1)
}

// loss returns the mean of |ln(time/measured)|, which the fit minimises: a factor of 2 counts like
// ½.
func loss(d *device.Device, rows []Row) (sum float64) {
	for i := range rows {
		sum += math.Abs(math.Log(float64(Takes(d, &rows[i].Op)) / float64(rows[i].Took)))
	}
	return sum / float64(len(rows))
}

// Neutral returns a device with generic parameters, the start of a fit.
func Neutral(d device.Device) device.Device {
	g := &d.GPU
	g.MatmulEfficiency = 800_000
	if g.Float8Efficiency > 0 {
		g.Float8Efficiency = g.MatmulEfficiency
	}
	// Half of the 64 bytes a clock that an SM of NVIDIA GPUs can load since Volta.
	clock := cmp.Or(g.Clock, device.Hertz(2*unit.GB))
	g.L2Bandwidth = unit.Rate(int64(g.SMs) * int64(clock) * 32)
	g.MatmulStart, g.BlockStart = 3*unit.Microsecond, unit.Microsecond
	return d
}

// Fitted lists the parameters that a fit may change.
func Fitted() []string {
	return []string{"matmul_efficiency", "float8_efficiency", "l2_bandwidth", "matmul_start",
		"block_start"}
}

// Fit returns the device whose times are nearest to the rows'. It starts from Neutral, with higher
// and lower cache bandwidths and block starts.
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

// descend changes one parameter after the other by a factor, as long as the loss decreases, and
// then by smaller factors.
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

// scale multiplies a parameter; shares are at most 1.
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

// share multiplies a share, up to all.
func share(s *unit.Share, by float64) {
	*s = min(unit.Share(float64(*s)*by), device.AllEfficiency)
}

// Quantile returns a quantile of errors; 0 of none.
func Quantile(errors []float64, q float64) float64 {
	if len(errors) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(errors))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
