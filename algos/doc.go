// Package algos is the collection of collective algorithms: one small file each, in plain Go that
// says what one rank does, with its source and its published cost. Table lists them, Find looks
// one up, and Algorithm.Build applies one to a collective, which makes a schedule.
//
// An Algorithm is data and pure functions. It says what each lane of a rank does (Lane) and, where
// every rank does the same as seen from itself, how ranks are translated (Group). What is another
// algorithm run backwards says only of which (Of): a reduce_scatter of its all_gather, a reduce of
// its broadcast. Functions that depend on parameters are made when these are known (Bind).
// Channels and slices are modifiers of any algorithm and not in these files. Peers and blocks are
// counted modulo their number, and one rank or no data is Build's business, so the files have no
// special cases.
//
// Cost is the closed form that the literature gives; ClosedForm makes picoseconds of it. Nothing
// here is simulated: the package knows nothing of links, devices or data, and proofs are
// proof.Verify's. Package algostest is the conformance suite that all algorithms pass.
package algos
