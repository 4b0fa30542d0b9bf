package report

import (
	"fmt"
	"math"

	"collsim/reference"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// pointColumns lists the facts of the point: what was run.
func pointColumns() Layout {
	type r = run.Result
	fact := func(name string, form Form, of fact) Column { return both(derivedField(name, form, of)) }
	return Layout{
		inCSV(1, "seed", func(r *r) Value { return Int(r.Point.Seed) }),
		inCSV(1, "topology", func(r *r) Value { return Text(r.Point.Topology.Preset) }),
		fact("id", aText(), func(r *r) Value { return Text(r.Point.ID) }),
		inJSON(derivedField("point", anObject(), func(r *r) Value { return axesOf(r.Point) })),
		inCSV(3, "point", func(r *r) Value {
			return listOf(r.Point.Axes, func(a scenarios.Axis) Value {
				return Text(fmt.Sprintf("%s=%v", a.Path, a.Value))
			})
		}),
		inJSON(derivedField("variant", aText(), func(r *r) Value { return Text(r.Point.Variant()) })),
		fact("kind", aText(), func(r *r) Value { return Text(r.Point.Spec.Kind.String()) }),
		both(ownField[r]("algorithm", aText(), func(r *r) Value {
			return Text(r.Algorithm.String())
		}, setAlgorithm)),
		fact("ranks", aWhole(), func(r *r) Value { return Int(r.Point.Spec.Ranks) }),
		fact("bytes", aWhole(), func(r *r) Value { return Int(r.Point.Spec.Bytes()) }).
			headed("size", "(B)", 6),
		fact("count", aWhole(), func(r *r) Value { return Int(run.CountOf(r.Point.Spec)) }).
			headed("count", "(elements)", 11),
		fact("dtype", aText(), func(r *r) Value { return Text(r.Point.Spec.Type.String()) }).
			headed("type", "", 8).printed(ncclType),
		fact("op", aText(), func(r *r) Value { return Text(run.OpOf(r.Point.Spec)) }).
			headed("redop", "", 6),
		fact("root", aWhole(), func(r *r) Value { return Int(rootOf(r.Point.Spec)) }).
			headed("root", "", 5),
		fact("in_place", aBool(), func(r *r) Value { return Bool(r.Point.Spec.InPlace) }),
		fact("executor", aText("sim"), func(*r) Value { return Text("sim") }),
	}
}

// setAlgorithm takes in the algorithm that was carried out: that of the point, or one that was
// chosen.
func setAlgorithm(r *run.Result, v Value) {
	if r.Algorithm = r.Point.Algorithm; r.Algorithm.String() == v.text {
		return
	}
	r.Algorithm = algorithmOf(v.text)
}

// axesOf makes the object of the keys that [sweep] has set, in its order.
func axesOf(p *scenarios.Point) Value {
	var axes members
	for _, a := range p.Axes {
		axes = append(axes, member{a.Path, valueOf(a.Value)})
	}
	return object(axes)
}

// ncclType returns the element type as nccl-tests spells it.
func ncclType(r *run.Result) string { return r.Point.Spec.Type.NCCL() }

// isTimed reports whether a run has finished in virtual time.
func isTimed(r *run.Result) bool { return r.Timed }

// timed makes a fact of runs that finished in virtual time.
func timed(of fact) fact {
	return func(r *run.Result) Value {
		if !r.Timed {
			return Value{}
		}
		return of(r)
	}
}

// timeColumns lists the time, the bandwidths and the traffic.
func timeColumns() Layout {
	type r = run.Result
	gbps := func(name string, of fact) Column {
		return both(derivedField(name, aNumber().orNull(), timed(of)))
	}
	time := wholeField("time_ps", func(r *r) *unit.Time { return &r.Time }).when(isTimed)
	time.set = func(r *r, v Value) { r.Timed, r.Time = true, unit.Time(v.whole) }
	return Layout{
		both(textField("engine", func(r *r) *string { return &r.Engine }).when(isTimed)),
		both(time).headed("time", "(us)", 9).printed(microseconds).shown(alone),
		only(inLoop(func(c *run.Calls) Value { return Int(c.Time) })).
			headed("call", "(us)", 9).printed(perCall).shown(looped),
		gbps("algbw_GBps", func(r *r) Value { return rate(r.AlgBW()) }).
			headed("algbw", "(GB/s)", 7).printed(func(r *r) string { return gbs(r.AlgBW()) }),
		gbps("busbw_GBps", func(r *r) Value { return rate(r.BusBW()) }).
			headed("busbw", "(GB/s)", 7).printed(func(r *r) string { return gbs(r.BusBW()) }),
		gbps("peak_link_GBps", func(r *r) Value { return rate(r.PeakLink()) }),
		both(naturalField("rounds", func(r *r) *int { return &r.Rounds })),
		both(wholeField("steps", func(r *r) *int64 { return &r.Steps }).when(isTimed)),
		both(wholeField("messages", func(r *r) *int64 { return &r.Messages }).when(isTimed)),
		both(wholeField("bytes_sent", func(r *r) *unit.Bytes { return &r.BytesSent }).when(isTimed)),
		both(wholeField("link_bytes", func(r *r) *unit.Bytes { return &r.LinkBytes }).when(isTimed)),
		both(naturalField("closed_form_ps", func(r *r) *unit.Time { return &r.ClosedForm })),
	}
}

// gbs formats a bandwidth as nccl-tests does.
func gbs(rate float64, _ bool) string { return fmt.Sprintf("%.2f", rate) }

// microseconds formats the time of a result as nccl-tests does.
func microseconds(r *run.Result) string {
	if !r.Timed {
		return missing
	}
	return us(r.Time)
}

// us formats a time in microseconds, as in the table.
func us(t unit.Time) string { return fmt.Sprintf("%.2f", float64(t)/1e6) }

// boundColumns lists the lower bounds of time that hold for every schedule. They are 0 for the kind
// custom, which has no known bound.
func boundColumns() (l Layout) {
	type r = run.Result
	for _, one := range []struct {
		key, csv string
		at       func(r *r) *unit.Time
	}{
		{"lower_bound_ps", "lower_bound_ps", func(r *r) *unit.Time { return &r.Bounds.Lower }},
		{"bounds.latency_ps", "bound_latency_ps", func(r *r) *unit.Time { return &r.Bounds.Latency }},
		{"bounds.bandwidth_ps", "bound_bandwidth_ps", func(r *r) *unit.Time {
			return &r.Bounds.Bandwidth
		}},
		{"bounds.reduction_ps", "bound_reduction_ps", func(r *r) *unit.Time {
			return &r.Bounds.Reduction
		}},
	} {
		l = append(l, inJSON(wholeField(one.key, one.at)).csv(5, one.csv))
	}
	return l
}

// proofColumns lists the outcome of the proof.
func proofColumns() Layout {
	type r = run.Result
	return Layout{
		both(textField("proof", func(r *r) *string { return &r.Proof }, run.Proved, run.Failed,
			run.Off)),
		both(wholeField("slots", func(r *r) *int { return &r.Slots })),
		both(naturalField("min_slots", func(r *r) *int { return &r.MinSlots })),
		inJSON(listField("violations", violationFields(), func(r *r) *[]run.Violation {
			return &r.Violations
		})),
		inCSV(3, "violation", func(r *r) Value {
			if len(r.Violations) == 0 {
				return Value{}
			}
			return Text(r.Violations[0].Kind)
		}),
	}
}

// isChecked reports whether the numbers of a result were computed.
func isChecked(r *run.Result) bool { return r.Numbers != run.Off }

// checked makes a fact of results whose numbers were computed.
func checked(of fact) fact {
	return func(r *run.Result) Value {
		if !isChecked(r) {
			return Value{}
		}
		return of(r)
	}
}

// verdicts lists what numbers of a result may be.
func verdicts() []string {
	return []string{string(reference.NumbersExact), string(reference.NumbersBounded),
		string(reference.NumbersMismatch), run.Off}
}

// numberColumns lists how computed numbers compare with the definition.
func numberColumns() Layout {
	type r = run.Result
	ulps := numberField("max_ulp", func(r *r) *float64 { return &r.MaxULP }).when(isChecked)
	ulps.value = checked(func(r *r) Value { return finite(r.MaxULP) })
	return Layout{
		both(textField("numbers", func(r *r) *string { return &r.Numbers }, verdicts()...)),
		both(wholeField("checked_count", func(r *r) *int64 { return &r.Checked }).when(isChecked)),
		both(wholeField("wrong", func(r *r) *int64 { return &r.Wrong }).when(isChecked)).
			headed("#wrong", "", 7),
		both(ulps),
		both(boolField("ranks_agree", func(r *r) *bool { return &r.RanksAgree }).when(isChecked)),
		// The lower bound as a share of the time. JSON and CSV have both figures instead.
		only(func(r *r) Value { return rate(r.BoundReached()) }).
			headed("%bound", "", 8).printed(func(r *r) string {
			share, _ := r.BoundReached()
			return percent(share)
		}).shown(alone),
		only(timed(func(r *r) Value { return Int(r.Time) })).
			headed("once", "(us)", 9).printed(microseconds).shown(looped),
	}
}

// percent formats a share with one decimal. A share below 1 is at most 99.9.
func percent(share float64) string {
	if tenths := math.Round(share * 1000); tenths != 1000 || share >= 1 {
		return fmt.Sprintf("%.1f", share*100)
	}
	return "99.9"
}

// limitColumns name the busiest link.
func limitColumns() Layout {
	type r = run.Result
	limited := func(r *r) bool {
		_, ok := r.Busy()
		return r.Timed && ok && r.Limit.Name != ""
	}
	return Layout{
		inJSON(derivedField("limit.what", aText("link"), func(*r) Value {
			return Text("link")
		}).when(limited)),
		inJSON(textField("limit.name", func(r *r) *string { return &r.Limit.Name }).when(limited)).
			csv(2, "limit"),
		inJSON(wholeField("limit.like", func(r *r) *int { return &r.Limit.Like }).when(limited)),
		inJSON(derivedField("limit.busy", aNumber(), func(r *r) Value {
			busy, _ := r.Busy()
			return Number(math.Round(busy*1e4) / 1e4)
		}).when(limited)).csv(2, "limit_busy").inGo(),
	}
}
