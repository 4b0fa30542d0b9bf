package algos

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// Table lists the best known algorithms, by the first of their kinds and then by name. Of equally
// fast ones, a search takes the first of Table, and then of Further.
func Table() []Algorithm {
	return []Algorithm{
		binomialAllReduce,
		doubleBinaryTreeAllReduce,
		hierarchicalAllReduce,
		oneShotAllReduce,
		rabenseifnerAllReduce,
		recursiveDoublingAllReduce,
		ringAllReduce,
		twoShotAllReduce,

		bruckAllGather,
		directAllGather,
		lowContentionAllGather,
		pairwiseAllGather,
		recursiveDoublingAllGather,
		ringAllGather,

		directReduceScatter,
		lowContentionReduceScatter,
		pairwiseReduceScatter,
		recursiveHalvingReduceScatter,
		ringReduceScatter,

		binomialBroadcast,
		chainBroadcast,
		flatBroadcast,
		scatterAllgatherBroadcast,

		binomialReduce,
		chainReduce,
		flatReduce,
		linearReduce,

		binomialGather,
		flatGather,

		binomialScatter,
		flatScatter,

		bruckAllToAll,
		directAllToAll,
		pairwiseAllToAll,
		ringAllToAll,

		directSendRecv,

		disseminationBarrier,
	}
}

// Further lists the other algorithms, in the order of Table.
func Further() []Algorithm {
	return slices.Concat(furtherOfAll(), furtherRooted(), furtherExchanges())
}

// furtherOfAll lists those of Further whose results all ranks have.
func furtherOfAll() []Algorithm {
	return []Algorithm{
		binaryBlocksAllReduce,
		bineAllReduce,
		bruckHoAllReduce,
		chainAllReduce,
		circulantAllReduce,
		gatherReduceAllReduce,
		kNomialAllReduce,
		leaderAllReduce,
		linearAllReduce,
		multiLevelAllReduce,
		nvlsAllReduce,
		nvlsOneShotAllReduce,
		nvlsPipelinedAllReduce,
		recursiveMultiplyingAllReduce,
		swingAllReduce,
		swingLatencyAllReduce,
		torusAllReduce,

		bineAllGather,
		circulantAllGather,
		gatherBroadcastAllGather,
		kBruckAllGather,
		linearAllGather,
		multiLevelAllGather,
		neighborExchangeAllGather,
		nvlsAllGather,
		patAllGather,
		mpichDoublingAllGather,
		recursiveMultiplyingAllGather,
		sparbitAllGather,
		swingAllGather,

		bineReduceScatter,
		butterflyReduceScatter,
		circulantReduceScatter,
		multiLevelReduceScatter,
		noncommutativeReduceScatter,
		recursiveDoublingReduceScatter,
		reduceThenScatter,
		nvlsReduceScatter,
		patReduceScatter,
		sparbitReduceScatter,
		swingReduceScatter,
	}
}

// furtherRooted lists those of Further that have a root.
func furtherRooted() []Algorithm {
	return []Algorithm{
		binaryTreeBroadcast,
		bineBroadcast,
		circulantBroadcast,
		doubleBinaryTreeBroadcast,
		doublingBroadcast,
		hierarchicalBroadcast,
		kNomialBroadcast,
		nvlsBroadcast,
		scatterDoublingBroadcast,
		splitBinaryBroadcast,

		binaryTreeReduce,
		bineReduce,
		circulantReduce,
		doubleBinaryTreeReduce,
		doublingReduce,
		hierarchicalReduce,
		kNomialReduce,
		rabenseifnerReduce,
		ringReduce,
		splitBinaryReduce,

		bineGather,
		hierarchicalGather,
		kNomialGather,

		bineScatter,
		hierarchicalScatter,
		kNomialScatter,
	}
}

// furtherExchanges lists those of Further that move blocks between all ranks, or nothing.
func furtherExchanges() []Algorithm {
	return []Algorithm{
		bineAllToAll,
		hierarchicalAllToAll,
		hierarchicalAllToAllV,
		kBruckAllToAll,
		pairwiseXorAllToAll,
		scatteredAllToAll,
		storeForwardAllToAll,

		directBarrier,
		doubleRingBarrier,
		kDisseminationBarrier,
		linearBarrier,
		recursiveDoublingBarrier,
		treeBarrier,
	}
}

// ForKind lists the algorithms of a kind in Table, by name.
func ForKind(k collective.Kind) []Algorithm {
	return slices.DeleteFunc(Table(), func(a Algorithm) bool { return !a.Does(k) })
}

// FurtherFor lists the algorithms of a kind in Further, by name.
func FurtherFor(k collective.Kind) []Algorithm {
	return slices.DeleteFunc(Further(), func(a Algorithm) bool { return !a.Does(k) })
}

// Find returns the algorithm of a kind with a name; "-" and "_" are the same. If there is none, the
// error names the nearest ones, and the kinds that have an algorithm of that name.
func Find(k collective.Kind, name string) (Algorithm, error) {
	return FindIn(append(Table(), Further()...), k, name)
}

// FindIn looks up a name as Find does, in another table of algorithms.
func FindIn(table []Algorithm, k collective.Kind, name string) (Algorithm, error) {
	canonical := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	var names, elsewhere []string
	for _, a := range table {
		switch {
		case a.Does(k) && a.Name == canonical:
			return a, nil
		case a.Does(k):
			names = append(names, a.Name)
		case a.Name == canonical:
			for _, kind := range a.Kinds {
				elsewhere = append(elsewhere, kind.String())
			}
		}
	}
	hint := "no algorithm does it"
	if len(names) > 0 {
		hint = choice(canonical, names)
	}
	if len(elsewhere) > 0 {
		hint += fmt.Sprintf(" (%s is for %s)", canonical, list(elsewhere))
	}
	return Algorithm{}, fmt.Errorf("%v has no algorithm %q; %s", k, name, hint)
}

// list joins words with commas.
func list(words []string) string { return strings.Join(words, ", ") }
