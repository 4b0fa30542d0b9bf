package proof

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// layer is the text of an all-gather and matmul of so many ranks, of shards of m by k and a weight
// of k by n: each shard is multiplied when it has been pulled.
func layer(ranks int, m, k, n int64) string {
	var b strings.Builder
	all := int64(ranks) * m
	op := fmt.Sprintf("matmul m=%d k=%d n=%d bfloat16*bfloat16->bfloat16", m, k, n)
	fmt.Fprintf(&b, "schedule layer\ncollective custom bfloat16\nranks %d\ngroup %[1]d\n"+
		"tensor a given bfloat16 %dx%d\ntensor b given bfloat16 %[3]dx%d\n"+
		"tensor ws inner bfloat16 %[2]dx%[3]d symmetric\n"+
		"tensor all result bfloat16 %[5]dx%[3]d\ncut all block even %[1]d by rank\n"+
		"tensor c result bfloat16 %[5]dx%[4]d\ncut c block even %[1]d by rank\n"+
		"define all = all_gather count=%[6]d of a\n"+
		"define c = (matmul m=%[5]d k=%[3]d n=%[4]d bfloat16*bfloat16->bfloat16) of all, b\n",
		ranks, m, k, n, all, m*k)
	barrier := ""
	for r := 1; r < ranks; r++ {
		barrier += fmt.Sprintf("    signal to %d\n", r)
	}
	for r := 1; r < ranks; r++ {
		barrier += fmt.Sprintf("    wait from %d\n", ranks-r)
	}
	fmt.Fprintf(&b, "rank *\n  lane 0\n    compute (%s) a, b into c[0]\n    loop %d\n"+
		"      compute (%[1]s) all[1+i], b into c[1+i] after 1#1+i\n  lane 1\n    copy a into ws\n"+
		"    copy a into all[0]\n%[3]s    loop %[2]d\n      copy get 1+i ws into all[1+i] post\n%[3]s",
		op, ranks-1, barrier)
	return b.String()
}

// many composes so many parts: all-reduces and all-gathers of 8 ranks on two streams.
func many(t testing.TB, parts int) *schedule.Schedule {
	sum := ring(t, 8, 4096, nil)
	gather, err := schedule.Build(schedule.Plan{Name: "direct", Lanes: 7,
		Spec:  collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 8, Count: 512},
		Group: schedule.Group{8},
		Lane: func(l *schedule.Lane) {
			if l.Index == 0 {
				l.Copy(l.Out(l.Rank), l.In(0))
			}
			l.Send(l.Rank+1+l.Index, l.In(0))
			l.Recv(l.Rank-1-l.Index, l.Out(l.Rank-1-l.Index))
		}})
	require.NoError(t, err)
	var tensors []schedule.Tensor
	var list []schedule.Part
	at := func(i int) schedule.Place {
		return schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(i)}
	}
	for i := range parts {
		role := schedule.Inner
		switch {
		case i < 2:
			role = schedule.Given
		case i > parts-3:
			role = schedule.Result
		}
		tensors = append(tensors, schedule.Tensor{Name: fmt.Sprintf("x%d", i), Type: dtype.Float32,
			Shape: collective.Shape{4096}, Role: role})
		if i < 2 {
			continue
		}
		p := schedule.Part{Schedule: sum, Stream: int32(i % 2), Launch: &schedule.Launch{},
			Memory: []schedule.Place{at(i - 2), at(i)}}
		if i%3 == 0 {
			p.Schedule = gather
		}
		list = append(list, p)
	}
	s, err := schedule.Compose("many", 8, tensors, list)
	require.NoError(t, err)
	return s
}

func BenchmarkVerifyProgram(b *testing.B) {
	b.Run("layer8", func(b *testing.B) {
		s, err := schedule.Parse(layer(8, 1024, 8192, 8192))
		require.NoError(b, err)
		for b.Loop() {
			_, found := Verify(s, Options{})
			require.Empty(b, found)
		}
	})
	b.Run("parts300", func(b *testing.B) {
		s := many(b, 302)
		for b.Loop() {
			_, found := Verify(s, Options{})
			require.Empty(b, found)
		}
	})
	b.Run("parts300calls3", func(b *testing.B) {
		s := many(b, 302)
		for b.Loop() {
			_, found := Verify(s, Options{Iterations: 3})
			require.Empty(b, found)
		}
	})
}
