// Tree (COL 5.1): broadcast and reduce move the whole message in ceil(log2 P) rounds (a flat tree
// in P-1), scatter and gather cost L alpha + f n beta.
#include "collectives/formula/closed_forms.hpp"

#include "collectives/formula/symbols.hpp"

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

// A reduce into P ranks that are no power of two, or into one rank in turn, can start an addition
// early if it overlaps with receiving.
std::optional<ClosedForm> bound_if_overlapped(ClosedForm form, const Collective& collective,
                                              const Symbols& s) {
  if (!delays_add_up(collective, s)) {
    return std::nullopt;
  }
  const bool early = collective.options.tree == TreeShape::flat ? s.P > 2 : s.F > 0;
  form.upper_bound = early && s.gamma > 0 && !s.serial;
  return form;
}

} // namespace

std::optional<ClosedForm> mst_broadcast(const Collective& collective) {
  const Symbols s = symbols(collective);
  if (!delays_add_up(collective, s)) {
    return std::nullopt;
  }
  const double R = rounds(collective, s);
  return linear_form(R * s.alpha, R * s.beta, s.n);
}

std::optional<ClosedForm> mst_reduce_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double R = rounds(collective, s);
  return linear_form(R * s.alpha, R * (s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> mst_reduce(const Collective& collective) {
  return bound_if_overlapped(*mst_reduce_paper(collective), collective, symbols(collective));
}

std::optional<ClosedForm> mst_allreduce_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double R = rounds(collective, s);
  return linear_form(2 * R * s.alpha, R * (2 * s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> mst_allreduce(const Collective& collective) {
  return bound_if_overlapped(*mst_allreduce_paper(collective), collective, symbols(collective));
}

std::optional<ClosedForm> mst_reduce_scatter(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double R = rounds(collective, s);
  const double per_byte = R * (s.beta + s.gamma) + s.f * s.beta;
  return bound_if_overlapped(linear_form((R + s.L) * s.alpha, per_byte, s.n), collective, s);
}

std::optional<ClosedForm> mst_allgather(const Collective& collective) {
  const Symbols s = symbols(collective);
  if (!delays_add_up(collective, s)) {
    return std::nullopt;
  }
  const double R = rounds(collective, s);
  return linear_form((s.L + R) * s.alpha, s.f * s.beta + R * s.beta, s.n);
}

} // namespace stepsim::collectives
