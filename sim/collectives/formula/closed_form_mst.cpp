// Tree (COL 5.1): broadcast and reduce move the whole message in ceil(log2 P) rounds (a flat tree
// in P-1), scatter and gather cost L alpha + f n beta.
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

// Every round waits for the one before on the way to the last of 2^L ranks, so that delays add up
// as latencies do. Elsewhere a root's port sets the pace while earlier messages are under way.
bool delays_add_up(const Collective& collective, const Symbols& s) {
  const bool flat = collective.options.tree == TreeShape::flat && s.P > 2;
  return s.delay == 0 || (s.F == 0 && !flat);
}

// Rounds of the whole message.
double rounds(const Collective& collective, const Symbols& s) {
  return collective.options.tree == TreeShape::flat ? s.P - 1 : s.L;
}

bool has_sums(Op op) { return op != Op::broadcast && op != Op::allgather; }

} // namespace

std::optional<ClosedForm> mst_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  const Op op = collective.op;
  const double R = rounds(collective, s);
  const double trees = op == Op::allreduce ? 2 : 1;
  const bool parts = op == Op::reduce_scatter || op == Op::allgather; // scattered or gathered
  return linear_form(
      (trees * R + (parts ? s.L : 0)) * s.alpha,
      R * (trees * s.beta + (has_sums(op) ? s.gamma : 0)) + (parts ? s.f * s.beta : 0), s.n);
}

// A reduce into P ranks that are no power of two, or into one rank in turn, can start an addition
// early if it overlaps with receiving.
std::optional<ClosedForm> mst_form(const Collective& collective) {
  const Symbols s = symbols(collective);
  if (!delays_add_up(collective, s)) {
    return std::nullopt;
  }
  std::optional<ClosedForm> form = mst_paper(collective);
  const bool early = collective.options.tree == TreeShape::flat ? s.P > 2 : s.F > 0;
  form->upper_bound = has_sums(collective.op) && early && s.gamma > 0 && !s.serial;
  return form;
}

} // namespace stepsim::collectives
