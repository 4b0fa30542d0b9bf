package collsim

import (
	"bytes"
	"encoding/csv"
	"fmt"

	"collsim/sim"
	"collsim/unit"
)

// LinkUse is what a link did during a run.
type LinkUse struct {
	Name, From, To string // "gpu0->switch" goes from gpu0 to switch
	Bytes          unit.Bytes
	Busy           unit.Time // at its full bandwidth
}

// uses lists all links by index, those that carried nothing among them.
func (n *network) uses(ran *sim.Result) []LinkUse {
	list := make([]LinkUse, len(n.graph.Links))
	for i, l := range n.graph.Links {
		list[i] = LinkUse{Name: l.Name, From: n.graph.Nodes[l.From].Name,
			To: n.graph.Nodes[l.To].Name, Bytes: ran.LinkLoad[i], Busy: ran.LinkBusy[i]}
	}
	return list
}

// devices names the node of every rank.
func (n *network) devices() []string {
	names := make([]string, len(n.graph.Ranks))
	for rank, node := range n.graph.Ranks {
		names[rank] = n.graph.Nodes[node].Name
	}
	return names
}

// LinksCSV writes a line for every link of every result that was run with RunOptions.Links, under
// a line of names. busy is the share of the result's time for which the link would have been at
// work at its full bandwidth; it is empty where there was no time.
func LinksCSV(reports ...*Report) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	names := []string{"scenario", "id", "link", "from", "to", "bytes", "busy_ps", "busy"}
	if err := w.Write(names); err != nil {
		return nil, err
	}
	for _, r := range reports {
		for _, result := range r.Results {
			for _, l := range result.Links {
				share := ""
				if result.Time > 0 {
					share = fmt.Sprint(float64(l.Busy) / float64(result.Time))
				}
				err := w.Write([]string{r.Scenario.File, result.Point.ID, l.Name, l.From, l.To,
					fmt.Sprint(int64(l.Bytes)), fmt.Sprint(int64(l.Busy)), share})
				if err != nil {
					return nil, err
				}
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
