package report

import (
	"errors"
	"fmt"
	"strings"

	"collsim/program"
	"collsim/run"
	"collsim/scenarios"
)

// JSONLine writes one result of a scenario in a line: an object with "scenario", "digest", what a
// reader might stumble over as "warnings" if there is anything, "result", and as "table" what
// tables and pictures say of it besides.
func JSONLine(s *run.Scenario, r *run.Result) ([]byte, error) {
	line := lineOf(s.File, r.Point.Digest(run.Version))
	if len(r.Warnings) > 0 {
		line = append(line, member{"warnings", listOf(r.Warnings, Text)})
	}
	return encodeLine(object(append(line, member{"result", columns().result(r)},
		member{"table", besides().write(r)})))
}

// JSONSkipLine writes a point that was skipped in a line: an object with "scenario", "digest" and
// "skipped".
func JSONSkipLine(s *run.Scenario, skip run.Skip) ([]byte, error) {
	return encodeLine(object(append(lineOf(s.File, skip.Point.Digest(run.Version)),
		member{"skipped", skipFields().write(&skip)})))
}

// JSONProgramLine writes one program of a scenario in a line: an object with "scenario", "digest",
// "program", and as "table" what tables say of it besides.
func JSONProgramLine(s *run.Scenario, r *run.ProgramResult) ([]byte, error) {
	return encodeLine(object(append(lineOf(s.File, r.Point.Digest(run.Version)),
		member{"program", programFields().write(r)}, member{"table", programBesides().write(r)})))
}

// lineOf lists the members that begin a line.
func lineOf(file, digest string) members {
	return append(version(), member{"scenario", Text(file)}, member{"digest", Text(digest)})
}

// lineForm describes a line about a point or a program: what a member and "table" have, and
// whether there may be warnings.
func lineForm(name string, form, table Form, warned bool) Form {
	f := anObject(must("collsim", aText()), must("schema", aWhole()), must("scenario", aText()),
		must("digest", aText()))
	if warned {
		f.Members = append(f.Members, may("warnings", anArray(aText())))
	}
	f.Members = append(f.Members, must(name, form))
	if table.Type != "" {
		f.Members = append(f.Members, must("table", table))
	}
	return f
}

// The forms of the lines about results and programs.
func resultLine() Form {
	return lineForm("result", Columns().form(), besides().form(), true)
}
func programLine() Form {
	return lineForm("program", programFields().form(), programBesides().form(), false)
}

// form describes a result.
func (l Layout) form() Form {
	f := anObject()
	for _, c := range l {
		if c.Key != "" {
			f.put(strings.Split(c.Key, "."), Member{Form: c.Form, Optional: c.Optional})
		}
	}
	return f
}

// ReadResult reads the result of a point from a line that JSONLine has written. A line that does
// not follow from what was read of it is an error, as are results of executions.
func ReadResult(p *scenarios.Point, line []byte) (*run.Result, error) {
	form := resultLine()
	v, err := readLine(line, &form)
	if err != nil {
		return nil, err
	}
	r := &run.Result{Point: p, Rounds: -1, MinSlots: -1, ClosedForm: -1}
	of := v.get("result")
	if of.get("hw").kind != isNull {
		return nil, errors.New("result.hw: it was executed, and such results are not read: " +
			"collsim validate prints a table of them")
	}
	for _, c := range columns() {
		if one := of.get(strings.Split(c.Key, ".")...); one.kind != isNull && c.Set != nil {
			c.Set(r, one)
		}
	}
	besides().read(v.get("table"), r)
	for _, one := range v.get("warnings").list {
		r.Warnings = append(r.Warnings, one.text)
	}
	return r, same(firstDifferent("result", of, columns().result(r)))
}

// ReadProgram reads the result of a program from a line that JSONProgramLine has written.
func ReadProgram(p *scenarios.ProgramPoint, line []byte) (*run.ProgramResult, error) {
	form := programLine()
	v, err := readLine(line, &form)
	if err != nil {
		return nil, err
	}
	r := &run.ProgramResult{Point: p, Lowered: &program.Lowered{}}
	programFields().read(v.get("program"), r)
	programBesides().read(v.get("table"), r)
	return r, same(firstDifferent("program", v.get("program"), programFields().write(r)))
}

// readLine parses a line and checks its form, and that this program's version has written it.
func readLine(line []byte, form *Form) (v Value, err error) {
	if v, err = parse(line); err != nil {
		return v, fmt.Errorf("a line of collsim FILE --jsonl is expected: %w", err)
	}
	if by := v.get("collsim").text; by != "" && by != run.Version {
		return v, fmt.Errorf("collsim %s has written it; this is collsim %s, whose results may "+
			"differ: run it again", by, run.Version)
	}
	for _, m := range form.Members {
		one, there := v.member(m.Name)
		if !there && !m.Optional {
			return v, fmt.Errorf("%s is missing", m.Name)
		}
		if !there {
			continue
		}
		if err := m.Form.check(m.Name, one); err != nil {
			return v, err
		}
	}
	return v, nil
}

// same refuses a line in which something is not what follows from the rest of it.
func same(differs string) error {
	if differs == "" {
		return nil
	}
	return fmt.Errorf("%s does not follow from the rest of the line: the line was changed", differs)
}
