package measured

import "encoding/json"

// readFlat reads what rccl-tests writes with --output_format json: an object for each time, in a
// list or one a line. Times are microseconds.
func readFlat(file string, text []byte) (*Data, error) {
	f := reading{file: file}
	last := 1
	f.eachValue(text, "JSON of rccl-tests", func(line int, value []byte) error {
		var members map[string]any
		if err := json.Unmarshal(value, &members); err != nil {
			return err
		}
		last = line
		for _, name := range [][2]string{{"name", "collective"}, {"gpus", "ranks"}, {"time", "time_us"}} {
			if value, has := members[name[0]]; has {
				delete(members, name[0])
				members[name[1]] = value
			}
		}
		r := record{common: Row{Of: Of{File: file}, Line: line, Root: -1, Wrong: -1}}
		if key, value, err := r.object(members); err != nil {
			f.refuse(f.problem(line, key, value, err.Error()))
			return nil
		}
		f.Rows = append(f.Rows, r.rows()...)
		return nil
	})
	return f.done(last, "no object has a time")
}
