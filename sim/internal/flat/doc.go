// Package flat has the containers of the simulator's hot loops: a heap, a queue of items whose keys
// change, a hash table and lists that double, all of values in flat arrays, so that nothing is
// allocated for an entry and no pointer is followed. It knows nothing of what it holds.
package flat
