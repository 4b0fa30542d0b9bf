package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
)

// relay stands between a rank and an address, and keeps what the rank says.
type relay struct {
	net.Listener
	to      string
	running sync.WaitGroup
	mu      sync.Mutex
	heard   [][]byte // of each connection
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return &relay{Listener: l}
}

func (r *relay) serve() {
	for {
		here, err := r.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", r.to)
		if err != nil {
			here.Close()
			continue
		}
		var said bytes.Buffer
		var both sync.WaitGroup
		both.Go(func() { // not from socket to socket, for which Go keeps pipes open
			io.Copy(io.MultiWriter(here), struct{ io.Reader }{there})
			here.Close()
		})
		both.Go(func() { io.Copy(io.MultiWriter(there, &said), here); there.Close() })
		r.running.Go(func() {
			both.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.heard = append(r.heard, said.Bytes())
		})
	}
}

// rogues come to an address until they are told to leave. None knows the secret.
type rogues struct {
	replay  [][]byte // of an earlier run
	secret  gate.Secret
	leave   chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	entered int
}

// come sends one of each kind, again and again, so many in all, and returns when all are there.
func (g *rogues) come(t *testing.T, address string, claim gate.Claim, n int) {
	for i := range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			continue
		}
		g.running.Go(func() {
			defer conn.Close()
			if g.speak(conn, i, claim) {
				g.mu.Lock()
				g.entered++
				g.mu.Unlock()
			}
		})
	}
}

// speak is what one of them says; true if it was let in.
func (g *rogues) speak(conn net.Conn, i int, claim gate.Claim) bool {
	huge := binary.LittleEndian.AppendUint64(nil, 8<<30)
	switch i % 6 {
	case 0: // half open
		<-g.leave
	case 1: // lengths without end
		conn.Write(append([]byte("collsim1"), bytes.Repeat(huge, 1<<12)...))
	case 2: // chance
		conn.Write(bytes.Repeat([]byte{byte(i), 0xff, 0x1b, '['}, 1<<10))
	case 3: // an earlier run's worker or rank; half open where nobody has been overheard
		if len(g.replay) == 0 {
			<-g.leave
			break
		}
		conn.Write(g.replay[i%len(g.replay)])
	case 4: // the right claim with a wrong proof
		_, err := gate.Enter(conn, g.secret, claim)
		return err == nil
	case 5: // one byte at a time
		for _, b := range []byte("collsim1\x01\x00\x00\x00\x00\xff\xff\xff\xff") {
			if _, err := conn.Write([]byte{b}); err != nil {
				break
			}
			select {
			case <-g.leave:
				return false
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	heard, _ := io.Copy(io.Discard, conn) // until it is turned away
	return heard > 80                     // a run, a nonce and a proof, as everybody is answered
}

// workersBy are ranks in this very process that reach the coordinator by an address of their own.
func workersBy(by func(Rendezvous) Rendezvous, ended chan<- error) func([]Rendezvous) {
	return func(ranks []Rendezvous) {
		for _, r := range ranks {
			go func() { ended <- Worker(context.Background(), by(r)) }()
		}
	}
}

// TestHostile: beside a hundred connections of strangers to the coordinator and to the ranks, who
// say nothing, nonsense, huge lengths, what was said in an earlier run, or the right thing with the
// wrong proof, a run ends with the bits that it has without them; none is let in, and what they
// make this program allocate is little.
func TestHostile(t *testing.T) {
	nothingLeft(t)
	s := ringOf(t, 4, 1<<14, dtype.Float32)
	in := randomInputs(s, 7)
	secret := gate.NewSecret()
	run := func(by func(Rendezvous) Rendezvous, repetitions int) (*hw.Result, error) {
		ended := make(chan error, 4)
		h, err := New(Config{Transport: TCP, Listen: "127.0.0.1:0", Hosts: []string{"a"},
			Secret: secret, Announce: workersBy(by, ended)})
		require.NoError(t, err)
		r, err := h.Run(t.Context(), &hw.Job{Schedule: s, Inputs: in,
			Env: hw.Env{Repetitions: repetitions, Timeout: 30 * time.Second}})
		require.NoError(t, h.Close())
		for range 4 {
			require.NoError(t, <-ended)
		}
		return r, err
	}

	// What ranks say is overheard in a run of the same secret.
	ear := newRelay(t)
	var once sync.Once
	quiet, err := run(func(r Rendezvous) Rendezvous {
		once.Do(func() {
			ear.to = r.Address
			ear.running.Go(ear.serve)
		})
		r.Address = ear.Addr().String()
		return r
	}, 2)
	require.NoError(t, err)
	ear.Close()
	ear.running.Wait()
	require.Len(t, ear.heard, 4)

	g := &rogues{replay: ear.heard, secret: gate.NewSecret(), leave: make(chan struct{})}
	var doors sync.Once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	loud, err := run(func(r Rendezvous) Rendezvous {
		doors.Do(func() {
			g.come(t, r.Address, gate.Claim{Service: gate.Coordination, From: 1, To: -1}, 100)
		})
		return r
	}, 20)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	close(g.leave)
	g.running.Wait()
	require.Equal(t, quiet.Outputs, loud.Outputs)
	require.Zero(t, g.entered)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<20), "four ranks and the rogues")
}

// pairOfMeshes are two ranks that have not connected yet, and where each is reached.
func pairOfMeshes(t *testing.T, secret gate.Secret) (meshes []*mesh, all []rank.Peer) {
	t.Helper()
	run := gate.NewRun()
	for number := range 2 {
		l, err := rank.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		m := newMesh(number, rank.NewMesh(number, l, secret, run),
			func(err error) { t.Errorf("rank %d: %v", number, err) })
		t.Cleanup(m.close)
		meshes = append(meshes, m)
		all = append(all, rank.Peer{Rank: int32(number), Address: l.Addr().String()})
	}
	return meshes, all
}

// TestHostileToRanks: a hundred strangers at the door of a rank neither pass for its peer nor keep
// it from it; a rank of another run of the same secret is none of this one.
func TestHostileToRanks(t *testing.T) {
	nothingLeft(t)
	secret := gate.NewSecret()
	meshes, all := pairOfMeshes(t, secret)
	g := &rogues{secret: gate.NewSecret(), leave: make(chan struct{})}
	g.come(t, all[0].Address, gate.Claim{Service: gate.Data, From: 1, To: 0}, 100)
	require.Eventually(t, func() bool { return meshes[0].doors.Turned() >= 30 }, time.Minute,
		time.Millisecond)
	require.NoError(t, meshes[1].connect(t.Context(), all[:1], time.Minute))
	require.NoError(t, meshes[0].connect(t.Context(), all[1:], time.Minute))
	require.Len(t, meshes[0].sockets, 1)
	close(g.leave)

	l, err := rank.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	stray := newMesh(1, rank.NewMesh(1, l, secret, gate.NewRun()), func(error) {})
	defer stray.close()
	require.EqualError(t, stray.connect(t.Context(), all[:1], time.Second),
		"rank 0: dial: error: it is of another run")
	for _, m := range meshes {
		m.stopped.Store(true) // which socket ends first is no fault
	}
	meshes[0].doors.Close() // who has not come to the door yet hears it
	g.running.Wait()
	require.Zero(t, g.entered)
}

// conn is a socket on which these bytes come; what is written goes nowhere.
type conn struct {
	net.Conn
	io.Reader
}

func (c conn) Read(b []byte) (int, error)  { return c.Reader.Read(b) }
func (c conn) Write(b []byte) (int, error) { return len(b), nil }
func (c conn) Close() error                { return nil }

// taken is rank 1 of swap in its repetition 5, and what becomes of it when rank 0 says this.
func taken(t testing.TB, says []byte) (p *participant, err error) {
	t.Helper()
	s, err := schedule.Parse(swap)
	require.NoError(t, err)
	part := &rank.Part{Ranks: 2, Mine: []int{1}, Inputs: [][]byte{make([]byte, 16)}}
	part.Env.Slots, part.Env.Iterations = 2, 1
	p = newParticipant(s, 1, part)
	p.stock, p.input, p.largest = &stock{}, part.Inputs[0], hw.Largest(s)
	p.reset(5)
	m := &mesh{number: 1, failed: func(error) {}}
	m.rank.Store(p)
	m.epoch.Store(5)
	k := newLink(m, 0, conn{Reader: bytes.NewReader(says)})
	if err = k.read(); err == io.EOF {
		err = k.answer()
	}
	return p, err
}

// framed is a frame with runs and bytes behind it.
func framed(f frame, spans []schedule.Span, size int) []byte {
	f.epoch, f.runs = 5, uint32(len(spans))
	b := make([]byte, headerSize+len(spans)*runSize+size)
	f.put(b)
	putRuns(b[headerSize:], spans)
	return b
}

// TestWrongFrames: what a rank says to another that is not of the schedule ends the run with an
// error; no length is believed before it is compared with what there is.
func TestWrongFrames(t *testing.T) {
	at := func(off int64) []schedule.Span { return []schedule.Span{{Off: off, Len: 16}} }
	span := at(0)
	in := frame{kind: frameMessage, size: 16}
	wide := func(f frame, runs uint32) []byte {
		b := framed(f, nil, 0)
		binary.LittleEndian.PutUint32(b[20:], runs)
		return b
	}
	for name, test := range map[string]struct {
		says []byte
		want string
	}{
		"right":       {framed(in, nil, 16), ""},
		"a right get": {framed(frame{kind: frameGet, size: 16}, span, 0), ""},
		"a right put": {framed(frame{kind: frameSilent, size: 16}, span, 16), ""},
		"kind 0":      {framed(frame{}, nil, 0), "frame 0 is none"},
		"kind 200":    {framed(frame{kind: 200}, nil, 0), "frame 200 is none"},
		"buffer":      {framed(frame{kind: frameGet, home: 3}, nil, 0), "buffer 3 is none"},
		"8 GiB": {framed(frame{kind: frameMessage, size: 8 << 30}, nil, 0),
			"a frame of 8589934592 bytes"},
		"no size": {framed(frame{kind: frameSilent, size: math.MinInt64}, nil, 0),
			"a frame of -9223372036854775808"},
		"64 GiB runs": {wide(frame{kind: frameGet}, math.MaxUint32), "in 4294967295 runs"},
		"other memory": {framed(frame{kind: frameGet, size: 16}, at(4), 0),
			"asks for 16 bytes of what is not in"},
		"before memory": {framed(frame{kind: framePut, size: 16}, at(-4), 16),
			"puts 16 bytes into what is not in"},
		"other size": {framed(frame{kind: frameGet, size: 8}, span, 0), "asks for 8 bytes"},
		"no connection": {framed(frame{kind: frameMessage, toLane: 3, size: 16}, nil, 16),
			"are never received"},
		"too many":      {bytes.Repeat(framed(in, nil, 16), 3), "sends more than the 2 slots"},
		"credit":        {framed(frame{kind: frameCredit}, nil, 0), "frees a slot that nothing is in"},
		"no lane":       {framed(frame{kind: frameData, fromLane: -1}, nil, 0), "answers lane -1"},
		"no get":        {framed(frame{kind: frameData, size: 16}, nil, 16), "which nobody awaits"},
		"cut off":       {framed(in, nil, 15), "unexpected EOF"},
		"another epoch": {make([]byte, headerSize), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := taken(t, test.says)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

// TestLateCredit: a slot that is freed when its repetition has ended is none of the next one, which
// would have one more than the schedule says.
func TestLateCredit(t *testing.T) {
	p, err := taken(t, nil)
	require.NoError(t, err)
	out := p.outs[0]
	require.True(t, out.reserve())
	p.reset(6)
	require.True(t, out.freedIn(5), "late, which is no mistake")
	require.False(t, out.freedIn(6))
	require.True(t, out.reserve())
	require.True(t, out.reserve())
	require.False(t, out.reserve(), "there are 2 slots")
	require.True(t, out.freedIn(6))
}

// FuzzFrames: no bytes of a peer make a rank panic, or take more memory than the schedule has.
func FuzzFrames(f *testing.F) {
	span := []schedule.Span{{Off: 0, Len: 8}}
	for kind := frameKind(0); kind <= frameCredit+1; kind++ {
		for _, size := range []int64{-1, 0, 8, 16, math.MaxInt64} {
			f.Add(framed(frame{kind: kind, size: size}, span, int(min(max(size, 0), 16))))
			f.Add(append(framed(frame{kind: frameMessage, size: 16}, nil, 16),
				framed(frame{kind: kind, size: size}, nil, int(min(max(size, 0), 16)))...))
		}
	}
	f.Fuzz(func(t *testing.T, says []byte) {
		p, err := taken(t, says)
		for _, in := range p.ins {
			require.LessOrEqual(t, len(in.queue), in.slots)
			for _, m := range in.queue {
				require.True(t, m == nil || int64(len(m.bytes())) <= p.largest)
			}
		}
		if err != nil {
			require.NotEqual(t, "", fmt.Sprint(err))
		}
	})
}
