package run_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
	"collsim/formats/chakra"
	"collsim/formats/dumps"
	"collsim/internal/tier"
	"collsim/run"
)

// traceNode writes a node of a trace of Chakra that follows the one before it.
func traceNode(id int, attributes string) string {
	deps := ""
	if id > 1 {
		deps = fmt.Sprint(id - 1)
	}
	return fmt.Sprintf(`{"Id": %d, "Name": "n%[1]d", "data_deps": [%s], %s}`, id, deps, attributes)
}

// randomTrace returns the nodes of ranks: collectives of groups and messages, in one common order.
func randomTrace(r *rand.Rand) [][]string {
	ranks := make([][]string, 2+r.IntN(3))
	for tag := range 1 + r.IntN(8) {
		some := r.Perm(len(ranks))[:2+r.IntN(len(ranks)-1)]
		slices.Sort(some)
		size := 48 * (1 + r.IntN(2))
		if r.IntN(3) == 0 {
			a, b := some[0], some[1]
			ranks[a] = append(ranks[a], fmt.Sprintf(`"NodeType": 5, "comm_size": %d, "comm_dst": %d, `+
				`"comm_tag": %d`, size, b, tag))
			ranks[b] = append(ranks[b], fmt.Sprintf(`"NodeType": 6, "comm_size": %d, "comm_src": %d, `+
				`"comm_tag": %d`, size, a, tag))
			continue
		}
		kind := []int{0, 2, 5, 7}[r.IntN(4)]
		for _, rank := range some {
			ranks[rank] = append(ranks[rank], fmt.Sprintf(`"NodeType": 7, "comm_type": %d, `+
				`"comm_size": %d, "pg_name": "%v"`, kind, 4*size, some))
		}
	}
	return ranks
}

// TestOneJudgement: a trace with one change is wrong for verify if it is for [program]; what is
// wrong for diagnose is for both.
func TestOneJudgement(t *testing.T) {
	wrong := 0
	for seed := range tier.Of[uint64](400, 4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		ranks := randomTrace(r)
		if one := &ranks[r.IntN(len(ranks))]; len(*one) > 0 {
			i := r.IntN(len(*one))
			switch r.IntN(4) {
			case 0:
				*one = slices.Delete(*one, i, i+1)
			case 1:
				j := r.IntN(len(*one))
				(*one)[i], (*one)[j] = (*one)[j], (*one)[i]
			case 2:
				(*one)[i] = strings.Replace((*one)[i], `"comm_size": `, `"comm_size": 1`, 1)
			}
		}
		var parts []formats.Part
		var inputs []chakra.Input
		var files []dumps.Source
		for rank, nodes := range ranks {
			for i := range nodes {
				nodes[i] = traceNode(i+1, nodes[i])
			}
			name := fmt.Sprintf("t.%d.json", rank)
			text := `{"workload_graph": [` + strings.Join(nodes, ",\n") + "]}"
			parts = append(parts, formats.Part{Name: name, Reader: strings.NewReader(text)})
			inputs = append(inputs, chakra.Input{Name: name, Reader: strings.NewReader(text)})
			files = append(files, dumps.Source{Name: name, Rank: rank,
				Read: func() ([]byte, error) { return []byte(text), nil }})
		}
		f, err := formats.ReadTrace("t", parts, formats.Options{})
		require.NoError(t, err)
		good := run.VerifyFile("t", f, run.VerifyOptions{}).Good()
		_, program := chakra.ReadWorkload("t", inputs, &chakra.Reading{})
		require.Equal(t, good, program == nil, "seed %d: %v\n%v", seed, program, ranks)
		d, err := dumps.Read(files)
		if err == nil && len(d.Judge().Findings) > 0 {
			require.False(t, good, "seed %d", seed)
		}
		if !good {
			wrong++
		}
	}
	require.Greater(t, wrong, 50)
}
