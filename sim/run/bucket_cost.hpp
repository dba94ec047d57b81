#pragma once
// What one bucket costs on top of computing its gradient: on the compute thread, on the channel,
// and in bytes. One place for dense, coded and sparse exchanges, whatever the training algorithm.
//
//     compute   ..backward..|select, residual, encode|             |decode|update..
//     channel                                        |staging|wire|merge|scatter|
//
// Sources: SPA 5, PIP 2, 6, 12, COL 11.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "coll/collective.hpp"
#include "net/flow/link_use.hpp"
#include "plan/cost.hpp"
#include "plan/problem.hpp"
#include "scenario/scenario_exchange.hpp"
#include "train/step/exchange_times.hpp"

namespace stepsim::study {

struct BucketCost {
  double select_s{}, residual_s{}; // on compute as drawn, or on a side stream (key select_stream)
  double encode_s{}, decode_s{};   // codecs, on the compute thread
  double staging_s{}, wire_s{}, merge_s{}, scatter_s{}; // on the channel
  double broadcast_s{}; // broadcast of reduce_broadcast, or all-gather of DeAR; else 0
  double bytes_sent{};  // by the rank that sends most
  // How long the collectives of the exchange take, as part of exchange_s() or, those of a second
  // half, of broadcast_s; on a simulated network these collectives, one after the other.
  // An all-reduce that counts as two equal halves has no `back_stages`.
  std::vector<coll::Collective> stages{}, back_stages{};
  double on_wire_s{}, back_on_wire_s{};
  std::string algorithm;
  std::vector<net::LinkUse> links{}; // [link] of the fabric, both halves of an exchange
  std::int64_t elements{};           // of the bucket; compressed exchanges only, else 0
  std::int64_t k{}; // entries that a rank selects; compressed exchanges only, else 0
  // Sums in seconds: what precedes the exchange on the selecting stream, and what holds the
  // channel.
  [[nodiscard]] double compress_s() const { return select_s + residual_s; }
  [[nodiscard]] double exchange_s() const { return staging_s + wire_s + merge_s + scatter_s; }
};

// The costs of the buckets of a scenario. Each size is evaluated once; with powersgd, whose cost
// depends on shapes, each bucket. Not thread-safe. Throws SimulationError where the evaluator of
// an exchange throws it (max_plus.hpp, events.hpp).
class BucketCosts {
public:
  // Which cost a bucket of a schedule with all-gathers has: its two halves (reduce-scatter and
  // all-gather) one by one, or the whole all-reduce.
  enum class Parts { halves, whole };
  // `curve`: a measured cost that stands for the evaluators of a dense exchange.
  BucketCosts(const Scenario& scenario, const std::optional<plan::Cost>& curve,
              Parts parts = Parts::halves);
  [[nodiscard]] BucketCost operator()(const plan::Group& group);
  // Dense buckets only: the times alone, and with the bytes sent; no algorithm, stages and links.
  [[nodiscard]] BucketCost times(const plan::Group& group);
  [[nodiscard]] BucketCost counted(const plan::Group& group);
  // As ExchangeTimes::share.
  void share(coll::SentBytes& sent);
  // The most faithful evaluator used so far.
  [[nodiscard]] coll::Method method() const;
  [[nodiscard]] std::uint64_t events() const;

private:
  [[nodiscard]] BucketCost dense(const plan::Group& group);
  [[nodiscard]] BucketCost dense_times(Bytes bytes);
  [[nodiscard]] BucketCost compressed(const plan::Group& group);

  void halve(BucketCost& cost) const;
  [[nodiscard]] bool has_second_half() const;

  const Scenario& scenario_;
  bool splits_, halves_; // an exchange is two that evaluators know, or cut in the middle
  train::ExchangeTimes exchange_, broadcast_;
  // Costs of compressed buckets by (bytes, elements).
  std::map<std::pair<std::int64_t, std::int64_t>, BucketCost> known_;
  coll::Method used_ = coll::Method::closed_form;
  std::uint64_t events_{};
};

// The measured curve of the scenario's network, which stands for the evaluators and costs nothing
// with one worker; empty where the scenario has no curve.
[[nodiscard]] std::optional<plan::Cost> measured_curve(const Scenario& scenario);

} // namespace stepsim::study
