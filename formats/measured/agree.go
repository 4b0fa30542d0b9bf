package measured

import (
	"strings"

	"collsim/dtype"
	"collsim/unit"
)

// Agree reports whether two rows may be of one call: nothing that both state differs. Names of
// types, operators, algorithms and protocols may be spelt in several ways. Place and root do not
// count.
func Agree(a, b *Row) bool {
	return sameSize(a, b) && agree(a.Kind, b.Kind) && agree(a.Ranks, b.Ranks) &&
		agree(a.Nodes, b.Nodes) &&
		agree(typeName(a.Type), typeName(b.Type)) && agree(opName(a.Op), opName(b.Op)) &&
		agree(plain(a.Algorithm), plain(b.Algorithm)) && agree(plain(a.Protocol), plain(b.Protocol))
}

// sameSize reports whether two rows have the same size. That of a rank's block is held against the
// whole by the ranks that the other row states.
func sameSize(a, b *Row) bool {
	if a.PerRank == b.PerRank {
		return a.Size == b.Size
	}
	if b.PerRank {
		a, b = b, a
	}
	return a.Size*unit.Bytes(b.Ranks) == b.Size
}

// agree reports whether two facts are equal, or one is not stated.
func agree[T comparable](a, b T) bool {
	var unstated T
	return a == b || a == unstated || b == unstated
}

// typeName returns our name of an element type that nccl-tests may have named.
func typeName(name string) string {
	for _, t := range dtype.All() {
		if strings.EqualFold(name, t.NCCL()) {
			return t.String()
		}
	}
	return strings.ToLower(name)
}

// opName returns the name of an operator; "" for none.
func opName(name string) string {
	if name = strings.ToLower(name); name != "none" {
		return name
	}
	return ""
}

// plain returns a name without case, blanks and hyphens, as "nvlstree" of "NVLS_TREE".
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}
