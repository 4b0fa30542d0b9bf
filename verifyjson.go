package collsim

import (
	"collsim/collective"
	"collsim/schedule"
)

// jsonVerification is a contract as jsonReport is.
type jsonVerification struct {
	File       string      `json:"file"`
	Format     string      `json:"format"`
	ID         any         `json:"id"`
	Kind       any         `json:"kind"`  // null for a file of requests, which has no schedule;
	Ranks      any         `json:"ranks"` // so are this and the problem's other facts
	OK         bool        `json:"ok"`
	Violations []Violation `json:"violations"`
	MinSlots   any         `json:"min_slots"` // here and below: null without a proof
	Rounds     any         `json:"rounds"`
	Messages   any         `json:"messages"`
	BytesSent  any         `json:"bytes_sent"`
	RankOrder  any         `json:"keeps_rank_order"`
	SameTree   any         `json:"same_tree"`
	Steps      any         `json:"steps"`
	// SentBytes is by rank, Flows by sender and receiver (−1 as a sender for what a switch has added
	// up, as a receiver for what it hands to several).
	// Schedules of a scenario, of which there may be very many, have neither.
	SentBytes  []int64         `json:"sent_bytes"`
	Flows      []jsonFlow      `json:"flows"`
	Name       string          `json:"name"`
	Collective *jsonCollective `json:"collective"`
	Scratch    any             `json:"scratch_bytes"`
	Slots      any             `json:"slots"`  // what connections were taken to hold; null: any number
	Sizes      any             `json:"sizes"`  // for which the verdict holds, in words, or null
	Causal     *jsonCausal     `json:"causal"` // what a schedule without data was held to, or null
	Notes      []string        `json:"notes"`
	// BackToBack is whether a call may begin on a rank as soon as its last has ended there, null
	// without a proof; NextCall is why not.
	BackToBack any         `json:"back_to_back"`
	NextCall   []Violation `json:"next_call"`
}

type (
	jsonFlow struct {
		From  int   `json:"from"`
		To    int   `json:"to"`
		Bytes int64 `json:"bytes"`
	}
	jsonCollective struct {
		Bytes   int64  `json:"bytes"`
		Count   int64  `json:"count"`
		DType   any    `json:"dtype"` // null for a barrier
		Op      string `json:"op"`
		Root    int    `json:"root"`
		InPlace bool   `json:"in_place"`
	}
	jsonCausal struct {
		Kind string `json:"kind"`
		Root int    `json:"root"`
	}
)

// VerificationJSON writes verifications: an object for one, an array of them for several.
func VerificationJSON(list ...*Verification) ([]byte, error) {
	all := make([]jsonVerification, len(list))
	for i, v := range list {
		all[i] = v.json()
	}
	if len(all) == 1 {
		return encode(all[0], "  ")
	}
	return encode(all, "  ")
}

func (v *Verification) json() jsonVerification {
	j := jsonVerification{File: v.File, Format: v.Format, ID: known(v.ID != "", v.ID), OK: v.Good(),
		Violations: v.Violations, Name: v.Name, Sizes: known(v.Sizes != "", v.Sizes),
		Notes: orEmpty(v.Notes), NextCall: orEmpty(v.NextCall),
		BackToBack: known(v.Calls > 0, v.Calls == 2), Slots: known(v.Slots > 0, v.Slots)}
	if c := v.Causal; c != nil {
		j.Causal = &jsonCausal{c.Kind.String(), c.Root}
	}
	if s := v.Schedule; s != nil {
		spec := s.Spec
		j.Kind, j.Ranks, j.Scratch = spec.Kind.String(), spec.Ranks, v.scratch()
		j.Collective = &jsonCollective{Bytes: int64(spec.Bytes()), Count: countOf(spec),
			DType: known(spec.Kind != collective.Barrier, spec.Type.String()), Op: opOf(spec),
			Root: rootOf(spec), InPlace: spec.InPlace}
	}
	if p := v.Proof; p != nil {
		j.MinSlots, j.Rounds, j.Messages, j.Steps = p.MinSlots, p.Rounds, p.Messages, p.Steps
		j.BytesSent, j.RankOrder, j.SameTree = p.BytesSent, p.KeepsRankOrder, p.SameTree
		if v.Format != "scenario" {
			j.SentBytes, j.Flows = sentBytes(p, v.Schedule.Spec.Ranks), flowsOf(p)
		}
	}
	return j
}

func flowsOf(p *schedule.Proof) []jsonFlow {
	flows := make([]jsonFlow, 0, len(p.Flows))
	for _, f := range p.Flows {
		flows = append(flows, jsonFlow{f.From, f.To, f.Bytes})
	}
	return flows
}
