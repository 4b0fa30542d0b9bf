package report

import "collsim/run"

// numericsColumns lists the facts of rounding: the mean error in units of the last place and the
// largest relative error; the number of roundings between input and result; the bounds of errors by
// the sum of magnitudes. It also has the data, and the format in which steps add.
func numericsColumns() Layout {
	type r = run.Result
	figure := func(name string, at func(*r) *float64) Column {
		f := numberField("numerics."+name, at).when(isChecked)
		f.value = checked(func(r *r) Value { return finite(*at(r)) })
		return inJSON(f)
	}
	return append(Layout{
		inJSON(textField("numerics.data", func(r *r) *string { return &r.Data }).when(isChecked)),
		inJSON(derivedField("numerics.accumulate", aText().orNull(), checked(func(r *r) Value {
			return Text(r.Point.Accumulate.String())
		}))).csv(6, "accumulate"),
		figure("mean_ulp", func(r *r) *float64 { return &r.MeanULP }).csv(6, "mean_ulp").inGo(),
		figure("max_relative_error", func(r *r) *float64 { return &r.MaxRelative }).
			csv(6, "max_relative_error").inGo(),
		inJSON(wholeField("numerics.depth", func(r *r) *int { return &r.Depth }).when(isChecked)).
			csv(6, "depth"),
		figure("bound", func(r *r) *float64 { return &r.Bound }).csv(6, "error_bound").inGo(),
	}, orderColumns()...)
}

// orderColumns lists facts of the order of additions. They have no value unless --numerics asks for
// them and something is added.
func orderColumns() (l Layout) {
	type o = run.Order
	list := fields[o]{
		textsField("depends_on", func(o *o) *[]string { return &o.DependsOn }),
		textsField("unknown", func(o *o) *[]string { return &o.Unknown }),
		boolField("rank_order", func(o *o) *bool { return &o.RankOrder }),
		boolField("same_tree", func(o *o) *bool { return &o.SameTree }),
		wholeField("found_on_ranks", func(o *o) *int { return &o.Ranks }),
	}
	for _, f := range partOf(list, orderOf, makeOrder) {
		f.name = "numerics.order." + f.name
		c := inJSON(f)
		if f.name == "numerics.order.depends_on" {
			c = c.csv(6, "order_depends_on")
		}
		l = append(l, c)
	}
	return l
}

// orderOf returns what is known of a result's order of additions, nil for nothing.
func orderOf(r *run.Result) *run.Order {
	if r.Numbers == run.Off || r.Numerics == nil {
		return nil
	}
	return r.Numerics.Order
}

func makeOrder(r *run.Result) *run.Order {
	if makeNumerics(r); r.Numerics.Order == nil {
		r.Numerics.Order = &run.Order{}
	}
	return r.Numerics.Order
}

// makeNumerics says that --numerics was given.
func makeNumerics(r *run.Result) {
	if r.Numerics == nil {
		r.Numerics = &run.Numerics{Data: r.Data, Accumulate: r.Point.Accumulate.String()}
	}
}
