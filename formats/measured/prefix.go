package measured

import (
	"regexp"
	"slices"
	"strings"
)

// Times that launchers and loggers write before a line.
const (
	isoTime = `[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?[\])]?:?`
	mpiTime = `(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d \d{4}`
)

// cleaner blanks what others have added to lines; what remains keeps its columns.
type cleaner struct {
	anywhere, before *regexp.Regexp
}

// newCleaner knows colours, dates, tags of mpirun (which stand within a line, too, where a process
// wrote it in pieces), and before a line: times, the rank of srun -l, mpiexec or torchrun, the pod
// of kubectl, the service of docker.
func newCleaner() cleaner {
	return cleaner{
		anywhere: regexp.MustCompile(`(^|\s)` + isoTime + `(\s|$)|\x1b\[[0-9;?]*[A-Za-z]|\r|(` + mpiTime +
			`)?(\[[^\[\]\s]*\d+,\d+\])?<std(out|err|diag)>:`),
		before: regexp.MustCompile(`^\s*(` + mpiTime + `|\d\d:\d\d:\d\d([.,]\d+)?` +
			`|\d+:|\[\d+\]|\[(rank|default)\d+\]:|\[pod/[^\]]+\]|[\w.-]+ +\|)(\s|$)`),
	}
}

// clean blanks colours, tags and known prefixes of a line.
func (c *cleaner) clean(line string) string {
	line = strings.ToValidUTF8(line, "?")
	line = c.anywhere.ReplaceAllStringFunc(line, blanks)
	for {
		at := c.before.FindStringIndex(line)
		if at == nil || strings.TrimSpace(line[:at[1]]) == "" {
			return line
		}
		line = blanks(line[:at[1]]) + line[at[1]:]
	}
}

func blanks(text string) string { return strings.Repeat(" ", len(text)) }

// samePrefix reports whether a line has the words of another line's prefix before it, as stern
// writes the names of pod and container.
func samePrefix(prefix, line []word) bool {
	return len(line) > len(prefix) && slices.EqualFunc(prefix, line[:len(prefix)],
		func(a, b word) bool { return a.text == b.text })
}
