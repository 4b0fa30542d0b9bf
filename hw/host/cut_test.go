package host

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/hwtest"
	"collsim/hw/rank"
)

// cables are connections between processes that go through the test, which can cut them.
type cables struct {
	t     *testing.T
	mu    sync.Mutex
	all   []*cable
	came  chan struct{} // one for each
	doors []net.Listener
}

// cable is a connection of which both ends are somebody else's.
type cable struct {
	ends [2]net.Conn
	cut  chan struct{} // closed: nothing gets through any more
	bye  chan struct{} // closed: the test is over
}

// front opens an address that leads to another.
func (r *cables) front(target string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(r.t, err)
	r.mu.Lock()
	r.doors = append(r.doors, l)
	r.mu.Unlock()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				continue
			}
			one := &cable{ends: [2]net.Conn{near, far}, cut: make(chan struct{}),
				bye: make(chan struct{})}
			r.mu.Lock()
			r.all = append(r.all, one)
			r.mu.Unlock()
			go one.pump(0, 1)
			go one.pump(1, 0)
			r.came <- struct{}{}
		}
	}()
	return l.Addr().String()
}

// pump passes on what one end says, until the cable is cut.
func (r *cable) pump(from, to int) {
	b := make([]byte, 1<<16)
	for {
		n, err := r.ends[from].Read(b)
		select {
		case <-r.cut:
			<-r.bye // neither end is told anything
			return
		default:
		}
		if err != nil {
			break
		}
		if _, err := r.ends[to].Write(b[:n]); err != nil {
			break
		}
	}
	r.ends[0].Close()
	r.ends[1].Close()
}

// broker is an address at which other processes ask for fronts: a line with where one is to lead,
// answered by a line with where it is.
func (r *cables) broker() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(r.t, err)
	r.doors = append(r.doors, l)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			fmt.Fprintln(conn, r.front(strings.TrimSpace(line)))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// close ends all that is left.
func (r *cables) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.doors {
		l.Close()
	}
	for _, one := range r.all {
		close(one.bye)
		one.ends[0].Close()
		one.ends[1].Close()
	}
}

// relayed has this program be a rank whose connections all go through cables: its rank, the address
// of the coordinator, the secret, and the broker.
const relayed = "COLLSIM_HOST_TEST_RELAYED"

// relayedWorker is Worker, but that it tells its peers the address of a cable.
func relayedWorker(words []string) error {
	number, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	secret, err := gate.ParseSecret(words[2])
	if err != nil {
		return err
	}
	at := rank.Rendezvous{Network: "tcp", Address: words[1], Worker: number, Secret: secret}
	w, err := rank.Come(context.Background(), at)
	if err != nil {
		return err
	}
	l, err := rank.ListenForPeers(at, w.LocalAddr())
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", words[3])
	if err != nil {
		return err
	}
	fmt.Fprintln(conn, l.Addr())
	front, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	p := newBackend(w.Clock, &stock{})
	p.mesh = newMesh(number, rank.NewMesh(number, l, secret, w.Run()), w.Failed)
	return w.Serve(context.Background(), p, rank.Ready{Address: strings.TrimSpace(front),
		RanOn: hw.Here("host", "tcp")})
}

// TestCut: whichever connection is cut, so that nothing gets through and neither end is told, the
// run ends with an error, and so do all processes of ranks on other machines, by themselves. Three
// ranks on a ring have one connection each to the coordinator, and one to each other.
func TestCut(t *testing.T) {
	t.Parallel()
	const ranks, connections = 3, 6
	for cut := range connections {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			r := &cables{t: t, came: make(chan struct{}, 64)}
			defer r.close()
			broker := r.broker()
			ended := make(chan string, ranks)
			h := open(t, Config{Transport: TCP, Listen: "127.0.0.1:0",
				Hosts: []string{"a", "b", "c"}, Announce: func(list []Rendezvous) {
					for _, one := range list {
						cmd := exec.Command(os.Args[0])
						cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s %s", relayed, one.Rank,
							r.front(one.Address), one.Secret.Text(), broker))
						go func() {
							said, err := cmd.CombinedOutput()
							if err == nil {
								said = []byte("it ended well")
							}
							ended <- string(said)
						}()
					}
				}})
			job := endless(t, ranks, hwtest.Patient(time.Second))
			over, cutting := make(chan struct{}), sync.WaitGroup{}
			cutting.Go(func() {
				for range connections {
					select {
					case <-r.came:
					case <-over: // it has failed before all were there
						return
					}
				}
				time.Sleep(50 * time.Millisecond) // so that they execute: it matters little if not
				r.mu.Lock()
				defer r.mu.Unlock()
				close(r.all[cut].cut)
			})
			_, err := h.Run(context.Background(), job)
			close(over)
			cutting.Wait()
			var e *hw.Error
			require.ErrorAs(t, err, &e)
			for range ranks {
				select {
				case said := <-ended:
					require.Contains(t, said, "", "with the reason")
				case <-time.After(5 * time.Minute):
					t.Fatal("a process is left")
				}
			}
		})
	}
}
