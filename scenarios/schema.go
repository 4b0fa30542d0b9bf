package scenarios

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// object is a JSON object; encoding/json writes its keys in alphabetical order.
type object map[string]any

// JSONSchema makes a JSON Schema (draft 7, which editors of TOML know) of the key table. It accepts
// what Read and Points accept, and refuses unknown keys and wrong types. Spellings of names, units
// and bounds of quantities are left to Read.
func JSONSchema() ([]byte, error) {
	keys := Keys()
	root := tableSchema(keys, "")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "collsim scenario"
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(root)
	return b.Bytes(), err
}

// tableSchema describes a table with its keys and the tables in it.
func tableSchema(keys []Key, path string) object {
	properties := object{}
	for i := range keys {
		if k := &keys[i]; k.table() == path {
			properties[k.name()] = k.jsonSchema()
		}
	}
	for _, s := range sections {
		up, name := "", s.path
		if at := strings.LastIndexByte(s.path, '.'); at >= 0 {
			up, name = s.path[:at], s.path[at+1:]
		}
		if s.path == "" || up != path {
			continue
		}
		properties[name] = sectionSchema(keys, s)
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

// sectionSchema describes a table, or a list of them; a single [collective] or [variant] is both.
func sectionSchema(keys []Key, s section) object {
	one := tableSchema(keys, s.path)
	switch {
	case s.path == "sweep":
		one = object{"type": "object", "additionalProperties": axisSchema(object{})}
	case s.path == "variant.set":
		one = object{"type": "object"}
	case s.path == "collective" || s.path == variantAxis:
		one = object{"anyOf": []any{one, object{"type": "array", "items": one}}}
	case s.many:
		one = object{"type": "array", "items": one}
	}
	one["description"] = strings.ReplaceAll(s.doc, "`", "")
	return one
}

// jsonSchema describes one key.
func (k *Key) jsonSchema() object {
	o := k.valueSchema()
	if k.Axis {
		o = axisSchema(o)
	}
	text := strings.ReplaceAll(k.Doc, "`", "")
	if k.Default != "" {
		text += " Default: " + k.Default + "."
	}
	o["description"] = text
	return o
}

// axisSchema describes one value, a list of them, or a range.
func axisSchema(one object) object {
	end := object{"type": []string{"string", "number"}}
	ranged := object{"type": "object", "additionalProperties": false,
		"required":   []string{"from", "to"},
		"properties": object{"from": end, "to": end, "factor": end, "step": end}}
	list := object{"type": "array", "items": one}
	if len(one) == 0 {
		return object{"anyOf": []any{list, ranged}}
	}
	return object{"anyOf": []any{one, list, ranged}}
}

// valueSchema describes one value. Names are offered, but other spellings of them are accepted.
func (k *Key) valueSchema() object {
	switch k.kind {
	case aFlag:
		return object{"type": "boolean"}
	case aWhole, aFactor:
		o := object{"type": "number", "minimum": k.min}
		if k.kind == aWhole {
			o["type"] = "integer"
		}
		if k.max > 0 {
			o["maximum"] = k.max
		}
		return o
	case aSize:
		return object{"type": []string{"string", "integer"}}
	case aText, aFile, anAddress, aRate, aTime, aChange, aFigure:
		return object{"type": "string"}
	case aChoice, anOperator, aDataType, anAlgorithm:
		if len(k.Values) == 0 {
			return object{"type": "string"}
		}
		some := []any{object{"enum": k.Values}, object{"type": "string"}}
		if slices.Contains(k.Values, "true") {
			some = append(some, object{"type": "boolean"})
		}
		return object{"anyOf": some}
	}
	return object{} // lists, which are judged when they are read
}
