#pragma once
// Computes how many seconds an exchange of m bytes holds the channel. ExchangeTimes uses the
// evaluator of the run, or a measured curve. The cost functions for planners (MER 4.1) use the
// closed form of the collective, for parts of exactly m / P bytes with P ranks, or max_plus if
// there is no closed form. On a fabric (by events), and for pipelined blocks without a closed form
// (by max_plus), only powers of two are simulated, and sizes between them are interpolated.

#include "base/units.hpp"
#include "buckets/cost.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/formula/prepared_form.hpp"

#include <span>

namespace stepsim::programs {

// The cost function for planners. `collective` must have all members but the bytes. Times by
// max_plus of a flat algorithm without blocks are the maximum of several lines a + b m, hence
// linear between the few sizes at which another line becomes the largest. Bisection finds these
// sizes; times between them are interpolated without another evaluation. Such a cost, and a
// sampled_cost() (on a fabric, and for pipelined blocks without a closed form), is not thread-safe;
// copies share the known times.
[[nodiscard]] buckets::Cost planner_cost(collectives::Collective collective);

// A cost function that calls `seconds`, which may be slow, only for messages of 1 KiB, 2 KiB,
// 4 KiB, .., once per size. Times of other sizes are interpolated linearly; sizes below 1 KiB lie
// on the line through the first two, but not below the line from 0 s at 0 bytes to the time of
// 1 KiB. 0 bytes take 0 s. Copies of the cost share the known times; they are not thread-safe.
[[nodiscard]] buckets::Cost sampled_cost(std::function<double(double bytes)> seconds);

// The cost function for planners that do not need the form a + b m. It is planner_cost(), except
// that max_plus replaces a linear closed form that is only an upper bound, unless `method`, which
// the scenario asks for, is closed_form, or there are more than 16,384 ranks.
[[nodiscard]] buckets::Cost merge_cost(collectives::Collective collective,
                                       std::optional<collectives::Method> method);

struct Exchange {
  double seconds{};
  collectives::AlgorithmId algorithm{}; // the algorithm; with `auto`, the chosen one
  bool exact = false;                   // by a formula that is no bound and needs no equal parts
  double max_bytes_sent{};              // bytes sent by the rank that sends most
  std::vector<links::LinkUse> links{};  // [link of the fabric]; empty without a fabric
};

// The times of exchanges by size; each size is evaluated once. Not thread-safe.
class ExchangeTimes {
public:
  // `method` is the evaluator that the scenario asks for; a measured `curve` replaces all
  // evaluators.
  ExchangeTimes(collectives::Collective collective, std::optional<collectives::Method> method,
                std::optional<buckets::Cost> curve);
  // Uses a cache of sent bytes that is shared with other collectives with the same options. `sent`
  // must outlive the object.
  void share(collectives::SentBytes& sent) { sent_ = &sent; }

  // The exchange of a message of `bytes`; 0 bytes take 0 s. This and seconds() throw
  // SimulationError if the evaluator does. Sent bytes need not be set unless it `counts`.
  [[nodiscard]] Exchange operator()(Bytes bytes, bool counts = true);
  // The seconds of the exchange alone, without the cost of counting sent bytes.
  [[nodiscard]] double seconds(Bytes bytes);
  // The seconds of a message of so many bytes if a formula is its evaluator, else empty.
  [[nodiscard]] std::optional<double> by_formula(double bytes) {
    const auto answer = formula(bytes);
    return answer ? std::optional(answer->seconds) : std::nullopt;
  }
  // The line that gives seconds(), but for rounding; empty where there is none.
  [[nodiscard]] std::optional<collectives::Line> line();
  // The most detailed evaluator that was used so far; closed_form if none was.
  [[nodiscard]] collectives::Method method() const { return used_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Known {
    Exchange exchange;
    bool counted = false; // whether max_bytes_sent is set
  };
  [[nodiscard]] Known& evaluated(Bytes bytes);
  [[nodiscard]] Exchange evaluate(Bytes bytes);
  // Sets max_bytes_sent.
  void count(Bytes bytes, Exchange& exchange);
  [[nodiscard]] std::optional<collectives::PreparedForm::Answer> formula(double bytes);
  [[nodiscard]] std::optional<Exchange> evaluate_by_formula(Bytes bytes);
  void prepare_formula();

  collectives::Collective collective_;
  std::optional<collectives::Method> asked_;
  std::optional<buckets::Cost> curve_;
  // The closed form, empty if it cannot be the evaluator, and with it the lower bound for one byte.
  // Both are computed when the first size is evaluated; prepared_ is true from then on.
  bool prepared_ = false;
  std::optional<collectives::PreparedForm> form_;
  collectives::LowerBound bound_;
  collectives::SentBytes* sent_ = nullptr;
  collectives::Method used_ = collectives::Method::closed_form;
  std::uint64_t events_{};
  std::map<std::int64_t, Known> known_; // by bytes
};

// The parts of exchanges that their evaluator does not tell apart, by exchanges of their own.
class ExchangeSplit {
public:
  // As for ExchangeTimes.
  ExchangeSplit(collectives::Collective collective, std::optional<collectives::Method> method);
  // Seconds until the first byte moves; 0 if `bytes` is 0. A byte may be part of an element.
  [[nodiscard]] double startup(Bytes bytes) {
    return bytes.value > 0 ? 2 * few_bytes_.seconds(Bytes{1}) - few_bytes_.seconds(Bytes{2}) : 0;
  }
  // Seconds by which the exchange would be shorter than `seconds` if additions took no time.
  [[nodiscard]] double reduction(Bytes bytes, double seconds) {
    return adds_ ? std::max(0.0, seconds - free_.seconds(bytes)) : 0;
  }

private:
  bool adds_;
  ExchangeTimes free_, few_bytes_;
};

// The parts of messages by the algorithms that they take.
class ExchangeSplits {
public:
  // As for ExchangeTimes.
  ExchangeSplits(collectives::Collective collective, std::optional<collectives::Method> method)
      : collective_(std::move(collective)), method_(method) {}
  [[nodiscard]] ExchangeSplit& of(collectives::AlgorithmId algorithm);

private:
  collectives::Collective collective_;
  std::optional<collectives::Method> method_;
  std::map<collectives::AlgorithmId, ExchangeSplit> known_;
};

// Finds the condition for the start of a message in a step: the end of the backward of a layer, and
// then a delay, for example by the cycle time of Horovod or by selection on a side stream.

struct MessageGate {
  // Last layer, in backward order, whose backward ends by ready_s, or the first one if none does;
  // numbered from 0 in forward order.
  std::uint32_t layer{};
  double delay_s{}; // from the end of its backward to ready_s of the message, at least 0
  friend bool operator==(const MessageGate&, const MessageGate&) = default;
};

// Whether a backward that ends at `end` has ended at `ready_s`, but for rounding.
[[nodiscard]] inline bool ends_by(Seconds end, double ready_s) {
  constexpr double kRounding = 1e-12;
  return end.value <= ready_s * (1 + kRounding);
}
// The gate of a message that is ready at `ready_s`; ends[layer] is when its backward ends.
[[nodiscard]] MessageGate message_gate(std::span<const Seconds> ends, double ready_s);

} // namespace stepsim::programs
