#include "train/exchange.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

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

class SampledTimes {
public:
  explicit SampledTimes(std::function<double(double)> seconds) : simulate_(std::move(seconds)) {}

  double operator()(double bytes) {
    std::size_t above = 1;
    while (kFirstBytes * std::exp2(above) < bytes) {
      ++above;
    }
    while (seconds_.size() <= above) {
      add_sample();
    }
    const double high = kFirstBytes * std::exp2(above);
    const double low = high / 2;
    const double slope = (seconds_[above] - seconds_[above - 1]) / (high - low);
    const double line = seconds_[above - 1] + slope * (bytes - low);
    return bytes < low ? std::max(line, seconds_[0] * bytes / low) : line; // positive
  }

private:
  static constexpr double kFirstBytes = 1024;

  void add_sample() {
    const double time = simulate_(kFirstBytes * std::exp2(seconds_.size()));
    seconds_.push_back(seconds_.empty() ? time : std::max(time, seconds_.back()));
  }

  std::function<double(double)> simulate_;
  std::vector<double> seconds_;
};

} // namespace

plan::Cost sampled_cost(std::function<double(double bytes)> seconds) {
  return {.base = plan::CurveCost{[times = std::make_shared<SampledTimes>(std::move(seconds))](
                                      double bytes) { return bytes > 0 ? (*times)(bytes) : 0.0; }}};
}

plan::Cost planner_cost(const coll::Collective& collective) {
  if (collective.ranks == 1 && !works_alone(collective)) {
    return {.base = plan::LinearCost{}};
  }
  coll::Collective probe = collective;
  probe.options.chunking = coll::Chunking::real;
  if (collective.links.fabric) {
    return sampled_cost([probe](double bytes) {
      coll::Collective asked = probe;
      asked.bytes = bytes;
      return coll::events(coll::with_chosen_algorithm(asked)).seconds;
    });
  }
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
    coll::Evaluation evaluation = coll::events(collective);
    events_ += evaluation.events;
    exchange.seconds = evaluation.seconds;
    exchange.links = std::move(evaluation.links);
  } else {
    exchange.seconds = coll::seconds(collective, method);
  }
  return exchange;
}

} // namespace stepsim::train
