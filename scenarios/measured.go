package scenarios

import "collsim/collective"

// MeasuredFile names a table of measured times that simulated ones are held against.
type MeasuredFile struct {
	Name string // as the scenario has it; empty if it names none
	// Kind is the collective of tables that do not state theirs; 0 takes the point's.
	Kind    collective.Kind
	InPlace bool // times in place are taken, where a table has both
}

func measuredKeys() []Key {
	return []Key{
		{Path: "measured.file", kind: aFile, Example: `"nccl-4n.log"`, Sweep: true,
			Doc: "A log of nccl-tests or rccl-tests, as it is, or another table of measured times: see " +
				"[measured.md](measured.md). Its rows are matched by collective, size, type, operator and " +
				"ranks, and by algorithm and protocol where it states them.",
			to:   set(func(m *MeasuredFile, name string) { m.Name = name }),
			idle: "a program is held against nothing measured"},
		{Path: "measured.kind", kind: aChoice, Values: kindNames(), Example: `"all_reduce"`,
			Default: "that of the collective", Sweep: true,
			Doc:  "What was measured, where the file does not state it.",
			to:   set(func(m *MeasuredFile, name string) { m.Kind, _ = collective.ParseKind(name) }),
			idle: "measured.file names no file"},
		{Path: "measured.in_place", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc:  "Whether times in place are taken, of a file that has both.",
			to:   set(func(m *MeasuredFile, on bool) { m.InPlace = on }),
			idle: "measured.file names no file"},
	}
}
