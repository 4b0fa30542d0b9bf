package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
)

// A need is a requirement of tests that a machine may lack, in words.
type need string

// The needs.
const (
	nothing      need = "" // skipped on every machine
	python       need = "python3 with numpy, ml_dtypes and safetensors"
	pandas       need = "python3 with pandas"
	torch        need = "python3 with torch"
	mpi          need = "Open MPI (mpirun)"
	mpi41        need = "Open MPI 4.1 with ompi_info"
	lab          need = "root, iproute2 and a kernel with namespaces, veth and HTB"
	compiler     need = "a C compiler (cc)"
	wheels       need = "NVIDIA's wheels (COLLSIM_NCCL_WHEELS)"
	nvrtc        need = "NVRTC (COLLSIM_LIBNVRTC)"
	ptxNVRTC     need = "the NVRTC of the carried kernels (COLLSIM_PTX_NVRTC)"
	disassembler need = "nvdisasm (COLLSIM_NVDISASM)"
	unix         need = "a Unix system"
	permissions  need = "files that its user may not write"
	vectors      need = "a processor with vectors"
	noGPU        need = "no GPU"
	slurm        need = "root, and Slurm's daemons (slurmctld, slurmd, munged)"
	shared       need = "files of others beside the repository (../shared)"
)

// A row allows tests to be skipped for a reason if a need is not met.
type row struct {
	tests  string // regular expression for names like "hw/mpi.TestErrors"
	reason string // regular expression
	need   need
}

// is reports whether the row is about a skipped test.
func (r *row) is(s *skip) bool {
	return regexp.MustCompile("^(?:"+r.tests+")").MatchString(s.test) &&
		regexp.MustCompile(r.reason).MatchString(s.reason)
}

// table lists the tests that may be skipped.
func table() []row {
	return []row{
		{`formats/arrays\.TestPython$`, `^left out: `, python},
		{`kernel\.TestNumPy$`, `^left out: `, python},
		{`reference\.TestNumPy$`, `^left out: `, python},
		{`cmd/collsim\.TestNotebook$`, `^left out: python3 with pandas`, pandas},
		{`cmd/collsim\.TestPyTorch$`, `^left out: python3 with torch`, torch},
		{`cmd/collsim\.TestSlurm$`, `^left out: Slurm`, slurm},
		{`hw/cuda\.|hw/nccl\.`, `^left out: python3`, python},
		{`hw/mpi\.|hw/lab\.|cmd/collsim\.`, `mpirun|MPI library|libmpi`, mpi},
		{`hw/mpi\.`, `^Open MPI's ompi_info: |are known of 4\.1$`, mpi41},
		{`hw/mpi\.TestCensusRank$`, `^it is no rank of the census$`, nothing},
		{`cmd/collsim\.TestNCCLFidelity$`, `^COLLSIM_FIDELITY is not set`, nothing},
		{`hw/lab\.|cmd/collsim\.`, `no network lab: `, lab},
		{`formats/topofile\.|formats/topom\.|cmd/`, `not beside the repository`, shared},
		{`hw/cuda\.|hw/nccl\.|hw/internal/clib\.|cmd/collsim\.`, `"cc": |no C compiler`, compiler},
		{`hw/cuda\.TestABI|hw/nccl\.`, `COLLSIM_NCCL_WHEELS names none`, wheels},
		{`hw/cuda\.TestABI`, `^there is no .*\.h`, wheels},
		{`hw/cuda\.|cmd/collsim\.`, `NVRTC: |libnvrtc`, nvrtc},
		{`hw/cuda\.TestCarried`, `^COLLSIM_PTX_NVRTC names no NVRTC$`, ptxNVRTC},
		{`hw/cuda\.TestCarried`, `^they were made by NVRTC `, ptxNVRTC},
		{`hw/cuda\.`, `COLLSIM_NVDISASM names none`, disassembler},
		{`hw/nccl\.TestReplay`, `nobody has had one yet$`, nothing},
		{`hw/nccl\.TestWheel`, `what follows is of a machine without one$`, noGPU},
		{`cmd/collsim\.|hw/mpi\.`, `there are no signals`, unix},
		{`cmd/collsim\.TestFull`, `^left out: a small file system cannot be mounted`, lab},
		{`internal/output\.`, `^root may write everything$`, permissions},
		{`internal/output\.`, `link`, unix},
		{`formats/arrays\.TestDevices$`, `^left out: there is no /dev/null$`, unix},
		{`dtype\.`, `^no vectors$`, vectors},
		{`internal/cpu\.`, `^no Linux to ask: `, vectors},
	}
}

// lacking reports whether this machine lacks a need. It checks independently of the tests, to find
// tests that wrongly see nothing.
func lacking(n need) bool {
	runs := func(line string) bool { return exec.Command("sh", "-c", line).Run() == nil }
	set := func(name string) bool { return os.Getenv(name) != "" }
	switch n {
	case python:
		return !runs("python3 -c 'import numpy, ml_dtypes, safetensors'")
	case torch:
		return !runs("python3 -c 'import torch'")
	case pandas:
		return !runs("python3 -c 'import pandas'")
	case mpi:
		return !runs("mpirun --version")
	case mpi41:
		return !runs("ompi_info --version | grep -q 'v4\\.1'")
	case lab:
		return !runs(`ip netns add collsim-skips || exit 1
			trap 'ip netns del collsim-skips' EXIT
			ip -n collsim-skips link add a type veth peer name b &&
			tc -n collsim-skips qdisc add dev a root handle 1: htb`)
	case compiler:
		return !runs("cc --version")
	case wheels:
		return !set("COLLSIM_NCCL_WHEELS")
	case nvrtc:
		return !set("COLLSIM_LIBNVRTC")
	case ptxNVRTC:
		return !set("COLLSIM_PTX_NVRTC")
	case disassembler:
		return !set("COLLSIM_NVDISASM") && !runs("nvdisasm --version")
	case unix:
		return runtime.GOOS == "windows"
	case permissions:
		return os.Geteuid() <= 0
	case vectors:
		return runtime.GOARCH != "amd64" || !runs("grep -qw avx2 /proc/cpuinfo")
	case noGPU:
		return runs("ls /dev/nvidia0")
	case slurm:
		return !runs("test $(id -u) = 0 && which munged slurmctld slurmd sbatch")
	case shared:
		return !runs("ls -d ../shared")
	}
	return n == nothing
}
