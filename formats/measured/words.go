package measured

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"collsim/unit"
)

// dataTypes lists nccl-tests' names of types, old and new, and those of rccl-tests.
const dataTypes = " int8 char uint8 int16 uint16 int32 int uint32 int64 uint64 half float16 " +
	"float float32 double float64 bfloat16 f8e4m3 f8e5m2 fp8_e4m3 fp8_e5m2 "

func isType(text string) bool { return strings.Contains(dataTypes, " "+text+" ") }

// maxTime bounds the times in a table: even sums of very many stay below unit.Forever.
const maxTime = 1e6 * float64(unit.Second)

// number parses a decimal number of at least 0.
func number(text string) (float64, error) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, fmt.Errorf("a number is expected")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("a number of at least 0 is expected")
	}
	return v, nil
}

// microseconds parses a time above 0.
func microseconds(text string) (unit.Time, error) { return scaled(text, 1) }

// scaled parses a time above 0 in a unit of so many microseconds.
func scaled(text string, scale float64) (unit.Time, error) {
	v, err := number(text)
	if err != nil {
		v = 0
	}
	return inMicroseconds(v * scale)
}

// inMicroseconds converts microseconds, above 0, to a time.
func inMicroseconds(v float64) (unit.Time, error) {
	t := math.Round(v * float64(unit.Microsecond))
	if !(t >= 1 && t <= maxTime) {
		return 0, fmt.Errorf("a time above 0 in microseconds is expected")
	}
	return unit.Time(t), nil
}

// maxRanks bounds the ranks of a table.
const maxRanks = 1 << 20

// mostWhole bounds numbers of bytes and of elements.
const mostWhole = int64(1024 * unit.TiB)

// whole64 parses a number of bytes or of elements.
func whole64(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > mostWhole {
		return 0, fmt.Errorf("a whole number from 0 to 2^50 is expected")
	}
	return v, nil
}

// step returns half a unit of the last digit of a printed decimal number. Four decimals that end in
// 00 count as two: nccl-tests prints two, and other tools pad them.
func step(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	if len(decimals) == 4 {
		decimals = strings.TrimSuffix(decimals, "00")
	}
	power, _ := strconv.Atoi(exponent)
	return 0.5 * math.Pow10(power-len(decimals))
}

// word is a word of a line, with its line and column, from 1.
type word struct {
	text         string
	line, column int
}

// words splits a line.
func words(line int, text string) (all []word) {
	at := 0
	for _, one := range strings.Fields(text) {
		at += strings.Index(text[at:], one)
		all = append(all, word{one, line, at + 1})
		at += len(one)
	}
	return all
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isNumber reports whether a word may be a field of a row that has a value.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil || text == "N/A"
}
