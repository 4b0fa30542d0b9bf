#!/bin/sh
# All that collsim can say of the GPUs of this machine, by one command that needs its binary alone:
#
#   hw/cuda/validate.sh ./collsim [FOLDER] [small]
#
# It executes a CUDA graph, every algorithm, every type and operator and programs (bits), collectives
# of 64 KiB to 256 MiB (times, twice: as text with timelines, and as JSON), and fits a preset. FOLDER
# (cuda-validation) gets the scenarios and what each part has printed; a table of all parts comes
# last. "small" is for trying the script: four ranks, small messages, executed once, three types, one
# small program. It ends with 1 if a part failed or bits differ, with 3 without a GPU.
# CUDA_VISIBLE_DEVICES chooses the GPUs, COLLSIM_LIBNVRTC names NVRTC where it is not found.
set -u

program=${1:?"usage: validate.sh COLLSIM [FOLDER] [small]"}
folder=${2:-cuda-validation}
small=${3:-}
case $program in */*) ;; *) program=$(command -v "$program") || exit 2 ;; esac
mkdir -p "$folder" || exit 2

# NVRTC is in CUDA's toolkit, or in a package of Python's.
if [ -z "${COLLSIM_LIBNVRTC:-}" ]; then
	python=$(python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages())' \
		2>/dev/null)
	for directory in /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 \
		$(for d in $python; do echo "$d"/nvidia/cu*/lib "$d"/nvidia/cuda_nvrtc/lib; done); do
		for file in "$directory"/libnvrtc.so.1[23]; do
			[ -e "$file" ] && COLLSIM_LIBNVRTC=$file && export COLLSIM_LIBNVRTC
		done
	done
fi

ranks=8
sizes='["64 KiB", "1 MiB", "16 MiB", "256 MiB"]'
pings="4 KiB,64 KiB,1 MiB,16 MiB"
types='"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16",
  "int32", "int64", "uint8", "uint16", "uint32", "uint64"'
often="warmup = 5
repetitions = 20"
if [ -n "$small" ]; then
	ranks=4
	sizes='["4 KiB", "64 KiB"]'
	pings="4 KiB,64 KiB"
	types='"float32", "bfloat16", "uint8"'
	often="warmup = 0
repetitions = 1"
fi

network="[topology]
preset = \"switch\"
ranks = $ranks
bandwidth = \"450 GB/s\"
latency = \"1 us\"
"
device='[device]
preset = "h100-sxm"
'

{
	echo 'name = "every algorithm"'
	echo "$network"
	for kind in all_reduce reduce_scatter all_gather broadcast reduce all_to_all gather scatter; do
		printf '[[collective]]\nkind = "%s"\nalgorithm = "all"\ncount = 4097\n\n' "$kind"
	done
	printf '[hardware]\nwarmup = 0\nrepetitions = 1\n'
} >"$folder/algorithms.toml"

{
	echo 'name = "every type and operator, both ways to add"'
	echo "$network"
	cat <<END
[[collective]]
kind = "all_reduce"
algorithm = "ring"
count = 1000

[sweep]
"collective.dtype" = [$types]
"collective.op" = ["sum", "prod", "min", "max", "avg"]
"collective.accumulate" = ["native", "float32"]

[hardware]
warmup = 0
repetitions = 1
END
} >"$folder/types.toml"

# Two ranks that do all they do in one CUDA graph.
cat >"$folder/graph.schedule" <<'END'
schedule exchange
collective all_gather float32
ranks 2
count 1000
group 2
cut in block even 1
cut out block even 2 by rank
rank *
  lane 0
    copy in into out[0] launch(sms graph=1) @0
    send in to 1 @0
    recv from 1 into out[1] @0
END
{
	printf 'name = "a CUDA graph"\n'
	echo "$network" | sed 's/ranks = ./ranks = 2/'
	printf '[[collective]]\nkind = "all_gather"\nalgorithm = "file:graph.schedule"\ncount = 1000\n'
} >"$folder/graph.toml"

{
	echo 'name = "times"'
	echo "$network"
	echo "$device"
	for kind in all_reduce all_gather reduce_scatter; do
		printf '[[collective]]\nkind = "%s"\nalgorithm = "ring"\nbytes = %s\n\n' "$kind" "$sizes"
	done
	printf '[hardware]\n%s\n' "$often"
} >"$folder/times.toml"

# The feed-forward block of example:mlp, small, as it is written and as pipelines.
{
	echo 'name = "a program"'
	echo "$network" | sed 's/ranks = ./ranks = 4/'
	echo "$device"
	cat <<'END'
[[program.tensor]]
name = "x"
shape = [64, 96]

[[program.tensor]]
name = "up_weight"
shape = [96, 40]

[[program.tensor]]
name = "down_weight"
shape = [40, 96]

[[program.op]]
name = "gather"
call = "all_gather"
in = "x"
out = "tokens"

[[program.op]]
name = "up"
kernel = "matmul"
in = ["tokens", "up_weight"]
out = "h"

[[program.op]]
name = "down"
kernel = "matmul"
in = ["h", "down_weight"]
out = "partial"

[[program.op]]
name = "scatter"
call = "reduce_scatter"
in = "partial"
out = "y"

[sweep]
"lowering.pipeline" = ["off", "repaired"]
END
} >"$folder/program.toml"

worst=0
: >"$folder/summary.txt"

# part NAME ARGUMENTS: one command; its output, its end, and what it says of bits.
part() {
	name=$1
	shift
	echo "== $name: collsim $*" >&2
	"$program" "$@" >"$folder/$name.txt" 2>"$folder/$name.err"
	code=$?
	[ "$code" -gt "$worst" ] && worst=$code
	equal=$(grep -c -E '^ *[0-9].* equal( |$)|bits are equal' "$folder/$name.txt")
	differ=$(grep -c -E '^ *[0-9].* differ( |$)|have other bits' "$folder/$name.txt")
	[ "$differ" = 0 ] || [ "$worst" != 0 ] || worst=1
	failed=$(grep -c -E 'FAILED|it failed' "$folder/$name.txt")
	printf '%-12s %4d %6d %6d %6d\n' "$name" "$code" "$equal" "$differ" "$failed" \
		>>"$folder/summary.txt"
	[ "$code" = 0 ] || tail -n 3 "$folder/$name.err" >&2
	return "$code"
}

"$program" list executors >"$folder/executors.txt" 2>&1
part graph validate "$folder/graph.toml" --hw cuda
[ "$worst" = 3 ] && exit 3

part algorithms validate "$folder/algorithms.toml" --hw cuda
part types validate "$folder/types.toml" --hw cuda
part program validate "$folder/program.toml" --hw cuda
if [ -z "$small" ]; then
	for example in mlp ddp fsdp; do
		part "$example" validate "example:$example" --hw cuda \
			--set hardware.warmup=0 --set hardware.repetitions=1
	done
fi
part times validate "$folder/times.toml" --hw cuda --report "$folder/times.md" \
	--timeline "$folder/times-{kind}-{bytes}.svg"
part times-json validate "$folder/times.toml" --hw cuda --json
part preset calibrate "$folder/times.toml" --hw cuda --sizes "$pings" \
	--output "$folder/preset.toml"

grep -h '^# executed on' "$folder"/*.txt | sort -u
echo
echo "part         exit  equal differ failed"
cat "$folder/summary.txt"
[ "$worst" = 0 ] || exit 1
