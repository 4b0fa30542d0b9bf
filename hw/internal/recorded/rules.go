package recorded

import (
	"encoding/json"
	"fmt"
)

// Rules holds NCCL's answers to odd or wrong arguments.
type Rules struct {
	Head
	Rules []Rule
}

// A Rule is an experiment in a process of its own. Trouble is the abnormal end of the process, ""
// if it ended well.
type Rule struct {
	Rule        string
	Environment map[string]string
	Said        []Said
	Trouble     string
}

// A Said is the result of a call, in order: the function, its code (nil if the library lacks it)
// and its error text.
type Said struct {
	Function string
	Code     *int
	Text     string
}

// UnmarshalJSON decodes a list of the three.
func (s *Said) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[3]any{&s.Function, &s.Code, &s.Text})
}

// complete checks the recording.
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
