package main

import (
	"bytes"
	"path/filepath"

	"github.com/spf13/cobra"

	"collsim"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	var slots int
	cmd := &cobra.Command{
		Use:   "verify FILE.schedule|FILE.toml|example:NAME|- …",
		Short: "prove schedules: every input once, no deadlock, no race",
		Long: "Verify proves a schedule in its text form (docs/schedule.md), or the schedules of all " +
			"points of a scenario, without a network. It exits with 1 if one is wrong.",
		Example: "  collsim verify mine.schedule\n  collsim verify example:compare --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{text: "a schedule or a scenario is expected",
					hint: "for example: collsim verify example:ring"}
			}
			if cmd.Flags().Changed("slots") && slots < 0 {
				return &usageError{text: "--slots is negative; 0 is as many as needed"}
			}
			return a.verify(args, slots, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&slots, "slots", -1, "messages that a connection holds that does not say; 0 "+
		"is as many as needed (default of a schedule; a scenario has its own)")
	cmd.Flags().Lookup("slots").DefValue = ""
	return cmd
}

// verify proves all that the arguments name.
func (a *app) verify(names []string, slots int, asJSON bool) error {
	var list []*collsim.Verification
	for _, name := range names {
		text, err := a.read(name)
		if err != nil {
			return err
		}
		if isSchedule(name, text) {
			v, err := collsim.VerifySchedule(name, text, slots)
			if err != nil {
				return err
			}
			list = append(list, v)
			continue
		}
		s, err := collsim.Load(name, text, collsim.LoadOptions{})
		if err != nil {
			return err
		}
		a.noteSeed(s.Points)
		proofs, err := s.Verify(slots)
		if err != nil {
			return err
		}
		list = append(list, proofs...)
	}
	good := true
	var b bytes.Buffer
	for _, v := range list {
		good = good && v.Good()
		b.WriteString(v.Text())
	}
	if asJSON {
		text, err := collsim.VerificationJSON(list...)
		if err != nil {
			return err
		}
		b = *bytes.NewBuffer(text)
	}
	a.print(a.out, b.String())
	if !good {
		return errFailed
	}
	return nil
}

// isSchedule reports whether a text is a schedule: by the file's name, or else by its first word.
func isSchedule(name string, text []byte) bool {
	switch filepath.Ext(name) {
	case ".schedule":
		return true
	case ".toml":
		return false
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return bytes.Equal(bytes.Fields(line)[0], []byte("schedule"))
		}
	}
	return false
}
