// Package simtest has what the tests of the simulator's packages share: random schedules, networks
// and devices for which every rule of time matters, and a few plans.
package simtest
