package flat

// Add is append for a list that grows to thousands: where there is no room it makes room for twice
// as many, and for the least given. Where append grows by a quarter, what it leaves behind on the
// way comes to four times the list.
func Add[T any](list []T, one T, least int) []T {
	if len(list) == cap(list) {
		list = append(make([]T, 0, max(2*len(list), least, 1)), list...)
	}
	return append(list, one)
}
