// Package scenarios reads the scenario file: a network, a device and the collectives to run, in
// TOML. One table of keys (Keys) says what there is; the loader, --set, [sweep], the suggestions in
// errors and the reference in docs/scenario.md all derive from it.
//
//	text → Document → Points
//
// Read makes a Document of a text: a tree with lines, then values. Its Points are each fully
// determined; or there is every error that can be found, each with file, line, key, value, what was
// expected and how to put it right. What only others know, the document asks for: Points returns
// questions, and is called again with their answers, which are plain data. It calls nobody.
//
// The package knows what can be asked and not how it is done: no algorithm (their names are facts
// that it is given), no schedule, no simulator. It opens no file.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	text: errors.go syntax.go scan.go scanvalue.go value.go
//	keys: key.go keys.go schema.go choices.go algorithm.go
//	documents: facts.go document.go path.go view.go machine.go set.go with.go sweep.go axis.go
//	  read.go lists.go
//	networks: network.go cluster.go uneven.go homes.go nodes.go hops.go rings.go multimem.go
//	  topologykeys.go
//	machines: devicekeys.go protocols.go ranges.go nccl.go hardware.go
//	collectives: benchmark.go measured.go arrival.go fault.go point.go collectivekeys.go size.go
//	  splits.go teams.go tensor.go backward.go digest.go
//	programs: lengths.go programmesh.go programcalls.go programloops.go programgroup.go
//	  programdata.go programfile.go loweringkeys.go program.go
//	scenarios: load.go expand.go variant.go every.go idle.go filename.go only.go newpoint.go
//	  refusal.go examples.go
//	table: table.go
package scenarios
