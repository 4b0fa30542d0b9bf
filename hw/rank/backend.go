package rank

import (
	"context"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// A Backend executes the ranks of one worker. The goroutine that called Worker.Serve calls Prepare,
// Reset, Execute, Finish and Close one after the other. Others may call Status and Stop at any time
// until Close returns. A failure should be an *hw.Error, which says where.
type Backend interface {
	// Prepare receives a part of a job and makes ready for its first repetition. All workers get a
	// part, even those without ranks. The context ends when the worker does.
	Prepare(ctx context.Context, p *Part) error
	// Reset makes ready for the repetition with this number. A coordinator never reuses a number.
	Reset(epoch uint32) error
	// Execute runs a repetition of all its ranks. It returns a measurement of each, in the order of
	// Part.Mine. No worker begins before all are ready.
	Execute() ([]Measurement, error)
	// Finish ends the job. It returns the outputs of its ranks in the last repetition,
	// little-endian.
	Finish() ([][]byte, error)
	// Status reports the progress of the ranks, and what they wait for.
	Status() Status
	// Stop makes running calls end soon with this error. A backend that cannot be interrupted ends
	// its process.
	Stop(err error)
	// Close frees what the backend holds and returns when none of its goroutines runs.
	Close() error
}

// A Part is a worker's share of a job.
type Part struct {
	Epoch uint32 // the number of the first repetition
	Ranks int    // of the job
	// Workers is the number of workers that have ranks; WorkerOf maps ranks to them.
	Workers int
	Mine    []int    // ranks of this worker, rising; none if it has no share
	Inputs  [][]byte // of Mine, little-endian
	Env     hw.Env   // with defaults filled in
	Detail  []byte   // the work, instead of a schedule, in the executor's own format
	// Reload reports whether a step overwrites an input, which is then written again before the
	// next iteration.
	Reload bool
	Peers  []Peer // ranks of other workers that communicate with Mine, rising
	Text   string // of the schedule, if the worker is another process

	schedule *schedule.Schedule
}

// A Peer holds the address of a rank's worker.
type Peer struct {
	Rank    int32
	Address string // as reported by its worker (Ready)
}

// Schedule returns the job's schedule, nil if Detail describes the work.
func (p *Part) Schedule() (*schedule.Schedule, error) {
	if p.schedule == nil && p.Text != "" {
		s, err := schedule.Parse(p.Text)
		if err == nil {
			err = p.fits(s)
		}
		if err != nil {
			return nil, err
		}
		p.schedule = s
	}
	return p.schedule, nil
}

// WorkerOf returns the worker of a rank. Workers get consecutive ranks, as evenly as possible.
func WorkerOf(rank, ranks, workers int) int { return rank * workers / ranks }

// A Measurement records a repetition on a rank, by the clock of its worker.
type Measurement struct {
	Start, End unit.Time    // before its first step, after its last
	Recording  hw.Recording // empty unless Env.Trace asks for it
	Skew       unit.Time    // error bound of these times against the worker's clock
	Estimate   unit.Time    // a library's prediction for its call; 0 if there is none
}

// Status reports the progress of a worker's ranks.
type Status struct {
	Progress int64 // increases while they make progress
	Waits    []schedule.Waiting
	Calls    []Call // library functions that have not returned
}

// A Call is a library function that a rank is in.
type Call struct {
	Rank int
	Name string
}

// Ready describes a worker that accepts jobs.
type Ready struct {
	Address string   // at which other workers reach it, if they need to
	RanOn   hw.RanOn // what it runs on
}
