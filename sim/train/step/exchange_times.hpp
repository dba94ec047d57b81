#pragma once
// How long one message of m bytes holds the channel, by the evaluator of the run, and the cost that
// planners see (MER 4.1): a cost or calibration curve if one is given, else the closed form of the
// chosen collective with parts of exactly n / P, n bytes over P ranks, or max_plus if there is no
// closed form. On a fabric (by events) and for streams of blocks without a formula (by max_plus),
// powers of two are simulated, and sizes in between are interpolated.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coll/collective.hpp"
#include "coll/evaluate/sent_bytes.hpp"
#include "coll/formula/lower_bound.hpp"
#include "coll/formula/prepared_form.hpp"
#include "net/flow/link_use.hpp"
#include "plan/cost.hpp"

namespace stepsim::train {

// The cost function for planners. `collective` carries everything but the bytes. Where the cost is
// a sampled_cost (on a fabric, and for streams of blocks without a formula) it is not thread-safe.
[[nodiscard]] plan::Cost planner_cost(const coll::Collective& collective);

// `seconds` of a message, which costs a simulation each, at 1 KiB, 2 KiB, 4 KiB, ..: linear between
// two of them and below the first two. A size asked for has the sizes around it simulated, once.
// Copies of the cost share what is known: not thread-safe.
[[nodiscard]] plan::Cost sampled_cost(std::function<double(double bytes)> seconds);

// The cost function for planners that do not need the form a + b m, by the evaluator of the run
// (`method` is what the scenario asks for): max_plus where the closed form is an upper bound and
// there are at most 16,384 ranks. Such times are the largest of several a + b m, so they are linear
// between the few sizes where another one becomes the largest. Those are found by halving, and any
// size between two of them is interpolated without another evaluation. Copies of such a cost share
// what is known: not thread-safe.
[[nodiscard]] plan::Cost merge_cost(const coll::Collective& collective,
                                    std::optional<coll::Method> method);

struct Exchange {
  double seconds{};
  coll::AlgorithmId algorithm{};     // with `auto` the one that was chosen
  double max_bytes_sent{};           // bytes sent by the rank that sends most
  std::vector<net::LinkUse> links{}; // [link] of the fabric, where the exchange has one
};

// Costs of messages by size, each size evaluated once. Not thread-safe.
class ExchangeTimes {
public:
  // `method` is the evaluator that the scenario asks for; a measured `curve` replaces all
  // evaluators.
  ExchangeTimes(coll::Collective collective, std::optional<coll::Method> method,
                std::optional<plan::Cost> curve);
  // Counts of bytes that other collectives with the same options know, too. Must outlive this.
  void share(coll::SentBytes& sent) { sent_ = &sent; }

  [[nodiscard]] const Exchange& operator()(Bytes bytes);
  // Its seconds alone, without counting what ranks send.
  [[nodiscard]] double seconds(Bytes bytes);
  // The most faithful evaluator used so far; closed_form before any use.
  [[nodiscard]] coll::Method method() const { return used_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  struct Known {
    Exchange exchange;
    bool counted = false; // max_bytes_sent
  };
  [[nodiscard]] Known& evaluated(Bytes bytes);
  [[nodiscard]] bool evaluate_by_formula(double bytes, Exchange& exchange);
  void prepare_formula();

  coll::Collective collective_;
  std::optional<coll::Method> asked_;
  std::optional<plan::Cost> curve_;
  // The closed form where it may be the method, and the bound of one byte, once a size was asked.
  bool prepared_ = false;
  std::optional<coll::PreparedForm> form_;
  coll::LowerBound bound_;
  coll::SentBytes* sent_ = nullptr;
  coll::Method used_ = coll::Method::closed_form;
  std::uint64_t events_{};
  std::map<std::int64_t, Known> known_;
};

} // namespace stepsim::train
