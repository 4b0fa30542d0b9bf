package run

import "collsim/formats/measured"

// JudgeNCCL simulates tables on a machine as it is.
func JudgeNCCL(tables []*measured.Table, o NCCLOptions) (*NCCLFit, error) {
	f, err := ncclTables(tables, o)
	if err != nil {
		return nil, err
	}
	f.Machine = f.Of
	return f, f.simulate(f.processes(o)[0], o.Set)
}

// UsualAlgorithm is usualAlgorithm.
var UsualAlgorithm = usualAlgorithm
