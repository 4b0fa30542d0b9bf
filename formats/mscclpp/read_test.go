package mscclpp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/mscclpp"
	"collsim/proof"
	"collsim/schedule"
)

// wrap is a plan of one GPU with some operations, all else as it should be.
func wrap(ops string) string {
	return `{"name":"x","collective":"test","protocol":"LL","inplace":false,
"gpus":[{"id":0,"input_chunks":2,"output_chunks":2,"scratch_chunks":2,"channels":[],
"remote_buffers":[],"threadblocks":[{"id":0,"channels":[],"ops":[
` + ops + `
]}]}]}`
}

// refusal is a plan that cannot be read, and what the error says, its hint among it.
type refusal struct{ plan, want, hint string }

// refuse reads plans that cannot be read.
func refuse(t *testing.T, cases map[string]refusal) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := mscclpp.Read(strings.NewReader(c.plan), foreign.Options{File: "x"})
			var wrong *foreign.Error
			require.ErrorAs(t, err, &wrong)
			require.Contains(t, err.Error(), c.want)
			require.Contains(t, err.Error(), c.hint)
		})
	}
}

func TestSyntax(t *testing.T) {
	refuse(t, map[string]refusal{
		"empty":     {"", "x:1: the file ends in the middle", ""},
		"no object": {"3", "x:1: the plan is 3; \"{\" was expected", ""},
		"syntax":    {"{\n\n;", "x:3: ", ""},
		"cut off":   {wrap("")[:90], "x:2: the file ends in the middle", ""},
		"trailing":  {wrap("") + "{}", "something follows the plan", ""},
		"no gpus": {`{"name":"x","collective":"test","protocol":"LL","inplace":false,"gpus":[]}`,
			"the plan has no gpus", ""},
		"lacking": {`{"name":"x"}`, `the plan lacks "collective"`, ""},
		"unknown key": {strings.Replace(wrap(""), "inplace", "in_place", 1),
			`key "in_place" of the plan is none`, "did you mean inplace?"},
		"second key": {strings.Replace(wrap(""), `"collective"`, `"name"`, 1),
			`the plan has a second "name"`, ""},
		"protocol": {strings.Replace(wrap(""), `"LL"`, `"LL128"`, 1),
			`protocol "LL128" is none; known are Simple, LL`, "did you mean LL?"},
		"flag": {strings.Replace(wrap(""), "false", `"no"`, 1), `true or false was expected`, ""},
		"fraction": {strings.Replace(wrap(""), `chunks":2`, `chunks":2.5`, 1),
			"2.5; an integer from 0 to 16777216 was expected", ""},
		"gpu id": {strings.Replace(wrap(""), `"id":0`, `"id":1`, 1),
			"gpu 1 stands where gpu 0 must", ""},
	})
}

func TestErrors(t *testing.T) {
	chunk := func(kind string, index, size int) string {
		return fmt.Sprintf(`[{"type":%q,"index":%d,"size":%d}]`, kind, index, size)
	}
	move := func(name, src, dst string) string {
		return fmt.Sprintf(`{"name":%q,"src_buff":%s,"dst_buff":%s}`, name, src, dst)
	}
	refuse(t, map[string]refusal{
		"operation": {wrap(`{"name":"cpy"}`), `x:4: operation "cpy" is none`,
			"did you mean copy"},
		"key of operation": {wrap(`{"name":"nop","barrier_id":0}`), `x:4: nop takes no "barrier_id"`,
			""},
		"lacking key": {wrap(`{"name":"barrier","barrier_id":0}`),
			`barrier lacks "num_threadblocks"`, ""},
		"chunk out of range": {wrap(move("copy", chunk("i", 1, 2), chunk("o", 0, 2))),
			"x:4: chunks 1 to 2 of in of rank 0, which has 2", ""},
		"packets elsewhere": {wrap(move("upkt", chunk("i", 0, 1), chunk("o", 0, 1))),
			"packets in in; they lie in scratch buffers", ""},
		"sizes": {wrap(move("copy", chunk("i", 0, 1), chunk("o", 0, 2))),
			"copy of sources and destinations of different sizes", ""},
		"too few": {wrap(move("copy", "[]", chunk("o", 0, 2))),
			"0 sources and 1 destinations is too few", ""},
		"too many": {wrap(move("cpkt", `[{"type":"i","index":0,"size":1},
{"type":"i","index":0,"size":1}]`, chunk("s", 0, 1))), "cpkt has too many buffers", ""},
		"two spaces": {wrap(move("copy", `[{"type":"i","buffer_id":0,"index":0,"size":1}]`,
			chunk("o", 0, 1))), "one of type, buffer_id and switch_channel_id, not 2", ""},
		"channel": {wrap(`{"name":"signal","channel_type":"memory","channel_ids":[0]}`),
			"signal over channel 0; the thread block has 0 of type memory", ""},
		"channel type": {wrap(`{"name":"flush","channel_type":"memory","channel_ids":[0]}`),
			"flush over channels of type memory; it goes over port", ""},
		"semaphore": {wrap(`{"name":"sem_release","semaphore_ids":[0]}`), "semaphore 0; gpu 0 has 0",
			""},
		"nested": {wrap(`{"name":"pipeline","iter_context":{"unit_size":16,"num_chunks":1},"ops":[
{"name":"pipeline","iter_context":{"unit_size":16,"num_chunks":1},"ops":[]}]}`),
			"x:5: a pipeline inside a pipeline", ""},
		"tbg": {wrap(`{"name":"copy","tbg_info":{"tb_id":2,"tbg_size":2}}`), "tb_id 2 of 2", ""},
		"alignment": {strings.Replace(wrap(""), `"gpus"`, `"buffer_alignment":2,"gpus"`, 1),
			"buffer_alignment 2 is no multiple of the 4 bytes", ""},
		"claims": {strings.Replace(wrap(""), `"input_chunks":2`, `"input_chunks":16777217`, 1),
			"16777217; an integer from 0 to 16777216", ""},
	})
}

func TestOptions(t *testing.T) {
	plan := strings.Replace(wrap(""), `"test"`, `"allreduce"`, 1)
	for name, c := range map[string]struct {
		o    foreign.Options
		want string
	}{
		"too small a chunk": {foreign.Options{Count: 4}, "chunks of 8 bytes"},
		"uneven":            {foreign.Options{Count: 9}, "9 elements in 2 chunks"},
		"scaled":            {foreign.Options{Op: collective.Avg}, "MSCCL++ scales nothing"},
		"splits":            {foreign.Options{As: collective.AllToAllV}, "no sizes for every rank"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mscclpp.Read(strings.NewReader(plan), c.o)
			require.ErrorContains(t, err, c.want)
		})
	}
	f, err := mscclpp.Read(strings.NewReader(plan), foreign.Options{Count: 64,
		Place: foreign.InPlace, Op: collective.Max})
	require.NoError(t, err)
	require.Equal(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Max, Ranks: 1,
		Type: f.Schedule.Spec.Type, Count: 64, InPlace: true}, f.Schedule.Spec)
	sized := strings.Replace(plan, `"gpus"`, `"min_message_size":100,"max_message_size":512,"gpus"`,
		1)
	f, err = mscclpp.Read(strings.NewReader(sized), foreign.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 128, f.Schedule.Spec.Bytes())
	_, err = mscclpp.Read(strings.NewReader(sized), foreign.Options{Bytes: 1024})
	require.ErrorContains(t, err, "a message of 1024 bytes; the plan is for 100 to 512")
}

// TestLimits has plans that the executor has no room for; runtime "none" has.
func TestLimits(t *testing.T) {
	const pipe = `{"name":"pipeline","iter_context":{"unit_size":16,"num_chunks":2},"ops":[
{"name":"copy","src_buff":[{"type":"i","index":0,"size":1}],
"dst_buff":[{"type":"o","index":0,"size":1}]}]}`
	for name, c := range map[string]struct {
		ops, want string
		kind      schedule.ViolationKind
	}{
		"operations": {strings.Repeat(`{"name":"nop"},`, 64) + `{"name":"nop"}`,
			"65 operations; the executor holds 64", schedule.Limit},
		"barriers": {`{"name":"barrier","barrier_id":16,"num_threadblocks":1}`,
			"barrier 16; the executor has 16", schedule.Limit},
		"sources": {`{"name":"re","src_buff":[` +
			strings.Repeat(`{"type":"i","index":0,"size":1},`, 10) +
			`{"type":"i","index":0,"size":1}],"dst_buff":[{"type":"o","index":0,"size":1}]}`,
			"11 sources; the executor holds 10", schedule.Limit},
		"minimum": {`{"name":"re","src_buff":[{"type":"i","index":0,"size":1}],
"dst_buff":[{"type":"o","index":0,"size":1}],"reduce_op":"min"}`,
			"reduce_op min; the executor adds", schedule.Limit},
		"overlapping": {`{"name":"copy","src_buff":[{"type":"i","index":0,"size":1}],
"dst_buff":[{"type":"i","index":0,"size":1}]},{"name":"pipeline",
"iter_context":{"unit_size":16,"num_chunks":1},"ops":[{"name":"re",
"src_buff":[{"type":"s","index":0,"size":1},{"type":"s","index":1,"size":1}],
"dst_buff":[{"type":"s","index":0,"size":1}]}]},{"name":"cpkt",
"src_buff":[{"type":"s","index":0,"size":2}],"dst_buff":[{"type":"s","index":0,"size":2}]}`,
			"overlap in the scratch buffer", schedule.Malformed},
		"wrapping": {pipe, "the executor's size wraps around", schedule.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := mscclpp.Read(strings.NewReader(wrap(c.ops)), foreign.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, f.Found)
			require.Equal(t, c.kind, f.Found[0].Kind)
			require.Contains(t, f.Found[0].Text, c.want)
			f, err = mscclpp.Read(strings.NewReader(wrap(c.ops)), foreign.Options{Runtime: "none"})
			require.NoError(t, err)
			require.Equal(t, c.kind == schedule.Limit, len(f.Found) == 0)
		})
	}
}

// allPairs is a plan by which every rank sends its input as packets to all others, whose blocks
// share the work: rank r sums what it has with what the others sent.
func allPairs(ranks, chunks, blocks int) string {
	var gpus []string
	for r := range ranks {
		var tbs, remotes, ids, peers []string
		for k := 1; k < ranks; k++ {
			peer := (r + k) % ranks
			remotes = append(remotes, fmt.Sprintf(
				`{"rank":%d,"type":"s","access_channel_types":["memory"]}`, peer))
			ids, peers = append(ids, fmt.Sprint(k-1)), append(peers, fmt.Sprint(peer))
		}
		for b := range blocks {
			share := fmt.Sprintf(`"tbg_info":{"tb_id":%d,"tbg_size":%d}`, b, blocks)
			var ops []string
			sources := fmt.Sprintf(`{"type":"i","index":0,"size":%d}`, chunks)
			for k := 1; k < ranks; k++ {
				ops = append(ops, fmt.Sprintf(`{"name":"ppkt","channel_type":"memory",%s,
"src_buff":[{"type":"i","index":0,"size":%d}],"dst_buff":[{"buffer_id":%d,"index":%d,"size":%d}]}`,
					share, chunks, k-1, (ranks-1-k)*chunks, chunks))
				sources += fmt.Sprintf(`,{"type":"s","index":%d,"size":%d}`, (k-1)*chunks, chunks)
			}
			ops = append(ops, fmt.Sprintf(`{"name":"repkt",%s,"src_buff":[%s],
"dst_buff":[{"type":"o","index":0,"size":%d}]}`, share, sources, chunks))
			tbs = append(tbs, fmt.Sprintf(`{"id":%d,"ops":[%s],"channels":[],"remote_buffer_refs":[
{"access_channel_type":"memory","remote_buffer_ids":[%s]}]}`, b, strings.Join(ops, ","),
				strings.Join(ids, ",")))
		}
		gpus = append(gpus, fmt.Sprintf(`{"id":%d,"input_chunks":%d,"output_chunks":%d,
"scratch_chunks":%d,"threadblocks":[%s],"channels":[{"channel_type":"memory","connected_to":[%s]}],
"remote_buffers":[%s]}`, r, chunks, chunks, chunks*max(1, ranks-1), strings.Join(tbs, ","),
			strings.Join(peers, ","), strings.Join(remotes, ",")))
	}
	return fmt.Sprintf(`{"name":"pairs","collective":"allreduce","protocol":"LL","inplace":false,
"gpus":[%s]}`, strings.Join(gpus, ","))
}

// TestLaws: an all-pairs sum is right however many ranks, chunks and blocks share it, at every
// size, by order and by nop alone; and wrong with any of its packet operations gone.
func TestLaws(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 60
	laws := gopter.NewProperties(parameters)
	law := func(ranks, chunks, blocks, units int, strict bool) (bool, error) {
		plan := allPairs(ranks, chunks, blocks)
		o := foreign.Options{Count: int64(4 * chunks * units), StrictNop: strict}
		f, err := mscclpp.Read(strings.NewReader(plan), o)
		if err != nil {
			return false, err
		}
		proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		if len(found)+len(f.Found) > 0 {
			return false, errors.Join(found[0])
		}
		bytes := int64(ranks*(ranks-1)) * int64(f.Schedule.Spec.Bytes())
		broken := strings.Replace(plan, `"name":"ppkt"`, `"name":"put"`, 1)
		f, err = mscclpp.Read(strings.NewReader(broken), o)
		return proven.BytesSent == bytes && err == nil && len(f.Found) > 0, err
	}
	laws.Property("all pairs", prop.ForAll(law, gen.IntRange(2, 5), gen.IntRange(1, 3),
		gen.IntRange(1, 4), gen.IntRange(1, 5), gen.Bool()))
	laws.TestingRun(t)
}

func ExampleRead() {
	f, err := mscclpp.Read(strings.NewReader(allPairs(4, 2, 2)), foreign.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	proven, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
	fmt.Println(f.Schedule.Spec.Kind, len(found), proven.Rounds, f.Where(0, 0, 3))
	// Output: all_reduce 0 1 line 6: gpu 0 tb 0 op 3: repkt
}
