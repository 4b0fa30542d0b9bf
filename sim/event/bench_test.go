package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// BenchmarkRing is a ring all-reduce of ranks with a lane each and eight slots a connection: over
// one link a message between neighbours, or over two through a switch; also where a flag lies
// behind every word, as in NCCL's LL, or where chunks are of two sizes.
func BenchmarkRing(b *testing.B) {
	for _, network := range []string{"ring", "switch", "ring, LL", "ring, uneven"} {
		for _, ranks := range []int{64, 256, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/%d", network, ranks), func(b *testing.B) {
				count, preset := int64(ranks)*4096, strings.Split(network, ",")[0]
				if network == "ring, uneven" {
					count += int64(ranks) / 2
				}
				p := simtest.RingPlan(ranks, count)
				if lane := p.Lane; network == "ring, LL" {
					p.Lane = func(l *schedule.Lane) {
						l.Frame(schedule.Packets)
						lane(l)
					}
				}
				s := simtest.Build(b, p)
				g, err := simtest.Network(preset, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
				require.NoError(b, err)
				env := model.Env{Graph: g, Device: device.Ideal(), Sharing: model.FIFO, Slots: 8}
				b.ReportAllocs()
				sends := int64(0)
				for b.Loop() {
					r, err := Run(s, &env, nil)
					require.NoError(b, err)
					sends += r.Messages
				}
				b.ReportMetric(float64(sends)/1e6/b.Elapsed().Seconds(), "Msends/s")
			})
		}
	}
}

// BenchmarkLog is what a run costs with a log, for a critical path or for a picture: the run alone,
// and with what is worked out when the log is read.
func BenchmarkLog(b *testing.B) {
	cases := map[string]func() *schedule.Schedule{
		"ring": func() *schedule.Schedule { return simtest.Build(b, simtest.RingPlan(256, 1<<24)) },
		"ring-2-channels": func() *schedule.Schedule {
			p := simtest.RingPlan(256, 1<<24)
			p.Channels = 2
			return simtest.Build(b, p)
		},
	}
	for _, name := range []string{"ring", "ring-2-channels"} {
		for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
			for i, asked := range []string{"off", "critical", "critical-read", "picture", "picture-read"} {
				b.Run(fmt.Sprintf("%s/%v/%s", name, sharing, asked), func(b *testing.B) {
					s := cases[name]()
					env := simtest.OnSwitch(b, 256, 25*simtest.GBs/2, 500*unit.Nanosecond)
					env.Sharing = sharing
					sends := int64(0)
					for b.Loop() {
						var log *model.Log
						if i > 0 {
							log = model.NewLog(&env, i > 2)
						}
						r, err := Run(s, &env, log)
						require.NoError(b, err)
						if i == 2 || i == 4 {
							log.Read()
						}
						sends += r.Messages
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sends), "ns/send")
				})
			}
		}
	}
}
