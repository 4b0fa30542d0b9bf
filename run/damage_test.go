package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/msccl"
	"collsim/formats/mscclpp"
	"collsim/internal/samples"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// TestDamagedFiles damages good files of others in ways that are easily made by hand or by a
// broken generator, many times each. Every mutant must be rejected, with a reason, or else
// compute the right result when its schedule is carried out on numbers: reading and proving
// neither panics nor hangs. The short tier has 8 mutants of a file, the long one 40; and 200 of
// more files where these are.
func TestDamagedFiles(t *testing.T) {
	sets := map[string][]samples.Set{}
	for _, name := range []string{"msccl_xml", "mscclpp_json"} {
		sets[name] = samples.Sets(t, name)
	}
	for i, set := range sets["msccl_xml"] {
		t.Run(samples.Of(set, "part", "whole"), func(t *testing.T) {
			files := append(goodFiles(t, set, 35, goodFile{damage: damageXML, read: msccl.Read}),
				goodFiles(t, sets["mscclpp_json"][i], 15,
					goodFile{damage: damageJSON, read: mscclpp.Read})...)
			testDamaged(t, files, samples.Of(set, tier.Of(8, 40), 200))
		})
	}
}

func testDamaged(t *testing.T, files []goodFile, mutants int) {
	rejected, right, unread, reasons := 0, 0, 0, map[string]int{}
	for i, f := range files {
		r := rand.New(rand.NewPCG(uint64(i), 6))
		for k := range mutants {
			text := f.damage(r, f.text)
			name := fmt.Sprintf("%s mutant %d", f.path, k)
			read, err := f.read(bytes.NewReader(text), formats.Options{File: f.path, Runtime: "none"})
			if err != nil {
				var wrong *formats.Error
				require.ErrorAs(t, err, &wrong, name)
				unread++
				continue
			}
			proven, found := proof.Verify(read.Schedule, proof.Options{Iterations: 1})
			if found = append(found, read.Found...); len(found) > 0 {
				rejected++
				reasons[found[0].Kind.String()]++
				continue
			}
			require.NotNil(t, proven, name)
			require.True(t, computesRight(t, read.Schedule), "%s is accepted and computes nonsense:\n%s",
				name, text)
			right++
		}
	}
	t.Logf("%d files, %d mutants: %d not read, %d rejected %v, %d right", len(files),
		mutants*len(files), unread, rejected, reasons, right)
	require.Greater(t, rejected, right)
	for _, kind := range []schedule.ViolationKind{schedule.Missing, schedule.Doubled,
		schedule.Misplaced, schedule.Race, schedule.Deadlock} {
		require.Positive(t, reasons[kind.String()], "%v", kind)
	}
}

// goodFile is a file with the verdict OK, and how it is damaged and read.
type goodFile struct {
	path   string
	text   []byte
	damage func(*rand.Rand, []byte) []byte
	read   func(io.Reader, formats.Options) (*formats.File, error)
}

// goodFiles are the smallest good samples of a set, so many at most. Files that are good only as a
// collective without definition are left out.
func goodFiles(t *testing.T, set samples.Set, most int, format goodFile) (files []goodFile) {
	for _, c := range set.Cases {
		text, err := os.ReadFile(set.Path(c["file"]))
		require.NoError(t, err)
		f := goodFile{c["file"], text, format.damage, format.read}
		read, err := f.read(bytes.NewReader(text), formats.Options{File: f.path, Runtime: "none"})
		if err != nil || read.Schedule == nil || read.Schedule.Spec.Kind == collective.Custom {
			continue
		}
		_, found := proof.Verify(read.Schedule, proof.Options{Iterations: 1})
		if len(found) == 0 && len(read.Found) == 0 {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b goodFile) int { return len(a.text) - len(b.text) })
	return files[:min(len(files), most)]
}

// computesRight carries a schedule out on numbers that every order of additions adds exactly.
func computesRight(t *testing.T, s *schedule.Schedule) bool {
	require.Equal(t, dtype.Float32, s.Spec.Type)
	report, err := reference.Check(s, reference.CheckOptions{Memory: 1 << 30})
	return err == nil && report.Wrong == 0
}

// damageXML damages one to three places of an MSCCL file: it drops, doubles or swaps steps, moves
// their offsets, drops or moves dependencies, changes their types or the peer of a thread block.
// What it leaves is well formed: steps are numbered anew.
func damageXML(r *rand.Rand, text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	var steps, blocks []int
	for i, line := range lines {
		switch {
		case strings.Contains(line, "<step "):
			steps = append(steps, i)
		case strings.Contains(line, "<tb "):
			blocks = append(blocks, i)
		}
	}
	for range 1 + r.IntN(3) {
		i, j := steps[r.IntN(len(steps))], steps[r.IntN(len(steps))]
		switch r.IntN(8) {
		case 0: // drop what the step does, not its dependency
			lines[i] = set(set(lines[i], "type", "nop"), "cnt", "0")
		case 1:
			a, b := get(lines[i], "srcoff"), get(lines[j], "srcoff")
			lines[i], lines[j] = set(lines[i], "srcoff", b), set(lines[j], "srcoff", a)
		case 2:
			a, b := get(lines[i], "dstoff"), get(lines[j], "dstoff")
			lines[i], lines[j] = set(lines[i], "dstoff", b), set(lines[j], "dstoff", a)
		case 3:
			lines[i] = set(set(lines[i], "depid", "-1"), "deps", "-1")
		case 4:
			lines[i] = set(lines[i], "hasdep", "0")
		case 5: // another peer
			b := blocks[r.IntN(len(blocks))]
			side := []string{"send", "recv"}[r.IntN(2)]
			if peer, err := strconv.Atoi(get(lines[b], side)); err == nil && peer >= 0 {
				lines[b] = set(lines[b], side, strconv.Itoa(max(0, peer+1-2*r.IntN(2))))
			}
		case 6: // reduce instead of copying, or the other way round
			other := map[string]string{"r": "rrc", "rrc": "r", "rcs": "rrcs", "rrcs": "rcs", "cpy": "re",
				"re": "cpy", "rrs": "rcs", "s": "nop", "nop": "nop"}
			lines[i] = set(lines[i], "type", other[get(lines[i], "type")])
		case 7: // twice
			lines[i] += "\n" + lines[i]
		}
	}
	return renumber(strings.Split(strings.Join(lines, "\n"), "\n"))
}

// renumber gives the steps of every thread block the numbers 0, 1, …
func renumber(lines []string) []byte {
	next := 0
	for i, line := range lines {
		switch {
		case strings.Contains(line, "<tb "):
			next = 0
		case strings.Contains(line, "<step "):
			lines[i] = set(line, "s", strconv.Itoa(next))
			next++
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func attribute(name string) *regexp.Regexp {
	return regexp.MustCompile(`( ` + name + `=")([^"]*)"`)
}

func get(line, name string) string {
	if m := attribute(name).FindStringSubmatch(line); m != nil {
		return m[2]
	}
	return ""
}

func set(line, name, value string) string {
	return attribute(name).ReplaceAllString(line, "${1}"+value+`"`)
}

// damageJSON damages one to three operations of an MSCCL++ plan: it drops, doubles or swaps them,
// moves the index of a buffer, or takes another channel.
func damageJSON(r *rand.Rand, text []byte) []byte {
	var plan map[string]any
	if json.Unmarshal(text, &plan) != nil {
		return text
	}
	var lists []map[string]any // whatever has ops
	for _, g := range plan["gpus"].([]any) {
		for _, tb := range g.(map[string]any)["threadblocks"].([]any) {
			if ops, _ := tb.(map[string]any)["ops"].([]any); len(ops) > 0 {
				lists = append(lists, tb.(map[string]any))
			}
		}
	}
	for range 1 + r.IntN(3) {
		list := lists[r.IntN(len(lists))]
		ops := list["ops"].([]any)
		if len(ops) == 0 {
			continue
		}
		i, j := r.IntN(len(ops)), r.IntN(len(ops))
		op := ops[i].(map[string]any)
		switch r.IntN(5) {
		case 0:
			list["ops"] = slices.Delete(slices.Clone(ops), i, i+1)
		case 1:
			list["ops"] = slices.Insert(slices.Clone(ops), j, ops[i])
		case 2:
			ops[i], ops[j] = ops[j], ops[i]
		case 3:
			side := []string{"src_buff", "dst_buff"}[r.IntN(2)]
			if buffers, _ := op[side].([]any); len(buffers) > 0 {
				b := buffers[r.IntN(len(buffers))].(map[string]any)
				if index, ok := b["index"].(float64); ok {
					b["index"] = max(0, index+1-2*float64(r.IntN(2)))
				}
			}
		case 4:
			if ids, _ := op["channel_ids"].([]any); len(ids) > 0 {
				k := r.IntN(len(ids))
				ids[k] = max(0, ids[k].(float64)+1-2*float64(r.IntN(2)))
			}
		}
	}
	damaged, _ := json.MarshalIndent(plan, "", " ")
	return damaged
}
