package report

// JSONSchema writes a JSON Schema (draft 2020-12) of what --json prints, and of a line of --jsonl.
// It follows from the columns and fields that write them. Objects may have further members: keys
// may be added, never renamed.
func JSONSchema() ([]byte, error) {
	defined := []Form{Columns().form().named("result"), programFields().form().named("program"),
		skipFields().form().named("skipped")}
	result, program, skipped := defined[0].ref(), defined[1].ref(), defined[2].ref()
	report := Columns().reportFields().form()
	summary := summaryFields().form()
	for i, m := range report.Members {
		switch m.Name {
		case "results":
			report.Members[i].Form = anArray(result)
		case "programs":
			report.Members[i].Form = anArray(program)
		case "skipped":
			report.Members[i].Form, summary.Members[i].Form = anArray(skipped), anArray(skipped)
		}
	}
	report, summary = report.named("report"), summary.named("summary")
	line := []Form{lineForm("result", result, besides().form(), true),
		lineForm("program", program, programBesides().form(), false),
		lineForm("skipped", skipped, Form{}, false),
		anObject(must("summary", anArray(summary.ref())))}
	defs := members{}
	for _, f := range append(defined, report, summary) {
		defs = append(defs, member{f.name, f.schema()})
	}
	defs = append(defs, member{"line", object(members{{"anyOf", listOf(line, Form.schema)}})})
	ref := func(name string) Value { return Form{name: name}.refersTo() }
	return encode(object(members{
		{"$schema", Text("https://json-schema.org/draft/2020-12/schema")},
		{"title", Text("results of collsim")},
		{"description", Text("A report of collsim FILE --json, an array of them for several files, or " +
			"a line of --jsonl. Objects may have further members. Times are picoseconds (_ps), " +
			"bandwidths 10^9 bytes per second (_GBps).")},
		{"anyOf", array(ref("report"), anArray(report.ref()).schema(), ref("line"))},
		{"$defs", object(defs)},
	}))
}

// named gives a form a name, by which a schema defines it.
func (f Form) named(name string) Form {
	f.name = name
	return f
}

// ref returns a reference to a form with a name.
func (f Form) ref() Form { return Form{name: f.name} }

// refersTo makes the schema of a reference.
func (f Form) refersTo() Value { return object(members{{"$ref", Text("#/$defs/" + f.name)}}) }

// schema makes the schema of a form.
func (f Form) schema() Value {
	if f.Type == "" && f.name != "" {
		return f.refersTo()
	}
	var all members
	switch {
	case f.Texts != nil:
		texts := listOf(f.Texts, Text)
		if f.Null {
			texts.list = append(texts.list, Value{})
		}
		all = append(all, member{"enum", texts})
	case f.Null:
		all = append(all, member{"type", array(Text(f.Type), Text("null"))})
	case f.Type != "":
		all = append(all, member{"type", Text(f.Type)})
	}
	if f.Items != nil {
		all = append(all, member{"items", f.Items.schema()})
	}
	if len(f.Members) == 0 {
		return object(all)
	}
	var properties members
	required := array()
	for _, m := range f.Members {
		properties = append(properties, member{m.Name, m.Form.schema()})
		if !m.Optional {
			required.list = append(required.list, Text(m.Name))
		}
	}
	return object(append(all, member{"properties", object(properties)}, member{"required", required}))
}
