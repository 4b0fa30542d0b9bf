package measured

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/unit"
)

// facts lists the columns that describe measurements. A name has its synonyms behind it.
func facts() []column {
	return []column{
		{"collective kind coll coll_name operation", setKind},
		{"ranks nranks n_ranks num_ranks world_size worldsize", setWhole("ranks",
			func(r *record) *int { return &r.common.Ranks })},
		{"nodes nnodes n_nodes num_nodes", setWhole("nodes",
			func(r *record) *int { return &r.common.Nodes })},
		{"size_bytes size size_b bytes nbytes message_size msg_size message_bytes msg_size_bytes " +
			"message_size_bytes message_size_b data_size", func(r *record, s string) error {
			n, err := whole64(s)
			r.common.Size = unit.Bytes(n)
			return err
		}},
		{"count elements num_elements", func(r *record, s string) (err error) {
			r.common.Count, err = whole64(s)
			return err
		}},
		{"type dtype data_type datatype", setText(func(r *record) *string { return &r.common.Type })},
		{"redop op reduce_op red_op", setText(func(r *record) *string { return &r.common.Op })},
		{"root", setRoot},
		{"in_place inplace", setPlace},
		{"algo algorithm", setText(func(r *record) *string { return &r.common.Algorithm })},
		{"proto protocol", setText(func(r *record) *string { return &r.common.Protocol })},
		{"picked_algorithm", setText(func(r *record) *string { return &r.common.Choice.Algorithm })},
		{"picked_protocol", setText(func(r *record) *string { return &r.common.Choice.Protocol })},
		{"picked_channels", setWhole("channels",
			func(r *record) *int { return &r.common.Choice.Channels })},
		{"wrong nwrong", func(r *record, s string) (err error) {
			if s != "N/A" {
				r.common.Wrong, err = number(s)
			}
			return err
		}},
		{"samples", func(_ *record, s string) error {
			_, err := number(s)
			return err
		}},
	}
}

// setText returns what sets a text.
func setText(of func(r *record) *string) func(*record, string) error {
	return func(r *record, s string) error {
		*of(r) = s
		return nil
	}
}

// setWhole returns what sets a number of ranks or the like.
func setWhole(what string, of func(r *record) *int) func(*record, string) error {
	return func(r *record, s string) error {
		n, err := whole64(s)
		if err != nil || n < 1 || n > maxRanks {
			return fmt.Errorf("a number of %s from 1 to %d is expected", what, maxRanks)
		}
		*of(r) = int(n)
		return nil
	}
}

func setKind(r *record, s string) error {
	if r.common.Kind = kindOf(s); r.common.Kind == 0 {
		return errors.New("a collective is expected")
	}
	return nil
}

func setRoot(r *record, s string) error {
	root, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || root < -1 || root > maxRanks {
		return errors.New("a rank, or -1 for none, is expected")
	}
	r.common.Root = root
	return nil
}

func setPlace(r *record, s string) (err error) {
	if r.inPlace, err = strconv.ParseBool(strings.ToLower(s)); err != nil {
		return errors.New("true or false is expected")
	}
	return nil
}

// kindOf returns the collective with a name in tables or among programs of nccl-tests; 0 if there
// is none.
func kindOf(name string) collective.Kind {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if name == "bcast" {
		name = "broadcast"
	}
	for _, k := range collective.Kinds() {
		if strings.ReplaceAll(k.String(), "_", "") == name {
			return k
		}
	}
	return 0
}
