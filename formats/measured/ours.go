package measured

import (
	"encoding/json"
	"slices"
	"strconv"
)

// readOurCSV reads what collsim --csv writes: simulated times, of a loop of calls where there is
// one. What only a simulation has is left out.
func readOurCSV(file string, text []byte) (*Data, error) {
	c := newCSV(file, text)
	c.isOurs, c.of.Simulated = true, true
	return c.read()
}

// ourOutput is the part of collsim's JSON (--json) that is read, and of a line of --jsonl.
type ourOutput struct {
	Topology struct {
		Nodes int `json:"nodes"`
	} `json:"topology"`
	Results []map[string]any `json:"results"`
	Result  map[string]any   `json:"result"`
}

// readOurJSON reads what collsim --json and --jsonl write, as readOurCSV. The line of a row is the
// number of its result.
func readOurJSON(file string, text []byte) (*Data, error) {
	o := reading{file: file}
	n := 0
	o.eachValue(text, "JSON of collsim", func(_ int, value []byte) error {
		var out ourOutput
		if err := json.Unmarshal(value, &out); err != nil {
			return err
		}
		if out.Result != nil {
			out.Results = append(out.Results, out.Result)
		}
		for _, result := range out.Results {
			n++
			r := record{common: Row{Of: Of{File: file, Simulated: true, Nodes: max(0, out.Topology.Nodes)},
				Line: n, Root: -1, Wrong: -1}}
			if key, value, err := r.object(result); err != nil {
				o.refuse(o.problem(n, key, value, err.Error()))
				continue
			}
			o.Rows = append(o.Rows, r.rows()...)
		}
		return nil
	})
	return o.done(max(n, 1), "no result has a time")
}

// object sets what the members of an object state whose names are columns, in the order of the
// names. What an error is about is returned with it.
func (r *record) object(members map[string]any) (key, value string, err error) {
	for _, name := range sortedNames(members) {
		text := textOf(members[name])
		if c, _ := columnOf(name); c.set != nil && text != "" {
			if err := c.set(r, text); err != nil {
				return name, text, err
			}
		}
	}
	return "", "", nil
}

// sortedNames returns the names of members in order.
func sortedNames(members map[string]any) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// textOf spells a member of an object that is no object; "" for others.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
