package calibrate

import "math"

// findLaunch fits the cost of a call over all ranges at once. Each range has a latency and a time
// per byte of its own; the launch is common. It is 0 if the series cannot separate it from the
// latency.
func (f *rangeFit) findLaunch(r *Ranges) error {
	names := []string{launch}
	var joint []Sample
	for i := range r.Ranges {
		keys := f.within(&r.Ranges[i])
		alone, err := f.fit(keys, f.global)
		if err != nil {
			return err
		}
		samples, err := f.samples(keys, alone.wire())
		if err != nil {
			return err
		}
		for j := range samples {
			parts := make([]float64, 1+2*len(r.Ranges))
			parts[0] = 1
			copy(parts[1+2*i:], samples[j].Parts[:2])
			samples[j].Parts = parts
		}
		joint = append(joint, samples...)
		names = append(names, latency, perByte)
	}
	found := solve(names, joint, make([]bool, len(joint)), f.options).Estimates[0]
	if math.IsInf(found.High, 1) {
		found.Value = 0
	}
	r.Launch, f.launch, f.free = &found, found.Value, false
	return nil
}

// slowest bounds how much longer a byte may take in a range than on the fastest wire: a device's
// efficiency is at least 0.01 %.
const slowest = 1e4

// wires converts the ranges to a machine with common ports. The ports are as fast as the fastest
// range that is known, or else as any range with a time per byte. A range may seem faster, or even
// free, since its messages are short. It then takes the port's time per byte, and its latency is
// fitted again.
func (f *rangeFit) wires(r *Ranges) error {
	fastest := math.Inf(1)
	for _, known := range []bool{true, false} {
		if !math.IsInf(fastest, 1) {
			break
		}
		for i := range r.Ranges {
			if e := &r.Ranges[i].Fit.Estimates[1]; e.Value > 0 && (e.Known || !known) {
				fastest = min(fastest, e.Value)
			}
		}
	}
	for i := range r.Ranges {
		one := &r.Ranges[i]
		e := one.Fit.Estimates
		one.Wire = Wire{e[0].Value, min(e[1].Value, float64(slowest*fastest))}
		if math.IsInf(fastest, 1) || e[1].Value >= fastest {
			continue
		}
		one.Wire.Beta = fastest
		samples, err := f.samples(f.within(one), one.Wire)
		if err != nil {
			return err
		}
		for j := range samples {
			s := &samples[j]
			s.Fixed += float64(s.Parts[1] * fastest)
			s.Parts = s.Parts[:1]
		}
		again := solve([]string{latency}, samples, make([]bool, len(samples)), f.options)
		one.Wire.Alpha = again.Estimates[0].Value
	}
	return nil
}
