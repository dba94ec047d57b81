// Recursive doubling of whole vectors (COL 5.5): K exchanges among 2^K ranks, the others folded.
// Growing messages (SPA 11, sparcml_rd) have a form for P = 2^K only.
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

std::optional<ClosedForm> growing(const Collective& collective, const Symbols& s) {
  if (s.F > 0) {
    return std::nullopt;
  }
  double bytes = 0; // sent in all rounds by every rank
  for (std::size_t held = 1; held < collective.ranks; held *= 2) {
    bytes += collective.held_bytes[held - 1];
  }
  return ClosedForm{s.K * s.alpha + bytes * (s.beta + s.gamma), false, std::nullopt, std::nullopt};
}

} // namespace

std::optional<ClosedForm> recursive_doubling_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  if (!collective.held_bytes.empty()) {
    return growing(collective, s);
  }
  // Of folded ranks, one whose port is busy may get the message of the next round while its own
  // first data is still under way.
  if (s.delay > 0 && s.F > 0) {
    return std::nullopt;
  }
  const double startup = (s.K + 2 * s.F) * s.alpha;
  const double per_byte = s.K * (s.beta + s.gamma) + s.F * (2 * s.beta + s.gamma);
  ClosedForm form = linear_form(startup, per_byte, s.n);
  form.upper_bound = s.F > 0 && s.gamma > 0 && !s.serial;
  return form;
}

std::optional<ClosedForm> recursive_doubling_paper(const Collective& collective) {
  if (!collective.held_bytes.empty()) {
    return std::nullopt;
  }
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.L * (s.beta + s.gamma), s.n);
}

} // namespace stepsim::collectives
