package algostest

import (
	"collsim/reference"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// computes checks a schedule against the definition of its collective, on data that every order of
// additions computes exactly.
func computes(t require.TestingT, c trial, s *schedule.Schedule) {
	report, err := reference.Check(s, reference.CheckOptions{Seed: 1})
	require.NoError(t, err, "%s", c)
	require.True(t, equal(report), "%s: %s, %v", c, report.Numbers, report.First)
	require.True(t, report.RanksAgree, "%s", c)
}

// equal reports whether all elements are as defined, even where the verdict is bounded because a
// switch adds.
func equal(r reference.Report) bool {
	return r.Wrong == 0 && r.MaxULP == 0 && r.Numbers != reference.NumbersOff
}

// right reports whether a schedule computes what its collective is defined to.
func right(t require.TestingT, m mutant, s *schedule.Schedule) bool {
	report, err := reference.Check(s, reference.CheckOptions{Seed: 1})
	require.NoError(t, err, "%s\n%s", m.what, m.text)
	return equal(report) && report.RanksAgree
}
