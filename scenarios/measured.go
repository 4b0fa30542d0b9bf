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
				"ranks, and by algorithm and protocol where it states them."},
		{Path: "measured.kind", kind: aChoice, Values: kindNames(), Example: `"all_reduce"`,
			Default: "that of the collective", Sweep: true,
			Doc: "What was measured, where the file does not state it."},
		{Path: "measured.in_place", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether times in place are taken, of a file that has both."},
	}
}

// measured reads the file whose times a collective's are held against.
func (v *view) measured(m *MeasuredFile) {
	m.Name, _, _ = fetch[string](v, "measured.file")
	if name, given, _ := fetch[string](v, "measured.kind"); given {
		m.Kind, _ = collective.ParseKind(name) // what is none has been reported
	}
	m.InPlace, _ = fetchOr(v, "measured.in_place", false)
	v.use("measured.file")
	if m.Name != "" {
		v.use("measured.kind", "measured.in_place")
	}
}

// idleMeasured says why a key of [measured] has no effect; empty for other keys.
func idleMeasured(k *Key) string {
	switch k.Path {
	case "measured.kind", "measured.in_place":
		return "has no effect: measured.file names no file"
	case "measured.file":
		return "has no effect: a program is held against nothing measured"
	}
	return ""
}
