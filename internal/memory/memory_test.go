package memory

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// machine are the system's files, as name and text in turn.
func machine(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

// TestFree: what may be taken is what the machine has left, or what the tightest of the control
// groups leaves, which gives back what it only keeps of files.
func TestFree(t *testing.T) {
	const (
		meminfo = "proc/meminfo"
		four    = "MemTotal:  8388608 kB\nMemFree:  1 kB\nMemAvailable:  4194304 kB\n"
		cgroup  = "proc/self/cgroup"
		limits  = "proc/self/limits"
		status  = "proc/self/status"
		v2      = "sys/fs/cgroup/"
		v1      = "sys/fs/cgroup/memory/"
		gib     = 1 << 30
	)
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  Free
	}{
		"nothing is told": {machine(), Free{}},
		"nonsense":        {machine(meminfo, "MemAvailable: lots kB\n", cgroup, "::::\n0\n"), Free{}},
		"a machine":       {machine(meminfo, four, cgroup, "0::/\n"), Free{Bytes: 4 * gib}},
		"no limit": {machine(meminfo, four, cgroup, "0::/a/b\n", v2+"a/b/memory.max", "max\n",
			v2+"a/b/memory.current", "5\n"), Free{Bytes: 4 * gib}},
		"a group of version 2": {machine(meminfo, four, cgroup, "0::/a/b\n", v2+"a/b/memory.max",
			"1000\n", v2+"a/b/memory.current", "700\n", v2+"a/b/memory.stat",
			"anon 1\ninactive_file 200\n"), Free{500, Group}},
		"the group above is tighter": {machine(meminfo, four, cgroup, "0::/a/b\n",
			v2+"a/b/memory.max", "1000\n", v2+"a/b/memory.current", "0\n", v2+"a/memory.max", "600\n",
			v2+"a/memory.current", "200\n"), Free{400, Group}},
		"in a container the path is of outside": {machine(meminfo, four, cgroup, "0::/docker/0af1\n",
			v2+"memory.max", "1000\n", v2+"memory.current", "1\n"), Free{999, Group}},
		"more than it may": {machine(meminfo, four, cgroup, "0::/\n", v2+"memory.max", "1000\n",
			v2+"memory.current", "1200\n"), Free{0, Group}},
		"the machine is tighter": {machine(meminfo, "MemAvailable: 1 kB\n", cgroup, "0::/\n",
			v2+"memory.max", "9000\n", v2+"memory.current", "1\n"), Free{Bytes: 1024}},
		"a group of version 1": {machine(meminfo, four,
			cgroup, "5:cpu,memory,pids:/slurm/job_7\n1:name=systemd:/\n0::/\n",
			v1+"slurm/job_7/memory.limit_in_bytes", "2048\n",
			v1+"slurm/job_7/memory.usage_in_bytes", "1024\n",
			v1+"slurm/job_7/memory.stat", "total_inactive_file 24\n"), Free{1048, Group}},
		"version 1 without a limit": {machine(meminfo, four, cgroup, "4:memory:/\n",
			v1+"memory.limit_in_bytes", "9223372036854771712\n", v1+"memory.usage_in_bytes", "1\n"),
			Free{Bytes: 4 * gib}},
		"only a group is told": {machine(cgroup, "4:memory:/x\n", v1+"x/memory.limit_in_bytes",
			"10\n", v1+"x/memory.usage_in_bytes", "1\n"), Free{9, Group}},
		"a limit of addresses": {machine(meminfo, four, limits, "Limit  Soft Limit  Hard Limit  Units\n"+
			"Max address space  536870912  unlimited  bytes\n", status,
			"VmPeak: 900000 kB\nVmSize: 131072 kB\n"), Free{128 << 20, Process}},
		"no limit of addresses": {machine(meminfo, four, limits,
			"Max address space  unlimited  unlimited  bytes\n", status, "VmSize: 824 kB\n"),
			Free{Bytes: 4 * gib}},
		"more addresses than it may": {machine(meminfo, four, limits, "Max address space  1000  1000\n",
			status, "VmSize: 824 kB\n"), Free{0, Process}},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := ReadFrom(test.files)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want != Free{}, known)
		})
	}
	require.Equal(t, "this machine", Free{}.String())
	require.Equal(t, "the control group", Free{Of: Group}.String())
	require.Equal(t, "the limit of this process", Free{Of: Process}.String())
}

// FuzzFree: whatever the system's files say, less than nothing is never left.
func FuzzFree(f *testing.F) {
	f.Add("MemAvailable: 9223372036854775807 kB", "0::/../../a", "99", "1", "inactive_file -5",
		"Max address space 9223372036854775807", "VmSize: 9223372036854775807")
	f.Add("MemAvailable:", "1:memory:", "-1", "9223372036854775807", "inactive_file",
		"Max address space", "VmSize: -1")
	f.Fuzz(func(t *testing.T, info, group, limit, used, stat, addresses, size string) {
		free, known := ReadFrom(machine("proc/meminfo", info, "proc/self/cgroup", group,
			"sys/fs/cgroup/memory.max", limit, "sys/fs/cgroup/memory.current", used,
			"sys/fs/cgroup/memory.stat", stat, "proc/self/limits", addresses,
			"proc/self/status", size))
		require.GreaterOrEqual(t, free.Bytes, int64(0))
		require.True(t, known || free == Free{})
	})
}
