package measured

import (
	"fmt"
	"strconv"
	"strings"
)

// listed reads "# Rank 3 Group 0 Pid 37301 on node0 device 1 [0000:06:00] NVIDIA H100".
func (l *logReader) listed(line []word) {
	for i := range line {
		if i+2 >= len(line) || line[i].text != "#" || line[i+1].text != "Rank" {
			continue
		}
		d, ok := deviceOf(line[i+2:])
		if !ok {
			continue
		}
		l.settle()
		kind := l.head.Kind
		if l.measure || len(l.hosts) == 0 {
			l.library.Devices = nil
		}
		l.start()
		l.head.Kind = kind
		l.head.Ranks = max(l.head.Ranks, d.Rank+1)
		if d.Host != "" {
			l.hosts[d.Host] = true
			l.processes[fmt.Sprint(d.Host, " ", d.PID)] = true
			l.head.spread(len(l.hosts), len(l.processes))
		}
		l.library.Devices = append(l.library.Devices, d)
	}
}

// deviceOf reads what follows "# Rank".
func deviceOf(line []word) (d Device, ok bool) {
	rank, err := strconv.Atoi(line[0].text)
	if err != nil || rank < 0 || rank >= maxRanks {
		return d, false
	}
	d.Rank = rank
	for i := 1; i+1 < len(line); i++ {
		switch value := line[i+1].text; line[i].text {
		case "Pid":
			d.PID, _ = strconv.ParseInt(value, 10, 64)
		case "on":
			d.Host = value
		case "device":
			d.Index = atoi(value)
			for j, w := range line[i+2:] {
				if j == 0 {
					d.Bus = strings.Trim(w.text, "[]")
				} else {
					d.GPU = strings.TrimSpace(d.GPU + " " + w.text)
				}
			}
			return d, true
		}
	}
	return d, true
}

// spread sets the nodes, and the GPUs of a process, if ranks are evenly distributed.
func (o *Of) spread(nodes, processes int) {
	o.Nodes, o.PerProcess = nodes, 0
	if processes > 0 && o.Ranks%processes == 0 {
		o.PerProcess = o.Ranks / processes
	}
}
