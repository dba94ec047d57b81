#include "collectives/formula/closed_form.hpp"

#include <cassert>

#include "collectives/algorithms.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

ClosedForm linear_form(double startup, double per_byte, double n) {
  return {startup + per_byte * n, false, startup, per_byte};
}

std::optional<ClosedForm> closed_form(const Collective& collective) {
  if (collective.algorithm == AlgorithmId::automatic) {
    return std::nullopt; // the cheapest of several forms is none itself
  }
  const std::optional<UniformCost> cost = uniform_cost(collective);
  assert(cost && "closed forms need identical ranks and links");
  const AlgorithmRow* row = find_algorithm(collective.op, collective.algorithm);
  assert(row != nullptr && "the operation offers the algorithm");
  ClosedFormFunction form = row->exact;
  switch (collective.options.cost_form) {
  case CostForm::exact:
    break;
  case CostForm::paper:
    form = row->paper;
    break;
  case CostForm::ideal:
    form = row->ideal;
    break;
  }
  if (form == nullptr) {
    return std::nullopt;
  }
  std::optional<ClosedForm> result = is_empty(collective) ? linear_form(0, 0, 0) : form(collective);
  if (!result) {
    return result;
  }
  result->seconds += cost->enter_s;
  if (result->startup_s) {
    *result->startup_s += cost->enter_s;
    // The same digits as of a message of these bytes on the line.
    result->seconds = *result->startup_s + *result->per_byte_s * total_bytes(collective);
  }
  return result;
}

} // namespace stepsim::collectives
