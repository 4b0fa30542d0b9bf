package report

import "collsim/run"

// numericsColumns lists the facts of rounding: the mean error in units of the last place and the
// largest relative error; the number of roundings between input and result; the bounds of errors by
// the sum of magnitudes. It also has the data, and the format in which steps add.
func numericsColumns() Layout {
	return append(Layout{
		inJSON("numerics.data", checked(func(r *run.Result) Value { return Text(r.Data) })),
		inJSON("numerics.accumulate", checked(func(r *run.Result) Value {
			return Text(r.Point.Accumulate.String())
		})).csv(6, "accumulate"),
		inJSON("numerics.mean_ulp", checked(func(r *run.Result) Value {
			return finite(r.MeanULP)
		})).csv(6, "mean_ulp").inGo(),
		inJSON("numerics.max_relative_error", checked(func(r *run.Result) Value {
			return finite(r.MaxRelative)
		})).csv(6, "max_relative_error").inGo(),
		inJSON("numerics.depth", checked(func(r *run.Result) Value {
			return Int(r.Depth)
		})).csv(6, "depth"),
		inJSON("numerics.bound", checked(func(r *run.Result) Value {
			return finite(r.Bound)
		})).csv(6, "error_bound").inGo(),
	}, orderColumns()...)
}

// orderColumns lists facts of the order of additions. They have no value unless --numerics asks for
// them and something is added.
func orderColumns() Layout {
	ordered := func(of func(*run.Order) Value) fact {
		return checked(func(r *run.Result) Value {
			if r.Numerics == nil || r.Numerics.Order == nil {
				return Value{}
			}
			return of(r.Numerics.Order)
		})
	}
	return Layout{
		inJSON("numerics.order.depends_on", ordered(func(o *run.Order) Value {
			return listOf(o.DependsOn, Text)
		})).csv(6, "order_depends_on"),
		inJSON("numerics.order.unknown", ordered(func(o *run.Order) Value {
			return listOf(o.Unknown, Text)
		})),
		inJSON("numerics.order.rank_order", ordered(func(o *run.Order) Value {
			return Bool(o.RankOrder)
		})),
		inJSON("numerics.order.same_tree", ordered(func(o *run.Order) Value {
			return Bool(o.SameTree)
		})),
		inJSON("numerics.order.found_on_ranks", ordered(func(o *run.Order) Value {
			return Int(o.Ranks)
		})),
	}
}
