// Package random generates random collectives, schedules and programs, for property-based tests
// with gopter. What fails is shrunk: to fewer ranks and elements, fewer exchanges, fewer ops and
// passes.
//
//	Specs        collectives of given kinds, as algorithms are asked for
//	Algorithms   schedules that compute their collective, by an algorithm of the table
//	Schedules    schedules of the whole vocabulary, which compute nothing in particular
//	Programs     programs of collectives and kernels, with passes that lower them
//
// Each is a gopter.Gen for prop.ForAll. DrawSchedule, DrawAlgorithm and DrawProgram draw one value
// from a source of random numbers, for tests without gopter. Equal sources give equal values.
//
// The package knows what makes a schedule or a program valid, and nothing of proofs, numbers and
// times: what holds for them is the property's business.
package random
