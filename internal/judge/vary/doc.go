// Package vary makes schedules for the judge. Random ones have matching messages. Others are
// changed in their steps (one removed, two exchanged, a message made a put, …) or in their text. It
// also shrinks a schedule as long as a property holds. The results may be right or wrong. All
// randomness comes from the given generator.
package vary
