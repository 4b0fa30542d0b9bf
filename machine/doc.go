// Package machine describes whole machines: the GPUs of a node and their connection, its NICs, and
// the network between nodes. A machine is one file of plain data, every figure with its source. The
// keys of a scenario (Keys), lists and documents follow from it. Rates are achieved ones where a
// measurement is known; those of a data sheet are kept beside them.
//
// The package knows devices by name, and no scenario and no library.
package machine
