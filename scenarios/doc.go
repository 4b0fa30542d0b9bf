// Package scenarios reads the scenario file: a network, a device and the collectives to run, in
// TOML. One table of keys (Keys) says what there is; the loader, --set, [sweep], the suggestions in
// errors and the reference in docs/scenario.md all derive from it.
//
//	text → tree with lines → values → axes → points
//
// Load goes that way in one call and returns points, each fully determined, or every error that can
// be found, each with file, line, key, value, what was expected and how to put it right.
//
// The package knows what can be asked and not how it is done: no algorithm (their names come from
// the caller), no schedule, no simulator.
package scenarios
