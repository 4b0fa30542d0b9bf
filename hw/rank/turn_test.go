package rank

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw/gate"
)

// TestOutOfTurn: an order that comes when it is not its turn ends the worker, and so does the end
// of a run, whatever else is said while a repetition runs.
func TestOutOfTurn(t *testing.T) {
	const hangs, nothing, idle = 13, 2, 1
	for _, test := range []struct {
		name   string
		orders []*order
		want   string
	}{
		{"go of nothing", []*order{{Kind: orderGo}}, "order 4, which nobody awaits"},
		{"reset of nothing", []*order{{Kind: orderReset}}, "order 3, which nobody awaits"},
		{"finish of nothing", []*order{{Kind: orderFinish}}, "order 5, which nobody awaits"},
		{"go without a rank", []*order{orderLike(orderJob, idle), nil, {Kind: orderGo}},
			"order 4, which nobody awaits"},
		{"twice", []*order{orderLike(orderJob, 0), nil, orderLike(orderJob, 0)},
			"order 2, which nobody awaits"},
		{"again without reset", []*order{orderLike(orderJob, 0), nil, {Kind: orderGo}, nil,
			{Kind: orderGo}}, "order 4, which nobody awaits"},
		{"while it executes", []*order{orderLike(orderJob, hangs), nil, {Kind: orderGo},
			{Kind: orderReset}, {Kind: orderReset}}, "order 3, which nobody awaits"},
		{"nothing to do", []*order{orderLike(orderJob, nothing)}, "1 ranks with nothing to do"},
		{"the end while it executes", []*order{orderLike(orderJob, hangs), nil, {Kind: orderGo},
			orderLike(orderAbort, 0)}, `\x1b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newEnds()
				w, err := introduce(a, gate.NewRun(), Rendezvous{Timeout: time.Second}, StartClock())
				require.NoError(t, err)
				hostile := newWire[report, order](b, maxOther)
				var running sync.WaitGroup
				running.Go(func() {
					defer b.Close()
					for _, o := range test.orders {
						if o == nil {
							synctest.Wait()
						} else if hostile.send(o) != nil {
							return
						}
					}
					for hostile.receive(&report{}) == nil {
					}
				})
				err = w.Serve(t.Context(), &strict{t: t, stop: make(chan struct{})}, Ready{})
				require.ErrorContains(t, err, test.want)
				running.Wait()
			})
		})
	}
}

// strict is a backend that holds a worker to the order in which it may be called.
type strict struct {
	t        *testing.T
	memory   []*Memory
	part     *Part
	prepared bool // there is a job,
	ready    bool // and a repetition of it has not run
	closed   bool
	stop     chan struct{}
	once     sync.Once
}

func (p *strict) Prepare(_ context.Context, part *Part) error {
	require.False(p.t, p.closed)
	p.part, p.prepared, p.ready, p.memory = part, false, false, nil
	s, err := part.Schedule()
	if err != nil {
		return err
	}
	if s == nil && part.Detail == nil && len(part.Mine) > 0 {
		p.t.Error("nothing to do")
	}
	for i, rank := range part.Mine {
		if s != nil {
			m := NewMemory(s, rank)
			m.Reset(part.Inputs[i])
			p.memory = append(p.memory, m)
		}
	}
	p.prepared, p.ready = true, true
	return nil
}

func (p *strict) Reset(uint32) error {
	require.True(p.t, p.prepared && !p.closed, "reset of no job")
	p.ready = true
	return nil
}

func (p *strict) Execute() ([]Measurement, error) {
	require.True(p.t, p.ready && !p.closed, "a repetition that is not prepared")
	p.ready = false
	if string(p.part.Detail) == "hang" {
		<-p.stop
		return nil, errors.New("stopped")
	}
	return make([]Measurement, len(p.part.Mine)), nil
}

func (p *strict) Finish() (all [][]byte, err error) {
	require.True(p.t, p.prepared && !p.closed, "the end of no job")
	p.prepared, p.ready = false, false
	for i := range p.part.Mine {
		all = append(all, p.part.Inputs[i])
	}
	return all, nil
}

func (p *strict) Status() Status { return Status{} }
func (p *strict) Stop(error)     { p.once.Do(func() { close(p.stop) }) }

func (p *strict) Close() error {
	require.False(p.t, p.closed, "closed twice")
	p.closed = true
	return nil
}
