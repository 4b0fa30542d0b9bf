// Package flat has the two containers of the simulator's hot loops: a heap and a hash table, both
// of values in flat arrays, so that nothing is allocated for an entry and no pointer is followed.
// It knows nothing of what it holds.
package flat
