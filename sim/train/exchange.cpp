#include "train/exchange.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepsim::train {

namespace {

// The closed form, also where it is an upper bound; max_plus where there is none (MER 4.1).
double planned_seconds(const coll::Collective& collective) {
  if (collective.homogeneous()) {
    if (const auto form = coll::closed_form(collective)) {
      return form->seconds;
    }
  }
  return coll::max_plus(collective).seconds;
}

// One worker that pushes to servers of their own sends as any other.
bool works_alone(const coll::Collective& collective) {
  return collective.algorithm == coll::AlgorithmId::parameter_server &&
         collective.options.placement == coll::Placement::dedicated;
}

} // namespace

plan::Cost planner_cost(const coll::Collective& collective) {
  if (collective.ranks == 1 && !works_alone(collective)) {
    return {.base = plan::LinearCost{}};
  }
  coll::Collective probe = collective;
  probe.options.chunking = coll::Chunking::real;
  probe.bytes = 1; // one that sends nothing has no links to differ in
  if (collective.algorithm != coll::AlgorithmId::automatic && probe.homogeneous()) {
    const auto form = coll::closed_form(probe);
    if (form && form->startup_s && form->per_byte_s) {
      return {.base = plan::LinearCost{*form->startup_s, *form->per_byte_s}};
    }
  }
  return {.base = plan::CurveCost{[probe](double bytes) {
            if (bytes <= 0) {
              return 0.0;
            }
            coll::Collective asked = probe;
            asked.bytes = bytes;
            return planned_seconds(coll::with_chosen_algorithm(asked));
          }}};
}

ExchangeTimes::ExchangeTimes(coll::Collective collective, std::optional<coll::Method> method,
                             std::optional<plan::Cost> curve)
    : collective_(std::move(collective)), asked_(method), curve_(std::move(curve)) {}

const Exchange& ExchangeTimes::operator()(Bytes bytes) {
  const auto [place, is_new] = known_.try_emplace(bytes.value);
  Exchange& exchange = place->second;
  if (!is_new) {
    return exchange;
  }
  collective_.bytes = static_cast<double>(bytes.value);
  const coll::Collective collective = coll::with_chosen_algorithm(collective_);
  exchange.algorithm = collective.algorithm;
  if (collective.ranks > 1 && bytes.value > 0) {
    exchange.max_bytes_sent = coll::traffic(collective).max_per_rank;
  }
  if (curve_) {
    exchange.seconds = curve_->seconds(collective_.bytes, 1);
    return exchange;
  }
  const coll::Method method = asked_ ? *asked_ : coll::automatic_method(collective);
  used_ = std::max(used_, method);
  if (method == coll::Method::events) {
    const coll::Evaluation evaluation = coll::events(collective);
    events_ += evaluation.events;
    exchange.seconds = evaluation.seconds;
  } else {
    exchange.seconds = coll::seconds(collective, method);
  }
  return exchange;
}

} // namespace stepsim::train
