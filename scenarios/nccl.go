package scenarios

import (
	"strconv"
	"strings"
)

// libraryPrefix begins the names of NCCL's algorithms.
const libraryPrefix = "nccl:"

// environmentTable has the variables that NCCL reads.
const environmentTable = "nccl.env"

// environmentKeys are the variables of NCCL that change what it chooses.
func environmentKeys() []Key {
	one := func(name, example, doc string) Key {
		return Key{Path: environmentTable + "." + name, kind: aText, Example: example, Sweep: true,
			Doc: doc}
	}
	channels := func(name, doc string) Key {
		k := one(name, "8", doc)
		k.kind, k.min, k.max = aWhole, 1, 64
		return k
	}
	flag := func(name, doc string) Key {
		k := one(name, "0", doc)
		k.kind, k.max = aWhole, 2
		return k
	}
	return []Key{
		one("NCCL_ALGO", `"ring,tree;allreduce:^ring"`, "Algorithms to choose among: a list for all "+
			"collectives, then lists for some, each behind the name and a colon; ^ is all but these."),
		one("NCCL_PROTO", `"^ll128"`, "Protocols to choose among, in the same form: LL, LL128, Simple. "+
			"A list that does not leave LL128 out asks for it, on any links."),
		channels("NCCL_MIN_NCHANNELS", "Channels of a communicator, at least."),
		channels("NCCL_MAX_NCHANNELS", "Channels of a communicator, at most; the least wins."),
		channels("NCCL_MIN_CTAS", "As NCCL_MIN_NCHANNELS; of both the larger holds."),
		channels("NCCL_MAX_CTAS", "As NCCL_MAX_NCHANNELS; of both the smaller holds."),
		channels("NCCL_NVLS_NCHANNELS", "Channels of NVLS and NVLSTree."),
		flag("NCCL_NVLS_ENABLE", "0 leaves out NVLS and NVLSTree."),
		flag("NCCL_PAT_ENABLE", "0 leaves out PAT."),
	}
}

// environment reads the variables, as a shell has them: "NCCL_ALGO=ring NCCL_MAX_CTAS=8".
func (v *view) environment(p *Point) bool {
	var list []string
	ok := true
	for _, k := range environmentKeys() {
		if _, given := v.given(k.Path); !given {
			continue
		}
		value := ""
		if k.kind == aText {
			text, _, readable := fetch[string](v, k.Path)
			value, ok = text, ok && readable
			if readable && (text == "" || strings.ContainsAny(text, " \t\n=")) {
				v.fail(k.Path, problem{"is no list", "for example " + k.Example})
				ok = false
			}
		} else {
			n, _, readable := fetch[int64](v, k.Path)
			value, ok = strconv.FormatInt(n, 10), ok && readable
		}
		list = append(list, k.name()+"="+value)
	}
	p.Environment = strings.Join(list, " ")
	return ok
}

// useEnvironment marks the variables as used where a point may be done by NCCL.
func (v *view) useEnvironment() {
	for _, k := range environmentKeys() {
		v.use(k.Path)
	}
}

// mayBeNCCL reports whether an algorithm is one of NCCL's, or is chosen among those.
func (a *Algorithm) mayBeNCCL() bool {
	return strings.HasPrefix(a.Name, libraryPrefix) || a.Name == "fastest"
}
