package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"
)

// decodedSchema is the schema as an editor reads it.
func decodedSchema(t *testing.T) map[string]any {
	t.Helper()
	text, err := JSONSchema()
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(text, &s))
	return s
}

// asJSON is a scenario as JSON has it.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var tree map[string]any
	_, err := toml.Decode(text, &tree)
	require.NoError(t, err)
	encoded, err := json.Marshal(tree)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(encoded, &v))
	return v
}

// accepts is as much of a validator as JSONSchema needs: nil, or where v is wrong.
func accepts(s map[string]any, v any, at string) error {
	if any1, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(any1, func(one any) bool {
		return accepts(one.(map[string]any), v, at) == nil
	}) {
		return fmt.Errorf("%s: none of %d", at, len(any1))
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Errorf("%s: %v is none of %v", at, v, enum)
	}
	types, given := s["type"].([]any)
	if one, ok := s["type"].(string); ok {
		types, given = []any{one}, true
	}
	if given && !slices.ContainsFunc(types, func(name any) bool { return isA(v, name.(string)) }) {
		return fmt.Errorf("%s: %v is no %v", at, v, types)
	}
	if x, ok := v.(float64); ok {
		least, bounded := s["minimum"].(float64)
		most, limited := s["maximum"].(float64)
		if bounded && x < least || limited && x > most {
			return fmt.Errorf("%s: %v is out of range", at, x)
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		list, _ := v.([]any)
		for i, one := range list {
			if err := accepts(items, one, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	table, _ := v.(map[string]any)
	for key, value := range table {
		properties, _ := s["properties"].(map[string]any)
		one, ok := properties[key].(map[string]any)
		if !ok {
			one, ok = s["additionalProperties"].(map[string]any)
		}
		if !ok && s["additionalProperties"] == false {
			return fmt.Errorf("%s: %s is unknown", at, key)
		}
		if err := accepts(one, value, at+"."+key); err != nil {
			return err
		}
	}
	return nil
}

func isA(v any, name string) bool {
	switch v := v.(type) {
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// TestSchemaAccepts: all examples are right, and so is the example of every key.
func TestSchemaAccepts(t *testing.T) {
	s := decodedSchema(t)
	for _, name := range Examples() {
		text, err := Example(name)
		require.NoError(t, err)
		require.NoError(t, accepts(s, asJSON(t, string(text)), name))
	}
	for _, k := range Keys() {
		if k.table() == "sweep" {
			continue
		}
		text := k.Path + " = " + k.Example
		if section := newSchema().section(k.table()); section != nil && section.many {
			text = section.header() + "\n" + k.name() + " = " + k.Example
		}
		require.NoError(t, accepts(s, asJSON(t, text), k.Path), text)
	}
}

// TestSchemaRefuses what Load refuses too.
func TestSchemaRefuses(t *testing.T) {
	s := decodedSchema(t)
	for text, want := range map[string]string{
		"nam = \"x\"":                               "x: nam is unknown",
		"[topology]\nranks = \"8\"":                 "x.topology.ranks: 8 is no [integer]",
		"[topology]\nranks = 0":                     "x.topology.ranks: 0 is out of range",
		"[topology]\nbandwidth = 100":               "x.topology.bandwidth: 100 is no [string]",
		"[[collective]]\nalgoritm = \"ring\"":       "x.collective: none of 2",
		"[sweep]\n\"topology.ranks\" = 3":           "x.sweep.topology.ranks: none of 2",
		"[sweep]\nseed = { from = 1, till = 2 }":    "x.sweep.seed: none of 2",
		"[[topology.link]]\nmatch = \"a\"\nbot = 1": "x.topology.link[0]: bot is unknown",
	} {
		require.EqualError(t, accepts(s, asJSON(t, text), "x"), want)
	}
}
