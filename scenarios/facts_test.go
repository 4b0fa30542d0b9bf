package scenarios

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestQuestions: what a document asks, it asks once for all points that it is of; and of the same
// facts it makes the same, however often it has been asked before.
func TestQuestions(t *testing.T) {
	d, err := Read("s.toml", []byte(`
[[collective]]
kind = ["all_reduce", "all_gather"]
algorithm = ["ring(channels=2)", "file:mine.schedule"]
bytes = ["1 KiB", "2 KiB"]
[[collective]]
kind = "custom"
algorithm = "file:mine.schedule"
bytes = ["1 KiB", "2 KiB"]
[[collective]]
kind = "broadcast"
algorithm = ["flat", "chain"]
input = "x.npy"
[sweep]
"sim.slots" = [1, 2]
`+someNetwork), Options{})
	require.NoError(t, err)
	asked := func(open []Question) (list []string) {
		for _, q := range open {
			p := q.Point
			switch q.Topic {
			case WhetherAlgorithm:
				list = append(list, fmt.Sprintf("%v %v", p.Spec.Kind, p.Algorithm))
			case WhichSizes:
				list = append(list, fmt.Sprintf("sizes of %v, %v", p.Algorithm, p.Whole))
			case WhichShapes:
				list = append(list, fmt.Sprintf("shapes in %s", p.Data.Input))
			}
		}
		return list
	}
	_, first, err := d.Points(Facts{})
	require.NoError(t, err)
	require.Equal(t, []string{"all_reduce ring(channels=2)", "all_reduce file:mine.schedule",
		"all_gather ring(channels=2)", "all_gather file:mine.schedule", "custom file:mine.schedule",
		"broadcast flat", "shapes in x.npy", "broadcast chain"}, asked(first))

	var facts Facts
	for _, q := range first {
		a := Answer{Question: q}
		if q.Topic == WhichShapes {
			a.Shapes = []collective.Shape{{2, 3}, nil, nil, nil, nil, nil, nil, nil}
		}
		facts.Answers = append(facts.Answers, a)
	}
	_, second, err := d.Points(facts)
	require.NoError(t, err)
	require.Equal(t, []string{"sizes of file:mine.schedule, 1 KiB",
		"sizes of file:mine.schedule, 2 KiB"}, asked(second))

	wrong := facts
	for _, q := range second {
		wrong.Answers = append(wrong.Answers, Answer{Question: q, Err: errors.New("no such sizes")})
		p := q.Point
		spec, err := shaped(p.Spec, p.Algorithm, p.Whole)
		require.NoError(t, err)
		facts.Answers = append(facts.Answers, Answer{Question: q, Spec: spec})
	}
	for range 2 {
		_, open, err := d.Points(wrong)
		require.Empty(t, open)
		require.EqualError(t, err,
			"s.toml:8: collective[1].algorithm = \"file:mine.schedule\": no such sizes")
		s, open, err := d.Points(facts)
		require.NoError(t, err)
		require.Empty(t, open)
		require.Len(t, s.Points, 2*(8+2+2))
		require.Equal(t, collective.Shape{2, 3}, s.Points[len(s.Points)-1].Tensor.Shape)
	}
}
