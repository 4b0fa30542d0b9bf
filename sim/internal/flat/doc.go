// Package flat has the containers of the simulator's hot loops: a heap, a queue of items whose keys
// change, a hash table, lists, and a pool of values. All keep values in flat arrays, so that no
// entry needs an allocation or a pointer.
package flat
