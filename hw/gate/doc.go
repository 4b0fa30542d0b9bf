// Package gate admits connections to a run only if the peer knows the run's secret.
//
//	dialer                                     acceptor
//	claim, nonce ────────────────────────────►             my rank, and the rank I want
//	         ◄──────────────────────────────── run, nonce, proof
//	proof ───────────────────────────────────►
//	         ◄──────────────────────────────── welcome
//
// A proof is HMAC-SHA256 over both nonces, the claim and the prover's role, with a key that HKDF
// derives from the secret for this run alone: the mutual authentication in three passes of ISO/IEC
// 9798-4. Roles differ, so a proof cannot be reflected. Nonces are fresh, so a recorded proof
// cannot be replayed. Comparisons take constant time. All parts have a fixed length, and a deadline
// as a whole. Nothing else that a stranger sends is read, stored or shown.
//
// A door keeps a bounded number of unauthenticated connections. Traffic after the handshake is
// neither encrypted nor signed.
//
// The package knows no job, no protocol of ranks and no network but net.Conn.
package gate
