package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim/model"
)

// TestPlaces: SMs of which only a level is kept are given out and back as each by itself.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		sms := 1 + rng.IntN(5)
		p, each := newPlaces(sms), newPlaces(sms).free
		type given struct {
			share int64
			taken
			list []int32
		}
		var out []given
		for range 40 {
			if k := len(out); k > 0 && rng.IntN(2) == 0 {
				k = rng.IntN(k)
				p.give(out[k].share, &out[k].taken)
				for _, i := range out[k].list {
					each[i] += out[k].share
				}
				out = append(out[:k], out[k+1:]...)
			} else {
				g := given{share: model.WholeSM / int64(1+rng.IntN(4))}
				n := int64(1 + rng.IntN(3*sms))
				g.list = model.Place(each, g.share, n, nil)
				require.Equal(t, int64(len(g.list)), p.take(g.share, n, &g.taken))
				out = append(out, g)
			}
			for i := range each {
				require.Equal(t, each[i], p.free[i]+p.level)
			}
		}
	}
}
