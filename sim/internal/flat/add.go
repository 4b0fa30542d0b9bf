package flat

// Add appends one value to a list that grows to thousands. A full list gets twice its room, and at
// least the given one. append itself grows by a quarter there, so the lists that it leaves behind
// sum to four times the last.
func Add[T any](list []T, one T, least int) []T {
	if len(list) == cap(list) {
		list = append(make([]T, 0, max(2*len(list), least, 1)), list...)
	}
	return append(list, one)
}
