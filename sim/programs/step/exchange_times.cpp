#include "programs/step/exchange_times.hpp"

#include "base/shared_value.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/method.hpp"

namespace stepsim::programs {

namespace {

// The closed form, also where it is an upper bound; max_plus where there is none (MER 4.1), or what
// is known to equal it.
double planned_seconds(const collectives::Collective& collective) {
  if (collective.homogeneous()) {
    if (const auto form = collectives::closed_form(collective)) {
      return form->seconds;
    }
    if (const auto seconds = collectives::lp_slow_additions_seconds(collective)) {
      return *seconds;
    }
  }
  return collectives::max_plus_defined(collective) ? collectives::max_plus(collective).seconds
                                                   : collectives::events(collective).seconds;
}

// Streams of blocks without a formula: each size costs a search for its block and thousands of
// transfers. So does a choice among algorithms that such streams are two of.
bool is_costly(const collectives::Collective& collective) {
  if (collective.algorithm == collectives::AlgorithmId::automatic) {
    return std::ranges::any_of(collectives::candidates_of(collective),
                               [&](collectives::AlgorithmId candidate) {
                                 collectives::Collective tried = collective;
                                 tried.algorithm = candidate;
                                 return is_costly(tried);
                               });
  }
  return collectives::algorithm(collective.algorithm).block_streams > 0 &&
         !(collective.homogeneous() && (collectives::closed_form(collective) ||
                                        collectives::lp_slow_additions_seconds(collective)));
}

// One worker that pushes to servers of their own sends as any other.
bool works_alone(const collectives::Collective& collective) {
  return collective.algorithm == collectives::AlgorithmId::parameter_server &&
         collective.options.placement == collectives::Placement::dedicated;
}

class SampledTimes {
public:
  explicit SampledTimes(std::function<double(double)> seconds) : simulate_(std::move(seconds)) {}

  double operator()(double bytes) {
    std::size_t above = 1;
    while (kFirstBytes * std::exp2(above) < bytes) {
      ++above;
    }
    const double high = kFirstBytes * std::exp2(above);
    const double low = high / 2;
    if (bytes == low || bytes == high) {
      return sample(bytes == low ? above - 1 : above);
    }
    const double low_s = sample(above - 1);
    const double slope = (sample(above) - low_s) / (high - low);
    const double line = low_s + slope * (bytes - low);
    return bytes < low ? std::max(line, low_s * bytes / low) : line; // positive
  }

private:
  static constexpr double kFirstBytes = 1024;

  double sample(std::size_t exponent) {
    return base::remembered(seconds_, exponent,
                            [&] { return simulate_(kFirstBytes * std::exp2(exponent)); });
  }

  std::function<double(double)> simulate_;
  std::map<std::size_t, double> seconds_; // at kFirstBytes x 2^exponent
};

// A piecewise linear function of whole numbers of bytes. Where it is convex, the times are exact at
// all of them; elsewhere a line that goes through its middle is taken for one without corners.
class LineTimes {
public:
  LineTimes(std::function<double(double)> seconds, double rounding)
      : evaluate_(std::move(seconds)), rounding_(rounding) {}

  double operator()(double bytes) {
    while (corners_.empty() || corners_.back().bytes < bytes) {
      extend();
    }
    const auto above = std::ranges::lower_bound(corners_, bytes, {}, &Corner::bytes);
    if (above == corners_.begin() || above->bytes == bytes) {
      return above->seconds;
    }
    return chord(*(above - 1), *above, bytes);
  }

private:
  struct Corner {
    double bytes{}, seconds{};
  };
  static constexpr double kFirstBytes = 1 << 20;

  static double chord(const Corner& low, const Corner& high, double bytes) {
    const double share = (bytes - low.bytes) / (high.bytes - low.bytes);
    return low.seconds + share * (high.seconds - low.seconds);
  }
  [[nodiscard]] Corner corner(double bytes) const { return {bytes, evaluate_(bytes)}; }

  // Doubles the range that is known.
  void extend() {
    if (corners_.empty()) {
      corners_.push_back(corner(1));
    }
    const Corner low = corners_.back();
    add_corners(low, corner(low.bytes < kFirstBytes ? kFirstBytes : 2 * low.bytes));
  }

  // Appends the corners behind `low` up to `high`: a point on the chord says that there is none
  // between them.
  void add_corners(const Corner& low, const Corner& high) {
    constexpr double kAbove = 1e-10; // more than rounding, where no convex function is
    const double middle = std::floor((low.bytes + high.bytes) / 2);
    if (middle > low.bytes) {
      const Corner between = corner(middle);
      const double over_chord = between.seconds / chord(low, high, middle) - 1;
      if (over_chord < -rounding_ || over_chord > kAbove) {
        add_corners(low, between);
        add_corners(between, high);
        return;
      }
    }
    corners_.push_back(high);
  }

  std::function<double(double)> evaluate_;
  double rounding_{};           // of the function, relative
  std::vector<Corner> corners_; // by bytes
};

// Whether planned_seconds() are those of a schedule whose parts are shares of the bytes: without
// blocks, and without a choice among schedules, the sweep takes the largest of several lines.
bool is_largest_of_lines(const collectives::Collective& collective) {
  return collective.algorithm != collectives::AlgorithmId::automatic &&
         collective.algorithm != collectives::AlgorithmId::parameter_server &&
         !collectives::is_two_level(collective.algorithm) &&
         collectives::algorithm(collective.algorithm).block_streams == 0 &&
         collectives::max_plus_defined(collective) &&
         !(collective.homogeneous() && collectives::closed_form(collective));
}

buckets::Cost interpolated_cost(auto times) {
  return {.base = buckets::CurveCost{[shared = std::make_shared<decltype(times)>(std::move(times))](
                                         double bytes) { return (*shared)(bytes); }}};
}

constexpr double kSweepRounding = 1e-13; // of a sweep over a schedule
constexpr double kFlowRounding = 1e-10;  // of flows that share ports

// `evaluate` of the collective for each size.
std::function<double(double bytes)> by_bytes(const collectives::Collective& collective,
                                             double (*evaluate)(const collectives::Collective&)) {
  return [collective, evaluate](double bytes) {
    collectives::Collective asked = collective;
    asked.bytes = bytes;
    return evaluate(collectives::with_chosen_algorithm(std::move(asked)));
  };
}

// The cost that planner_cost() returns. Sets `bound` where it is a line that is an upper bound, and
// leaves in `probe` the collective of one byte in parts of any size.
buckets::Cost planned_cost(collectives::Collective& probe, bool& bound) {
  bound = false;
  if (probe.ranks == 1 && !works_alone(probe)) {
    return {.base = buckets::LinearCost{}};
  }
  probe.options.chunking = collectives::Chunking::real;
  if (probe.links.fabric) {
    return sampled_cost(by_bytes(probe, [](const collectives::Collective& asked) {
      return collectives::events(asked).seconds;
    }));
  }
  probe.bytes = 1; // one that sends nothing has no links to differ in
  if (probe.algorithm != collectives::AlgorithmId::automatic && probe.homogeneous()) {
    const auto form = collectives::closed_form(probe);
    if (form && form->startup_s && form->per_byte_s) {
      bound = form->upper_bound;
      return {.base = buckets::LinearCost{*form->startup_s, *form->per_byte_s}};
    }
  }
  if (std::optional<collectives::PreparedForm> prepared = collectives::prepare(probe)) {
    const auto form = std::make_shared<const collectives::PreparedForm>(*std::move(prepared));
    return {.base = buckets::CurveCost{
                .seconds = [form](double bytes) { return form->at(bytes).seconds; },
                .least =
                    [form](double low, double high) {
                      const collectives::Line line = form->least_line(low, high);
                      return buckets::LinearCost{line.startup_s, line.per_byte_s};
                    }}};
  }
  const std::function<double(double)> seconds = by_bytes(probe, planned_seconds);
  collectives::Collective large = probe;
  large.bytes = 1 << 20;
  if (is_costly(large)) {
    return sampled_cost(seconds);
  }
  if (is_largest_of_lines(large)) {
    return interpolated_cost(LineTimes(seconds, kSweepRounding));
  }
  if (large.algorithm == collectives::AlgorithmId::parameter_server) {
    return interpolated_cost(LineTimes(seconds, kFlowRounding));
  }
  return {.base = buckets::CurveCost{seconds}};
}

collectives::Collective without_additions(collectives::Collective collective) {
  collective.reduction_s_per_byte = 0;
  return collective;
}

collectives::Collective cut_finely(collectives::Collective collective) {
  collective.options.chunking = collectives::Chunking::real; // a byte is no whole element
  return collective;
}

} // namespace

buckets::Cost sampled_cost(std::function<double(double bytes)> seconds) {
  return interpolated_cost(SampledTimes(std::move(seconds)));
}

buckets::Cost planner_cost(collectives::Collective collective) {
  bool bound{};
  return planned_cost(collective, bound);
}

buckets::Cost merge_cost(collectives::Collective collective,
                         std::optional<collectives::Method> method) {
  constexpr std::uint32_t kMostRanks = 1 << 14; // more take too long to evaluate often
  bool bound{};
  buckets::Cost cost = planned_cost(collective, bound);
  if (!bound || collective.ranks > kMostRanks || method == collectives::Method::closed_form) {
    return cost;
  }
  if (!collectives::max_plus_defined(collective)) {
    return cost;
  }
  return interpolated_cost(LineTimes(by_bytes(collective,
                                              [](const collectives::Collective& swept) {
                                                return collectives::max_plus(swept).seconds;
                                              }),
                                     kSweepRounding));
}

ExchangeTimes::ExchangeTimes(collectives::Collective collective,
                             std::optional<collectives::Method> method,
                             std::optional<buckets::Cost> curve)
    : collective_(std::move(collective)), asked_(method), curve_(std::move(curve)) {}

// Whole elements are left to automatic_method, which knows when parts divide.
void ExchangeTimes::prepare_formula() {
  prepared_ = true;
  const bool formula = !asked_ || *asked_ == collectives::Method::closed_form;
  if (curve_ || !formula || collective_.options.chunking != collectives::Chunking::real) {
    return;
  }
  collective_.bytes = 1;
  form_ = collectives::prepare(collective_);
  if (form_ && collective_.algorithm == collectives::AlgorithmId::automatic) {
    bound_ = collectives::lower_bound(collectives::with_chosen_algorithm(collective_));
  } else if (form_) {
    bound_ = collectives::lower_bound(collective_);
  }
}

// By closed form, if that is the method of this size. Bounds of parts of n / k bytes grow as n, but
// for latency, so that the bound of one byte tells that of all sizes but for rounding.
std::optional<collectives::PreparedForm::Answer> ExchangeTimes::formula(double bytes) {
  if (!prepared_) {
    prepare_formula();
  }
  if (!form_ || bytes <= 0) {
    return std::nullopt;
  }
  const collectives::PreparedForm::Answer answer = form_->at(bytes);
  if (answer.upper_bound && !asked_) {
    return std::nullopt;
  }
  constexpr double kRounding = 1e-12;
  const double bound =
      std::max(bound_.latency_s, bytes * std::max(bound_.bandwidth_s, bound_.reduction_s));
  if (answer.seconds < bound * (1 + kRounding)) { // or near it: asked once more, exactly
    collectives::Collective collective = collective_;
    collective.algorithm = answer.algorithm;
    collective.bytes = bytes;
    collectives::check_bound(collective, collectives::Method::closed_form, answer.seconds);
  }
  return answer;
}

std::optional<Exchange> ExchangeTimes::evaluate_by_formula(Bytes bytes) {
  const auto answer = formula(static_cast<double>(bytes.value));
  return answer ? std::optional(Exchange{.seconds = answer->seconds,
                                         .algorithm = answer->algorithm,
                                         .exact = !answer->upper_bound})
                : std::nullopt;
}

ExchangeTimes::Known& ExchangeTimes::evaluated(Bytes bytes) {
  return base::remembered(known_, bytes.value, [&] { return Known{.exchange = evaluate(bytes)}; });
}

Exchange ExchangeTimes::evaluate(Bytes bytes) {
  if (auto known = evaluate_by_formula(bytes)) {
    return *std::move(known);
  }
  Exchange exchange;
  collective_.bytes = static_cast<double>(bytes.value);
  const collectives::Collective collective = collectives::with_chosen_algorithm(collective_);
  exchange.algorithm = collective.algorithm;
  if (curve_) {
    exchange.seconds = curve_->seconds(collective_.bytes, 1);
    return exchange;
  }
  const collectives::Method method = asked_ ? *asked_ : collectives::automatic_method(collective);
  used_ = std::max(used_, method);
  if (method == collectives::Method::events) {
    collectives::Evaluation evaluation = collectives::events(collective);
    events_ += evaluation.events;
    exchange.seconds = evaluation.seconds;
    exchange.links = std::move(evaluation.links);
  } else {
    exchange.seconds = collectives::seconds(collective, method);
  }
  return exchange;
}

void ExchangeTimes::count(Bytes bytes, Exchange& exchange) {
  const bool sends = collective_.ranks > 1 || // also the one worker of servers
                     collective_.algorithm == collectives::AlgorithmId::parameter_server;
  if (sends && bytes.value > 0) {
    collective_.bytes = static_cast<double>(bytes.value);
    const collectives::AlgorithmId asked = std::exchange(collective_.algorithm, exchange.algorithm);
    exchange.max_bytes_sent = sent_ != nullptr && collectives::SentBytes::keeps(collective_)
                                  ? sent_->most(collective_)
                                  : collectives::most_sent(collective_);
    collective_.algorithm = asked;
  }
}

Exchange ExchangeTimes::operator()(Bytes bytes, bool counts) {
  if (auto exchange = sent_ != nullptr ? evaluate_by_formula(bytes) : std::nullopt) {
    if (counts) {
      count(bytes, *exchange);
    }
    return *std::move(exchange);
  }
  Known& known = evaluated(bytes);
  if (counts && !known.counted) {
    count(bytes, known.exchange);
    known.counted = true;
  }
  return known.exchange;
}

// A formula costs less than a look at what is known.
double ExchangeTimes::seconds(Bytes bytes) {
  const std::optional<double> seconds = by_formula(static_cast<double>(bytes.value));
  return seconds ? *seconds : evaluated(bytes).exchange.seconds;
}

std::optional<collectives::Line> ExchangeTimes::line() {
  if (!prepared_) {
    prepare_formula();
  }
  return form_ ? form_->line() : std::nullopt;
}

ExchangeSplit::ExchangeSplit(collectives::Collective collective,
                             std::optional<collectives::Method> method)
    : adds_(collective.reduction_s_per_byte > 0 && collective.op != collectives::Op::broadcast),
      free_(without_additions(collective), method, std::nullopt),
      few_bytes_(cut_finely(std::move(collective)), method, std::nullopt) {}

ExchangeSplit& ExchangeSplits::of(collectives::AlgorithmId algorithm) {
  collective_.algorithm = algorithm;
  return known_.try_emplace(algorithm, collective_, method_).first->second;
}

MessageGate message_gate(std::span<const Seconds> ends, double ready_s) {
  const auto first = std::partition_point(ends.begin(), ends.end() - 1,
                                          [&](Seconds end) { return !ends_by(end, ready_s); });
  return {static_cast<std::uint32_t>(first - ends.begin()), std::max(0.0, ready_s - first->value)};
}

} // namespace stepsim::programs
