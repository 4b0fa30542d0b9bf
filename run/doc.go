// Package run carries out the points of a scenario: it makes the schedule of each, has it proven,
// computed on real numbers and timed, bounds it from below, and gathers what was found as one
// Result. It explains times, executes schedules for real and calibrates.
//
//	Point ─► schedule ─► proof, numbers, time, bounds, hardware ─► Result
//
// What a point takes is counted from its schedule and from nothing else; no clock is read:
//
//   - steps, messages and bytes of all ranks are exact counts (work.go), but that a block counts as
//     the first rank's where a vector does not divide evenly;
//   - memory is an upper bound on one core, stage by stage: counts times the bytes that the records
//     of a stage have (takes.go). It is the only reason for which a point is refused before it
//     starts (memory.go);
//   - time is an order of magnitude: steps, and ranks that one stands for, times one constant for
//     each engine (estimate.go). It is printed and nothing is decided by it;
//   - a check of numbers is of all elements, of a smaller count, or of some outputs, by how many
//     operations all would be (sample.go);
//   - a run reports its progress from the points that are done, and how much is done of each stage
//     that goes on for long (RunOptions.Phase).
//
// The package reads files through the function that it is given and writes none. It knows nothing
// of how results are printed, of flags, terminals and pictures. Equal input gives equal results,
// however many threads there are.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	networks: network.go links.go wires.go nodefacts.go
//	schedules: disk.go load.go arrayfiles.go fromfile.go place.go build.go choose.go library.go
//	  parameters.go channels.go relay.go synth.go kept.go
//	work: work.go takes.go memory.go sample.go estimate.go contest.go
//	results: run.go all.go protocol.go result.go bound.go benchmark.go held.go numerics.go
//	  backward.go gradientlaw.go compare.go shared.go verify.go sizes.go convert.go
//	  faults.go faultcalls.go arrived.go
//	executions: carry.go inputs.go backwarddata.go executors.go outcome.go measured.go validate.go
//	  logged.go
//	programs: program.go programof.go programdata.go programcompare.go programfile.go simai.go
//	  programmodule.go programchoose.go programfolded.go programprove.go programverify.go
//	  programestimate.go programexecute.go programnumbers.go programtrace.go programexposed.go
//	  programattribute.go programexplain.go
//	explanations: explain.go again.go thresholds.go tune.go tunefile.go
//	calibration: calibrate.go calibrateclasses.go calibratemodel.go calibratetable.go
//	  calibratemachine.go calibratenccl.go calibratencclfigures.go calibratencclsearch.go
//	  exportmachine.go
package run
