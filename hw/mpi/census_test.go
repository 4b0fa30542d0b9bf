//go:build linux && (amd64 || arm64) && !nohw

package mpi

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
	"collsim/collective"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/internal/tier"
	"collsim/schedule"
)

// The environment of a rank of the census: where it leaves what it has seen.
const censusEnvironment = "COLLSIM_MPI_CENSUS"

// censusRanks are enough for every case that an algorithm distinguishes.
const censusRanks = 7

// censusSeed is of the inputs.
const censusSeed = 9

// The calls below the collectives.
const (
	isRecv = iota
	isIrecv
	isSend
	isIsend
)

// posted is one of them: a message to a peer or from it (−1: from any), of so many bytes (of a
// receive: at most).
type posted struct{ Kind, Peer, Bytes int }

// seen is what a rank sees of a case.
type seen struct {
	Posted []posted
	Output []byte
}

// censusCase is a collective whose messages are seen, and of one that leaves nothing to the library
// the bits.
type censusCase struct {
	Choice openmpi.Choice
	Spec   collective.Spec
	Bits   bool
}

// String is such as "bcast chain on 3 ranks, root 1, 7 elements".
func (c censusCase) String() string {
	place := ""
	if c.Spec.InPlace {
		place = " in place"
	}
	return fmt.Sprintf("%v on %d ranks, root %d, %d elements%s", c.Choice, c.Spec.Ranks, c.Spec.Root,
		c.Spec.Count, place)
}

// censusCases are all choices on 2 to 7 ranks, of few elements and of many, at any root, in both
// places. In the short tier every choice meets one number of them.
func censusCases(t *testing.T) (all []censusCase) {
	r := rand.New(rand.NewPCG(7, 11))
	for k, c := range append(openmpitest.Reducing(), openmpitest.Moving()...) {
		for ranks := 2; ranks <= censusRanks; ranks++ {
			if !openmpitest.Legal(c, ranks) ||
				!tier.Long && openmpitest.Legal(c, 3) && (k+ranks)%6 != 0 {
				continue
			}
			for _, count := range []int64{1 + r.Int64N(int64(ranks)), 100 + r.Int64N(1000)} {
				spec := openmpitest.SpecOf(t, c, ranks, r.IntN(ranks), count)
				spec.InPlace = spec.Kind != collective.ReduceScatter &&
					spec.Kind != collective.Barrier && r.IntN(3) == 0
				all = append(all, censusCase{c, spec, true})
			}
		}
	}
	for k, c := range openmpitest.Open() {
		for ranks := 2; ranks <= censusRanks; ranks++ {
			if !tier.Long && (k+ranks)%6 != 0 {
				continue
			}
			for _, count := range openmpitest.Turns(t, c, ranks) {
				spec := openmpitest.SpecOf(t, c, ranks, r.IntN(ranks), count)
				all = append(all, censusCase{c, spec, false})
			}
		}
	}
	return all
}

// TestCensus: each rank sends, in the library, the messages of the schedules that are written down:
// to the same peers, of the same sizes, in the same order; those that go out at once are isends
// there; and it receives from the same peers in the same order. What comes of it are the same bits.
func TestCensus(t *testing.T) {
	t.Parallel()
	version := needLibrary(t)
	if !strings.Contains(version, " 4.1.") {
		t.Skipf("%s: the calls below the collectives are known of 4.1", version)
	}
	dir, cases := t.TempDir(), censusCases(t)
	write(t, filepath.Join(dir, "cases"), cases)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("mpirun", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root",
		"-x", censusEnvironment, "-n", strconv.Itoa(censusRanks), self,
		"-test.run", "^TestCensusRank$")
	cmd.Env = slices.Concat(os.Environ(), variablesOfOpenMPI(), new(Config).components(adapters()),
		[]string{"TMPDIR=" + t.TempDir(), censusEnvironment + "=" + dir})
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var all [censusRanks][]seen
	for rank := range all {
		read(t, filepath.Join(dir, fmt.Sprint(rank)), &all[rank])
		require.Len(t, all[rank], len(cases))
	}
	for i, c := range cases {
		s, err := openmpi.Build(c.Choice, c.Spec)
		require.NoError(t, err)
		decided := c.Choice.Decided(c.Spec)
		var outputs [][]byte
		for rank := range c.Spec.Ranks {
			name, saw := fmt.Sprintf("%v: rank %d", c, rank), &all[rank][i]
			outputs = append(outputs, saw.Output)
			compareSends(t, name, s, rank, saw.Posted, len(decided) > 1)
			if strings.Contains(openmpi.Names(decided), "gather linear_sync") {
				continue // it posts the receives of second segments early
			}
			compareReceives(t, name, s, rank, saw.Posted)
		}
		if !c.Bits {
			continue
		}
		if n := differing(t, oracle(t, s, sensitive(&c.Spec, censusSeed)), outputs); n > 0 {
			t.Errorf("%v: %d elements differ", c, n)
		}
	}
}

// write and read are of what processes tell each other, in files.
func write(t *testing.T, file string, from any) {
	text, err := json.Marshal(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
}

func read(t *testing.T, file string, into any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// compareSends also holds those that go out at once to be isends: in an algorithm that is composed
// of two, those of the second one alone, which is on other lanes.
func compareSends(t *testing.T, name string, s *schedule.Schedule, rank int, seen []posted,
	composed bool) {
	sent := []posted{}
	for _, p := range seen {
		if p.Kind == isSend || p.Kind == isIsend {
			sent = append(sent, p)
		}
	}
	lanes, at := s.Program(rank).Lanes(), 0
	eachStep(s, rank, func(lane, step int, v *schedule.Step) error {
		n, _ := s.Size(schedule.Spot{Rank: rank}, v)
		for i := range v.Send {
			want := posted{isSend, int(v.Send[i].Peer.Rank), int(n) * s.Spec.Type.Width()}
			if at < len(sent) && sent[at].Kind == isIsend {
				want.Kind = isIsend // and a wait
			}
			if lanes > 1 && !(composed && lane == 0) || len(v.Send) > 1 {
				want.Kind = isIsend
			}
			if at >= len(sent) || sent[at] != want {
				t.Errorf("%s step %d sends %v, not the library's %v", name, step, want, sent[min(at,
					len(sent)):])
			}
			at++
		}
		return nil
	})
	if at < len(sent) {
		t.Errorf("%s: the library sends %v besides", name, sent[at:])
	}
}

func compareReceives(t *testing.T, name string, s *schedule.Schedule, rank int, seen []posted) {
	var got, want []int
	for _, p := range seen {
		if p.Kind == isRecv || p.Kind == isIrecv {
			got = append(got, p.Peer)
		}
	}
	eachStep(s, rank, func(_, _ int, v *schedule.Step) error {
		for i := range v.From {
			if v.From[i].Kind == schedule.Message {
				peer := int(v.From[i].Peer.Rank)
				if n := len(want); n < len(got) && got[n] < 0 {
					peer = -1
				}
				want = append(want, peer)
			}
		}
		return nil
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s receives from %v, in the library %v", name, want, got)
	}
}

// TestCensusRank is a rank of the census.
func TestCensusRank(t *testing.T) {
	dir := os.Getenv(censusEnvironment)
	if dir == "" {
		t.Skip("it is no rank of the census")
	}
	runtime.LockOSThread()
	lib, err := load("")
	require.NoError(t, err)
	number, _, err := lib.begin()
	require.NoError(t, err)
	tap := tapOf(t, lib)
	p := &backend{Clock: rank.StartClock(), number: number, lib: lib}
	var cases []censusCase
	read(t, filepath.Join(dir, "cases"), &cases)
	var all []seen
	for _, c := range cases {
		p.take(t, &c)
		saw := seen{}
		if p.part != nil {
			tap.seen, tap.open = nil, true
			require.NoError(t, p.part.execute())
			saw.Posted, tap.open = tap.seen, false
		}
		out, err := p.Finish()
		require.NoError(t, err)
		if c.Bits && len(out) > 0 {
			saw.Output = out[0]
		}
		all = append(all, saw)
	}
	namesItsCall(t, p, dir)
	write(t, filepath.Join(dir, fmt.Sprint(number)), all)
	require.NoError(t, p.Close())
}

// take has a rank take up a collective for the library to do.
func (p *backend) take(t *testing.T, c *censusCase) {
	detail, err := (&request{Spec: c.Spec, Choice: c.Choice}).encode()
	require.NoError(t, err)
	job := &rank.Part{Ranks: c.Spec.Ranks, Detail: detail, Env: hw.Env{Iterations: 1}}
	switch {
	case p.number >= c.Spec.Ranks:
	case c.Bits:
		job.Inputs = [][]byte{sensitiveOf(&c.Spec, p.number, censusSeed)}
	default:
		job.Inputs = [][]byte{hw.Memory(c.Spec.In(p.number) * int64(c.Spec.Type.Width()))}
	}
	require.NoError(t, p.Prepare(context.Background(), job))
}

// namesItsCall: while rank 0 is in a function that the others are not in yet, it says so. They come
// when they see its file.
func namesItsCall(t *testing.T, p *backend, dir string) {
	require.Empty(t, p.Status().Calls)
	barrier := openmpi.Choice{Function: "barrier"}
	p.take(t, &censusCase{barrier, openmpitest.SpecOf(t, barrier, censusRanks, 0, 0), false})
	seen := filepath.Join(dir, "seen")
	reported := make(chan []rank.Call, 1)
	if p.number == 0 {
		go func() {
			for len(p.Status().Calls) == 0 {
				time.Sleep(time.Millisecond)
			}
			reported <- p.Status().Calls
			os.WriteFile(seen, nil, 0o600)
		}()
	}
	for p.number > 0 {
		if _, err := os.Stat(seen); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_, err := p.Execute()
	require.NoError(t, err)
	if p.number == 0 {
		require.Equal(t, []rank.Call{{Rank: 0, Name: "MPI_Barrier"}}, <-reported)
	}
	require.Empty(t, p.Status().Calls)
	_, err = p.Finish()
	require.NoError(t, err)
}

// tap stands between the library's collectives and its messages. These call functions by a table
// (struct mca_pml_base_module, whose instance mca_pml is a symbol), in which ours take the place of
// those that send and receive: they note the call, and make it.
type tap struct {
	lib  *library
	open bool
	size *int32
	seen []posted
}

func tapOf(t *testing.T, lib *library) *tap {
	p := &tap{lib: lib, size: new(int32)}
	for _, name := range []string{"mca_pml", "MPI_Type_size"} {
		at, err := symbol(lib.handle, name)
		require.NoError(t, err)
		lib.functions[name] = at
	}
	table := *(**[12]uintptr)(unsafe.Pointer(&[]uintptr{lib.functions["mca_pml"]}[0]))
	for place, kind := range map[int]int{6: isIrecv, 7: isIrecv, 8: isRecv} {
		original := table[place]
		table[place] = purego.NewCallback(func(buf, count, typ, peer, tag, comm, last uintptr) uintptr {
			p.note(kind, peer, count, typ)
			return uintptr(invoke(original, buf, count, typ, peer, tag, comm, last))
		})
	}
	for place, kind := range map[int]int{9: isIsend, 10: isIsend} {
		original := table[place]
		table[place] = purego.NewCallback(
			func(buf, count, typ, peer, tag, mode, comm, request uintptr) uintptr {
				p.note(kind, peer, count, typ)
				return uintptr(invoke(original, buf, count, typ, peer, tag, mode, comm, request))
			})
	}
	send := table[11]
	table[11] = purego.NewCallback(func(buf, count, typ, peer, tag, mode, comm uintptr) uintptr {
		p.note(isSend, peer, count, typ)
		return uintptr(invoke(send, buf, count, typ, peer, tag, mode, comm))
	})
	return p
}

func (p *tap) note(kind int, peer, count, typ uintptr) {
	if !p.open {
		return
	}
	invoke(p.lib.functions["MPI_Type_size"], typ, address(p.size))
	p.seen = append(p.seen, posted{kind, int(int32(peer)), int(count) * int(*p.size)})
}
