package rank

import (
	"context"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// Backend executes what the ranks of one worker have of a job. Prepare, Reset, Execute, Finish and
// Close are called one after the other by the goroutine that called Worker.Serve; Status and Stop
// by others, at any time until Close returns. What fails is best an *hw.Error, which says where.
type Backend interface {
	// Prepare takes up a part of a job and makes ready for its first repetition. All workers get
	// one, also those that no rank of the job is on. The context ends when the worker does.
	Prepare(ctx context.Context, p *Part) error
	// Reset makes ready for the next repetition, of this number. The numbers of a coordinator's
	// repetitions never return.
	Reset(epoch uint32) error
	// Execute plays a repetition of all its ranks, and says of each what came of it, in the order
	// of Part.Mine. No worker begins it before all are ready.
	Execute() ([]Measurement, error)
	// Finish ends the job. It returns the outputs of its ranks in the last repetition,
	// little-endian.
	Finish() ([][]byte, error)
	// Status is how far the ranks have come, and what they wait for.
	Status() Status
	// Stop has what goes on end with this error, soon. A backend that cannot be interrupted ends
	// its process.
	Stop(err error)
	// Close frees what the backend holds. Nothing of it runs then.
	Close() error
}

// Part is what a worker has of a job.
type Part struct {
	Epoch uint32 // the number of the first repetition
	Ranks int    // of the job
	// Workers is on how many workers the ranks are; WorkerOf says on which.
	Workers int
	Mine    []int    // those on this worker, in rising order; none if it has no part in the job
	Inputs  [][]byte // of Mine, little-endian
	Env     hw.Env   // completed
	Detail  []byte   // what to do instead of a schedule; the executor that made it can read it
	// Reload reports whether a step writes where an input lies: it is then written again before the
	// next iteration.
	Reload bool
	Peers  []Peer // ranks of other workers that Mine exchange with, in rising order
	Text   string // of the schedule, where the worker is another process

	schedule *schedule.Schedule
}

// Peer is where a rank's worker can be reached.
type Peer struct {
	Rank    int32
	Address string // as its worker has said (Ready)
}

// Schedule is the job's, nil if Detail says what to do.
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

// WorkerOf is the worker of a rank where as many are on each as comes out even.
func WorkerOf(rank, ranks, workers int) int { return rank * workers / ranks }

// Measurement is what came of a repetition on a rank, by the clock of its worker.
type Measurement struct {
	Start, End unit.Time    // before its first step, after its last
	Recording  hw.Recording // empty unless Env.Trace asks for it
	Skew       unit.Time    // how far these times may be off the worker's clock
	Estimate   unit.Time    // of a library that predicts what its call takes; 0 where none does
}

// Status is how far the ranks of a worker have come.
type Status struct {
	Progress int64 // grows as long as they go on
	Waits    []schedule.Waiting
	Calls    []Call // of libraries that have not returned
}

// Call is a function of a library that a rank is in.
type Call struct {
	Rank int
	Name string
}

// Ready is what a worker says when it can take up jobs.
type Ready struct {
	Address string   // at which other workers reach it, where they have to
	RanOn   hw.RanOn // what it runs on
}
