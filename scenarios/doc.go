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
package scenarios
