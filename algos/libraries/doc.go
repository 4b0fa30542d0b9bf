// Package libraries is the collection of choices that communication libraries make by themselves
// among their algorithms: for each library a table of rules, with the source of each table. An
// algorithm of ours carries out what a rule names. "mpich:auto" is what MPICH chooses, and so on.
// What a library has and nothing here does the same as is refused, by the library's name for it.
//
// Only the choice is the library's. Its segments, its protocols and its own shared memory are not
// here. Packages algos/openmpi and algos/nccl have the algorithms of these libraries themselves.
// The package knows no library, no process and no time.
package libraries
