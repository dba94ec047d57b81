#include "train/exchange.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepsim::train {

namespace {

double schedule_seconds(const coll::Collective& collective) {
  if (const auto form = coll::closed_form(collective)) {
    return form->seconds;
  }
  return coll::max_plus(collective).seconds;
}

coll::Collective resolved(const coll::Collective& collective) {
  coll::Collective chosen = collective;
  if (collective.algorithm == coll::AlgorithmId::automatic && collective.ranks > 1 &&
      collective.bytes > 0) {
    chosen.algorithm = coll::choose_algorithm(collective).chosen;
  }
  return chosen;
}

} // namespace

plan::Cost planner_cost(const coll::Collective& collective) {
  if (collective.ranks == 1) {
    return {.base = plan::LinearCost{}};
  }
  coll::Collective probe = collective;
  probe.options.chunking = coll::Chunking::real;
  if (collective.algorithm != coll::AlgorithmId::automatic && probe.homogeneous()) {
    probe.bytes = 1;
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
            return schedule_seconds(resolved(asked));
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
  const coll::Collective collective = resolved(collective_);
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
