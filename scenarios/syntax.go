package scenarios

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	bareValue = `^([A-Za-z0-9_.-]+)\s*=\s*([^"'\[\]{}#=]+?)\s*(#.*)?$`
	colonPair = `^"?([A-Za-z0-9_.-]+)"?\s*:(\s.*)?$`
	grouped   = `^\d{1,3}(,\d{3})+$`
)

// plainSyntax turns the library's message about a line into text and hint. The slips that people
// make are recognised by the line itself; the rest keeps the library's words, without those that
// only its authors use.
func plainSyntax(message, line string) (text, hint string) {
	if strings.Contains(message, "out of range") {
		return "a number is too large for TOML", ""
	}
	if m := regexp.MustCompile(bareValue).FindStringSubmatch(line); m != nil {
		hint := fmt.Sprintf("write text and values with a unit in quotes: %s = \"%s\"", m[1], shown(m[2]))
		if regexp.MustCompile(grouped).MatchString(m[2]) {
			hint = "write " + strings.ReplaceAll(m[2], ",", "_")
		}
		return shown(m[2]) + " is no TOML value", hint
	}
	if m := regexp.MustCompile(colonPair).FindStringSubmatch(line); m != nil {
		value := shown(strings.TrimSuffix(strings.TrimSpace(m[2]), ","))
		if value == "" {
			return "a table has its name in brackets, not before a colon", "write [" + m[1] + "]"
		}
		return "a key is followed by =, not by :", "write " + m[1] + " = " + value
	}
	if strings.HasPrefix(line, "{") {
		return "a scenario is TOML, not JSON", "to see what one looks like: collsim list examples"
	}
	switch {
	case strings.Contains(message, "strings cannot contain newlines"),
		strings.Contains(message, "unexpected EOF; expected '\"'"),
		strings.Contains(message, `unexpected EOF; expected "'"`):
		return "the closing quote is missing", ""
	case strings.HasPrefix(line, "[") && strings.Contains(message, "to end table name"),
		strings.HasPrefix(line, "[[") && strings.Contains(message, "table array name"):
		return "the header of a table is not closed", "write [name] or [[name]]"
	case strings.HasSuffix(line, "=") && strings.Contains(message, "expected value"):
		return "the value is missing", ""
	case strings.Contains(message, "expected key separator '='"),
		strings.Contains(message, "expected '.' or '='"):
		return "not TOML: key = value is expected", ""
	case strings.Contains(message, "expected a comma"):
		return "a comma or a closing bracket is expected", ""
	case strings.Contains(message, "top-level item to end with a newline"):
		return "more on the line than a key and its value", ""
	}
	return "not valid TOML: " + translate(message), ""
}

// translate replaces what only the library's authors say.
func translate(message string) string {
	for _, r := range [][2]string{
		{"unexpected EOF", "the file ends too early"}, {"hash", "table"},
		{"'\\n'", "the end of the line"}, {"Invalid", "invalid"}, {"Key '", "key '"},
		{"TOML files cannot contain", "text files do not contain"},
	} {
		message = strings.ReplaceAll(message, r[0], r[1])
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(message, "\uFFFD")), " ")
}
