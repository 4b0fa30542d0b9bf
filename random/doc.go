// Package random generates random collectives, schedules and programs, for property-based tests
// with gopter. A failing value shrinks: to fewer ranks and elements, fewer exchanges, fewer ops and
// passes.
//
//	Specs        collectives of given kinds
//	Algorithms   schedules that compute their collective, by an algorithm of the table
//	Schedules    schedules of the whole vocabulary, which compute nothing in particular
//	Programs     programs of collectives and kernels, with passes that lower them
//
// Each is a gopter.Gen for prop.ForAll. DrawSchedule, DrawAlgorithm and DrawProgram draw one value
// from a source of random numbers, for tests without gopter. Equal sources give equal values.
//
// The package knows which schedules and programs are valid, and nothing of proofs, numbers and
// times: a property states what holds for the values.
package random
