#pragma once
// The evaluator of collectives by formula: one function per operation and algorithm (COL 5), in the
// table of algorithms. The functions of the table assume P >= 2 ranks, n > 0 bytes, identical
// links, parts of exactly n / k bytes, and ranks that all enter at 0; closed_form() also takes one
// rank, 0 bytes and a common entry time.

#include "collectives/collective.hpp"

namespace stepsim::collectives {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;          // the schedule may be faster (COL 3 a to c); else equal
  std::optional<double> startup_s{}; // a and b of a + b n, if the form is linear in n:
                                     // closed_form() gives `seconds` as this sum, to the last digit
  std::optional<double> per_byte_s{};
};

// Returns the form of one operation by one algorithm; empty if there is none for these values.
using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

// Returns the form startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// Returns the form that options.cost_form names; empty if it does not exist, and for the algorithm
// `automatic`. Needs `homogeneous()` and an operation that the algorithm offers (asserted). A
// collective that is_empty() (uniform.hpp) lasts 0 s. `seconds` and `startup_s` count from time 0:
// the common entry time is added to both, also for an empty collective. The option `chunking`
// applies to blocks only: parts are n / k bytes.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

// The closed forms of the flat algorithms and of the sums of both levels (COL 5), one function per
// operation of an algorithm, in one source per algorithm. alpha, beta and gamma are seconds per
// message, byte and byte added; L = ceil(log2 P), K = floor(log2 P), F = 0 if P is a power of two,
// else 1. A function is empty where no formula is known.

// Returns the form of a reduce-scatter, an all-gather or both, each in `rounds` rounds of the same
// startup after `startup_s` seconds: every rank sends (P-1)/P n in each, and adds as much of sums.
//     allreduce        2 rounds alpha + (P-1)/P n (2 beta + gamma)
//     reduce_scatter   rounds alpha + (P-1)/P n (beta + gamma)
//     allgather(v)     rounds alpha + (P-1)/P n beta
struct Symbols;
[[nodiscard]] ClosedForm parts_form(const Symbols& s, Op op, double rounds, double startup_s = 0);

// Trees (mst, COL 5.1): R rounds of the whole message, R = L, or P-1 in a flat tree.
//     broadcast   R (alpha + n beta)          reduce   R (alpha + n (beta + gamma))
// An allreduce takes both, reduce_scatter and allgather one of them and a scatter or gather, of
// L alpha + (P-1)/P n beta. If links have a delay, there is no form unless P is a power of two and
// the tree is binomial (or P <= 2). The published forms (cost form `paper`) ignore delays, so they
// always exist, and they never set `upper_bound`.
[[nodiscard]] std::optional<ClosedForm> mst_form(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> mst_paper(const Collective& collective);

// Bidirectional exchange (be, COL 5.2), Rabenseifner's algorithm: recursive halving, then doubling.
// q = 2^K ranks exchange; with F = 1 the other P - q ranks fold their vectors into a partner's.
//     allreduce   (2K + 2F) alpha + (q-1)/q n (2 beta + gamma) + F n (2 beta + gamma)
//     reduce      (2K + F) alpha + (q-1)/q n (2 beta + gamma) + F n (beta + gamma)
//     broadcast   a binomial scatter and a ring all-gather: (L + P-1) alpha + 2 (P-1)/P n beta;
//                 empty if links have a delay and P is not a power of two
// The other two operations and the form that is printed for reduce and allreduce (cost form
// `paper`) are the forms of Bruck's algorithm, which needs no fold and equals be if P is a
// power of two.
[[nodiscard]] std::optional<ClosedForm> be_broadcast(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> be_sums(const Collective& collective);

// Bruck's algorithm (COL 5.3): parts_form() of L blocking rounds for any P, for a reduce that of an
// allreduce. Empty for unequal sizes of an allgatherv, because the last round then depends on which
// rank holds which data.
[[nodiscard]] std::optional<ClosedForm> bruck_form(const Collective& collective);

// Rings (COL 5.4): parts_form() of P-1 rounds, and
//     allgatherv   (P-1) (alpha + s beta), s the largest part, which makes P-1 hops (COL 5.8)
[[nodiscard]] std::optional<ClosedForm> ring_form(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> ring_allgatherv(const Collective& collective);

// Recursive doubling (COL 5.5): with F = 1 each of the other ranks sends its vector to one of the
// 2^K first, and gets the result back last.
//     (K + 2F) alpha + K n (beta + gamma) + F n (2 beta + gamma)
// If Collective::held_bytes is given, the message of a round has the bytes that a rank holds by
// then. With held_bytes, or with a link delay, there is a formula only for P = 2^K. With F = 1 and
// overlapped additions (gamma > 0) the formula is an upper bound. The published formula is L (alpha
// + n (beta + gamma)), without the fold; it is empty with held_bytes.
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_allreduce(const Collective& collective);
[[nodiscard]] std::optional<ClosedForm> recursive_doubling_paper(const Collective& collective);

// Parameter server (COL 5.10): two latencies, the bytes of the busiest port once for the push and
// once for the way back, and the additions of one server.
// Returns the time in which all workers push n/S bytes to each of S servers at once, and the
// servers add and send the sums back. Needs equal links.
[[nodiscard]] std::optional<ClosedForm> parameter_server_allreduce(const Collective& collective);

// Two-level algorithms (COL 5.9): the sum of the flat closed forms of both levels, empty if the
// algorithm of a level has no form.
// The sum of a ring reduce-scatter in nodes of G ranks, an all-reduce of n/G between nodes, for
// which a rank has a fixed share of its interface, and a ring all-gather in the nodes. Needs nodes
// of equal size (asserted).
[[nodiscard]] std::optional<ClosedForm> hierarchical_allreduce(const Collective& collective);
// The sum of a reduce to one leader per node, an all-reduce between leaders, and a broadcast from
// them. An upper bound if the last node is smaller, because its leader is ready earlier.
[[nodiscard]] std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective& collective);

} // namespace stepsim::collectives
