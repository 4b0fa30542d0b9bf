package report

import (
	"fmt"
	"math"

	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// pointColumns lists the facts of the point: what was run.
func pointColumns() Layout {
	return Layout{
		inCSV(1, "seed", func(r *run.Result) Value { return Int(r.Point.Seed) }),
		inCSV(1, "topology", func(r *run.Result) Value { return Text(r.Point.Topology.Preset) }),
		both("id", func(r *run.Result) Value { return Text(r.Point.ID) }),
		inJSON("point", func(r *run.Result) Value { return axesOf(r.Point) }),
		inCSV(3, "point", func(r *run.Result) Value {
			return listOf(r.Point.Axes, func(a scenarios.Axis) Value {
				return Text(fmt.Sprintf("%s=%v", a.Path, a.Value))
			})
		}),
		inJSON("variant", func(r *run.Result) Value { return Text(r.Point.Variant()) }),
		both("kind", func(r *run.Result) Value { return Text(r.Point.Spec.Kind.String()) }),
		both("algorithm", func(r *run.Result) Value { return Text(r.Algorithm.String()) }),
		both("ranks", func(r *run.Result) Value { return Int(r.Point.Spec.Ranks) }),
		both("bytes", func(r *run.Result) Value { return Int(r.Point.Spec.Bytes()) }).
			headed("size", "(B)", 6),
		both("count", func(r *run.Result) Value { return Int(run.CountOf(r.Point.Spec)) }).
			headed("count", "(elements)", 11),
		both("dtype", func(r *run.Result) Value { return Text(r.Point.Spec.Type.String()) }).
			headed("type", "", 8).printed(ncclType),
		both("op", func(r *run.Result) Value { return Text(run.OpOf(r.Point.Spec)) }).
			headed("redop", "", 6),
		both("root", func(r *run.Result) Value { return Int(rootOf(r.Point.Spec)) }).
			headed("root", "", 5),
		both("in_place", func(r *run.Result) Value { return Bool(r.Point.Spec.InPlace) }),
		both("executor", func(*run.Result) Value { return Text("sim") }),
	}
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
	return Layout{
		both("engine", timed(func(r *run.Result) Value { return Text(r.Engine) })),
		both("time_ps", timed(func(r *run.Result) Value { return Int(r.Time) })).
			headed("time", "(us)", 9).printed(microseconds).shown(alone),
		only(inLoop(func(c *run.Calls) Value { return Int(c.Time) })).
			headed("call", "(us)", 9).printed(perCall).shown(looped),
		both("algbw_GBps", timed(func(r *run.Result) Value { return rate(r.AlgBW()) })).
			headed("algbw", "(GB/s)", 7).printed(func(r *run.Result) string { return gbs(r.AlgBW()) }),
		both("busbw_GBps", timed(func(r *run.Result) Value { return rate(r.BusBW()) })).
			headed("busbw", "(GB/s)", 7).printed(func(r *run.Result) string { return gbs(r.BusBW()) }),
		both("peak_link_GBps", timed(func(r *run.Result) Value { return rate(r.PeakLink()) })),
		both("rounds", func(r *run.Result) Value { return natural(r.Rounds) }),
		both("steps", timed(func(r *run.Result) Value { return Int(r.Steps) })),
		both("messages", timed(func(r *run.Result) Value { return Int(r.Messages) })),
		both("bytes_sent", timed(func(r *run.Result) Value { return Int(r.BytesSent) })),
		both("link_bytes", timed(func(r *run.Result) Value { return Int(r.LinkBytes) })),
		both("closed_form_ps", func(r *run.Result) Value { return natural(r.ClosedForm) }),
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
func boundColumns() Layout {
	return Layout{
		inJSON("lower_bound_ps", func(r *run.Result) Value {
			return Int(r.Bounds.Lower)
		}).csv(5, "lower_bound_ps"),
		inJSON("bounds.latency_ps", func(r *run.Result) Value {
			return Int(r.Bounds.Latency)
		}).csv(5, "bound_latency_ps"),
		inJSON("bounds.bandwidth_ps", func(r *run.Result) Value {
			return Int(r.Bounds.Bandwidth)
		}).csv(5, "bound_bandwidth_ps"),
		inJSON("bounds.reduction_ps", func(r *run.Result) Value {
			return Int(r.Bounds.Reduction)
		}).csv(5, "bound_reduction_ps"),
	}
}

// proofColumns lists the outcome of the proof.
func proofColumns() Layout {
	return Layout{
		both("proof", func(r *run.Result) Value { return Text(r.Proof) }),
		both("slots", func(r *run.Result) Value { return Int(r.Slots) }),
		both("min_slots", func(r *run.Result) Value { return natural(r.MinSlots) }),
		inJSON("violations", func(r *run.Result) Value {
			return listOf(r.Violations, violationValue)
		}),
		inCSV(3, "violation", func(r *run.Result) Value {
			if len(r.Violations) == 0 {
				return Value{}
			}
			return Text(r.Violations[0].Kind)
		}),
	}
}

// checked makes a fact of results whose numbers were computed.
func checked(of fact) fact {
	return func(r *run.Result) Value {
		if r.Numbers == run.Off {
			return Value{}
		}
		return of(r)
	}
}

// numberColumns lists how computed numbers compare with the definition.
func numberColumns() Layout {
	return Layout{
		both("numbers", func(r *run.Result) Value { return Text(r.Numbers) }),
		both("checked_count", checked(func(r *run.Result) Value { return Int(r.Checked) })),
		both("wrong", checked(func(r *run.Result) Value { return Int(r.Wrong) })).
			headed("#wrong", "", 7),
		both("max_ulp", checked(func(r *run.Result) Value { return finite(r.MaxULP) })),
		both("ranks_agree", checked(func(r *run.Result) Value { return Bool(r.RanksAgree) })),
		// The lower bound as a share of the time. JSON and CSV have both figures instead.
		only(func(r *run.Result) Value { return rate(r.BoundReached()) }).
			headed("%bound", "", 8).printed(func(r *run.Result) string {
			share, _ := r.BoundReached()
			return percent(share)
		}).shown(alone),
		only(timed(func(r *run.Result) Value { return Int(r.Time) })).
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
	limited := func(of func(run.Limit) Value) fact {
		return timed(func(r *run.Result) Value {
			if _, ok := r.Busy(); !ok || r.Limit.Name == "" {
				return Value{}
			}
			return of(r.Limit)
		})
	}
	return Layout{
		inJSON("limit.what", limited(func(run.Limit) Value { return Text("link") })),
		inJSON("limit.name", limited(func(l run.Limit) Value { return Text(l.Name) })).csv(2, "limit"),
		inJSON("limit.like", limited(func(l run.Limit) Value { return Int(l.Like) })),
		inJSON("limit.busy", func(r *run.Result) Value {
			busy, ok := r.Busy()
			return known(ok && r.Timed && r.Limit.Name != "", Number(math.Round(busy*1e4)/1e4))
		}).csv(2, "limit_busy").inGo(),
	}
}

// furtherColumns lists columns that were added later: the order of JSON keys never changes.
func furtherColumns() Layout {
	return Layout{
		// Why numbers were not computed though they were asked for.
		inJSON("numbers_why", func(r *run.Result) Value { return some(r.NumbersOff) }).optional(),
		// The algorithm as the scenario has it: "fastest" where one was chosen from candidates.
		inJSON("asked", func(r *run.Result) Value {
			return Text(r.Point.Algorithm.String())
		}).csv(4, "asked"),
		inJSON("candidates", func(r *run.Result) Value {
			return known(len(r.Candidates) > 0, listOf(r.Candidates, candidateValue))
		}),
		// What an algorithm that chooses by itself (NCCL's, Open MPI's) has picked, in words.
		inJSON("picked", func(r *run.Result) Value { return some(r.Picked.String()) }).optional(),
		inJSON("predicted_ps", func(r *run.Result) Value {
			return known(r.Picked.Time > 0, Int(r.Picked.Time))
		}).optional(),
		inJSON("teams", func(r *run.Result) Value { return Int(r.Teams) }).csv(4, "teams"),
		// The shape of inputs, where they are tensors.
		inJSON("shape", tensor(func(r *run.Result) Value {
			return known(len(r.Point.Tensor.Shape) > 0, listOf(r.Point.Tensor.Shape, Int[int64]))
		})).optional(),
		inJSON("axis", tensor(func(r *run.Result) Value {
			return known(r.Point.Tensor.Axis != 0, Int(r.Point.Tensor.Axis))
		})).optional(),
		inJSON("concat", tensor(func(r *run.Result) Value {
			return known(r.Point.Tensor.Concat != 0, Int(r.Point.Tensor.Concat))
		})).optional(),
		// The comparison with the file of the key compare.
		inJSON("compare", func(r *run.Result) Value { return comparisonValue(r.Comparison) }).optional(),
		inJSON("gradient", func(r *run.Result) Value { return gradientValue(r.Gradient) }).optional(),
		// Number of ranks that the proof has walked: 1 where one rank stands for all.
		inJSON("ranks_walked", func(r *run.Result) Value {
			return known(r.Walked > 0, Int(r.Walked))
		}).csv(6, "ranks_walked"),
		// Channels of an algorithm that takes them; a library's are in picked_channels.
		inJSON("channels", func(r *run.Result) Value {
			return known(r.Algorithm.Channels > 0, Int(r.Algorithm.Channels))
		}).optional().csv(6, "channels"),
		// What limits the run where no link is busy for most of the time: the key that would lift
		// the limit, and its share of the critical path; for slots the share of time that more
		// slots would save.
		inJSON("held.by", heldBy(func(h *run.Held) Value {
			return Text(heldName(h))
		})).optional().csv(6, "held_by"),
		inJSON("held.share", heldBy(func(h *run.Held) Value {
			return Number(math.Round(float64(h.Time)/float64(h.Of)*1e4) / 1e4)
		})).optional().csv(6, "held_share"),
	}
}

// looped reports whether a result belongs to a benchmark's loop of calls.
func looped(r *run.Result) bool { return r.Point.Benchmark.Calls > 0 }

// alone reports whether a result is a single call.
func alone(r *run.Result) bool { return !looped(r) }

// inLoop makes a fact of a benchmark's calls, where they are known.
func inLoop(of func(*run.Calls) Value) fact {
	return func(r *run.Result) Value {
		if r.Calls == nil || r.Calls.Off != "" {
			return Value{}
		}
		return of(r.Calls)
	}
}

// perCall formats the time from which bandwidths are computed, as nccl-tests does.
func perCall(r *run.Result) string {
	if !r.Timed || r.Calls != nil && r.Calls.Off != "" {
		return missing
	}
	return us(r.PerCall())
}

// callColumns lists the measurements of a benchmark, where the scenario has one.
func callColumns() Layout {
	return Layout{
		inJSON("call_ps", inLoop(func(c *run.Calls) Value { return Int(c.Time) })).optional().
			csv(7, "call_ps"),
		inJSON("call_period_ps", inLoop(func(c *run.Calls) Value { return Int(c.Period) })).optional().
			csv(7, "call_period_ps"),
		// Whether two successive periods were equal, and how many calls were simulated.
		inJSON("call_repeats", inLoop(func(c *run.Calls) Value { return Bool(c.Repeats) })).optional(),
		inJSON("calls_simulated", inLoop(func(c *run.Calls) Value { return Int(c.Calls) })).optional(),
		// The least time between calls that one process issues for several GPUs.
		inJSON("call_floor_ps", inLoop(func(c *run.Calls) Value {
			return known(c.Floor > 0, Int(c.Floor))
		})).optional().csv(7, "call_floor_ps"),
		inJSON("call_why", func(r *run.Result) Value {
			if r.Calls == nil {
				return Value{}
			}
			return some(r.Calls.Off)
		}).optional(),
	}
}

// heldBy makes a fact of what limits a run.
func heldBy(of func(*run.Held) Value) fact {
	return func(r *run.Result) Value {
		if r.Held == nil {
			return Value{}
		}
		return of(r.Held)
	}
}

// tensor makes a fact of inputs that are tensors.
func tensor(of fact) fact {
	return func(r *run.Result) Value {
		if r.Point.Tensor == nil {
			return Value{}
		}
		return of(r)
	}
}

// candidateValue makes the object of an algorithm that "fastest" tried. Its time is null where it
// was left out.
func candidateValue(c run.Candidate) Value {
	return object(members{{"algorithm", Text(c.Algorithm.String())}, {"time_ps", natural(c.Time)},
		{"why", Text(c.Why)}})
}
