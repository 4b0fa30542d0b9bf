// Package machine describes whole machines: the GPUs of a node and what joins them, its NICs, and
// the network between nodes. A machine is one file of plain data, every figure with its source;
// from it follow the keys of a scenario (Keys), and lists and documents. Rates are those that
// somebody has reached, where a measurement is known; what a data sheet has stands beside them.
//
// The package knows devices by name, and no scenario and no library.
package machine
