// Binomial tree (COL 5.1): broadcast and reduce move the whole message in ceil(log2 P) rounds,
// scatter and gather cost L alpha + f n beta.
#include "coll/closed_form.hpp"

namespace stepsim::coll {
namespace {

// A reduce into P ranks that are no power of two can start a subtree's addition early, if it
// overlaps with receiving.
ClosedForm bound_if_overlapped(ClosedForm form, const Symbols& s) {
  form.upper_bound = s.F > 0 && s.gamma > 0 && !s.serial;
  return form;
}

} // namespace

std::optional<ClosedForm> mst_broadcast(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.L * s.beta, s.n);
}

std::optional<ClosedForm> mst_reduce_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.L * (s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> mst_reduce(const Collective& collective) {
  return bound_if_overlapped(*mst_reduce_paper(collective), symbols(collective));
}

std::optional<ClosedForm> mst_allreduce_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(2 * s.L * s.alpha, s.L * (2 * s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> mst_allreduce(const Collective& collective) {
  return bound_if_overlapped(*mst_allreduce_paper(collective), symbols(collective));
}

std::optional<ClosedForm> mst_reduce_scatter(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double per_byte = s.L * (s.beta + s.gamma) + s.f * s.beta;
  return bound_if_overlapped(linear_form(2 * s.L * s.alpha, per_byte, s.n), s);
}

std::optional<ClosedForm> mst_allgather(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(2 * s.L * s.alpha, s.f * s.beta + s.L * s.beta, s.n);
}

} // namespace stepsim::coll
