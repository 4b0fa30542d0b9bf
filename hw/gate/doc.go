// Package gate lets into a run who knows its secret, and nobody else.
//
//	who dials                                  who accepts
//	claim, nonce ────────────────────────────►             which rank I am, and whom I am to reach
//	         ◄──────────────────────────────── run, nonce, proof
//	proof ───────────────────────────────────►
//	         ◄──────────────────────────────── welcome
//
// A proof is HMAC-SHA256 over both nonces, the claim and the role of who proves, with a key that
// HKDF derives from the secret for this run alone: the mutual authentication in three passes of
// ISO/IEC 9798-4. The roles differ, so that a proof is of no use to whom it was shown; the nonces
// are new each time, so that one that was overheard is of no use later; comparisons take the same
// time wherever they end. All parts are of a fixed length and have a deadline as a whole: nothing
// that a stranger says is read beyond it, stored, or shown.
//
// A door keeps no more than a number of connections that have not proven anything. What a
// connection says after that is neither encrypted nor signed.
//
// The package knows no job, no protocol of ranks and no network but net.Conn.
package gate
