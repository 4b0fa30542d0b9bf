// Package simtest has what the tests of the simulator's packages share: random schedules, networks
// and devices on which every rule of time has work to do, and a few plans.
package simtest
