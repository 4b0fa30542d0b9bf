package host

import (
	"os"
	"time"

	"collsim/hw"
)

// suffers has the faults of the lane's rank strike that come before its next sub-step: it pauses,
// ends this process, or waits until the run is over. A rank that shares its process with others
// dies by an error, as its end would be reported.
func (l *lane) suffers() error {
	for i := range l.rank.faults {
		f := &l.rank.faults[i]
		if !f.Strikes(int(l.rank.number), l.index, l.number) {
			continue
		}
		switch f.Does {
		case hw.Late:
			if err := l.pauses(f.For); err != nil {
				return err
			}
		case hw.Dies:
			l.rank.still.Add(1)
			if err := l.await(l.rank.isStill, hw.HasStopped, l.rank.number, int32(l.index)); err != nil {
				return err
			}
			if l.rank.alone {
				return kill()
			}
			return f.Died(l.index, int(l.cursor.Step))
		case hw.Stops:
			return l.await(func() bool { return false }, hw.HasStopped, l.rank.number, int32(l.index))
		}
	}
	return nil
}

// isStill reports whether all lanes of a rank have come to their fault, or to their end.
func (p *participant) isStill() bool {
	if int(p.still.Load()) < len(p.lanes) {
		return false
	}
	for _, l := range p.lanes {
		l.rouse()
	}
	return true
}

// kill ends this process without a word to anybody, as a fault would. It returns if it cannot.
func kill() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		time.Sleep(time.Minute) // it does not take that long
	}
	return err
}

// pauses waits for a while, unless the run ends before.
func (l *lane) pauses(while time.Duration) error {
	const slice = 10 * time.Millisecond
	for ; while > 0; while -= slice {
		if f := l.rank.failed.Load(); f != nil {
			return f.err
		}
		time.Sleep(min(while, slice))
		l.done.Add(1)
	}
	return nil
}

// loses reports whether a fault loses the message of the lane's sub-step to destination i, or has
// lost an earlier one of its connection, whose messages arrive in order.
func (l *lane) loses(i int) bool {
	if l.out[i] == nil || l.out[i].lost {
		return l.out[i] != nil
	}
	for j := range l.rank.faults {
		if !l.rank.faults[j].Loses(int(l.rank.number), l.index, l.number-1) {
			continue
		}
		for k := range l.out {
			if l.out[k] != nil {
				l.out[k].lost = true
				break
			}
		}
	}
	return l.out[i].lost
}
