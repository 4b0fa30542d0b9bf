package algostest

import (
	"fmt"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"

	"collsim/algos"
	"collsim/collective"
	"collsim/proof"
	"collsim/random"
	"collsim/reference"
)

// TestTableOnSpecs proves every algorithm on random collectives of its kinds.
func TestTableOnSpecs(t *testing.T) {
	laws := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(7))
	laws.Property("every algorithm of the table is proven", prop.ForAll(
		func(spec collective.Spec) string {
			for _, a := range algos.ForKind(spec.Kind) {
				s, err := a.Build(spec, algos.Options{})
				if err != nil {
					continue // it says which collectives it is not for; Test holds it to the others
				}
				if _, wrong := proof.Verify(s, proof.Options{}); len(wrong) > 0 {
					return fmt.Sprintf("%s: %v", a.Name, wrong[0])
				}
				report, err := reference.Check(s, reference.CheckOptions{Data: reference.Uniform})
				if err != nil || report.Wrong > 0 {
					return fmt.Sprintf("%s: %v, %v", a.Name, report.First, err)
				}
			}
			return ""
		}, random.Specs()))
	laws.TestingRun(t)
}
