package event

import "collsim/unit"

// happening names an event that an engine reports to its observer, such as a test that writes a log
// of its own. The events' subjects, i and j, are named by their numbers in the engine, which still
// has them in the state of that moment.
type happening uint8

const (
	stepBegins happening = iota // of lane i, at S; it moves e.moved, and D is the lane's until
	stepSends                   // the messages of lane i's step ask for links
	stepEnds                    // of lane i, at E
	runEnds                     //

	kernelHasBegun // e.step of lane i; other kernels report stepBegins

	asksAfter      // message i asks for its first link now that message j has come, −1 for none
	linkServes     // link j begins to carry packet i
	messageLeaves  // message i has left, and its lane's step has waited for it
	messageArrives // message i can be received
	replyArrives   // the data i of a get or load, for which its lane's step has waited
	putArrives     // the silent put i
	slotFreed      // mark j, by lane i's step

	flowStarts  // message i begins to flow
	flowEnds    // message i has been drained, at the rate that it still has
	flowPasses  // message i has left in no time: it shared nothing
	ratesChange // of the flows of fair.Members, on the links it has touched, to Next

	handedOver   // message i to the send buffer, by then
	posted       // message i to its lane's queue, as post j, by then
	postLeft     // post j of lane i's queue had left by then, later than all else its step awaits
	bufferDrains // message i of lane j has left, as late as all that have left before, or later
	bufferClear  // all that lane i has sent had left by then, later than all else its step awaits

	streamFlows   // the bytes of message i are the last of stream j whose departure is known
	streamMoves   // message i has left stream j
	followsStream // message i asks for its first link now that what was before it in stream j has left
	bufferHasRoom // so much of stream i has left as its lane's step has waited for
	putLeaves     // message i is the last silent put of lane j so far to leave
	followsPuts   // message i asks for its first link now that the puts of lane j have left

	comesToReceive  // lane i can post receives: it has come to the step, events were there by then
	receivePosted   // receive i, by lane j
	requestAnswered // message i's, now that receive j is posted
	dataFollows     // the answer to message i has come
)

// report reports an event at a time to the observer. Only here is it checked whether there is one.
func (e *engine) report(what happening, i, j int32, at unit.Time) {
	if e.observer != nil {
		e.observer(what, i, j, at)
	}
}
