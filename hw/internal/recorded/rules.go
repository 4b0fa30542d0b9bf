package recorded

import (
	"encoding/json"
	"fmt"
)

// Rules are what NCCL says to arguments that are odd or wrong.
type Rules struct {
	Head
	Rules []Rule
}

// Rule is a question, each in a process of its own. Trouble is how the process ended, "" if well.
type Rule struct {
	Rule        string
	Environment map[string]string
	Said        []Said
	Trouble     string
}

// Said is what a function returned, in the order of the calls: its code, nil if the library has no
// such function, and what it said of it.
type Said struct {
	Function string
	Code     *int
	Text     string
}

// UnmarshalJSON reads a list of the three.
func (s *Said) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[3]any{&s.Function, &s.Code, &s.Text})
}

// complete says what is not as it should be.
func (r *Rules) complete() error {
	if len(r.Rules) == 0 {
		return fmt.Errorf("it has no rules")
	}
	for i, rule := range r.Rules {
		if rule.Rule == "" || len(rule.Said) == 0 && rule.Trouble == "" {
			return fmt.Errorf("rule %d: what was asked, and what was said, is expected", i)
		}
		for _, s := range rule.Said {
			if s.Function == "" || s.Code != nil && *s.Code != 0 && s.Text == "" {
				return fmt.Errorf("rule %d: %q: a code without a word", i, s.Function)
			}
		}
	}
	return nil
}
