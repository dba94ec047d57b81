#pragma once
// The cost of one bucket on top of computing its gradient: seconds on the compute thread and on the
// channel, and bytes. BucketCosts covers dense, coded and sparse exchanges of every training
// algorithm.
//
//     compute   ..backward..|select, residual, encode|             |decode|update..
//     channel                                        |staging|wire|merge|scatter|
//
// Sources: SPA 5, PIP 2, 6, 12, COL 11.

#include "programs/step/exchange_times.hpp"
#include "scenario/compression/scenario_compression.hpp"

namespace stepsim::study {

// Seconds on the channel.
struct ChannelSeconds : ChannelTimes { // of the exchange, or of its first half
  // Of the second half: the broadcast of reduce_broadcast, or the all-gather of DeAR; else 0.
  double broadcast_s{};
  // Of the collectives, on any network: their part of exchange_s() and of broadcast_s.
  double on_wire_s{}, back_on_wire_s{};
};

struct BucketCost : ChannelSeconds, CodecTimes {
  double select_s{}, residual_s{}; // on compute as drawn, or on a side stream (key select_stream)
  double bytes_sent{};             // bytes sent in both halves by the rank that sends most
  // The collectives of the exchange and of its second half, which run one after the other; set only
  // for a simulated network. An all-reduce that counts as two equal halves has no `back_stages`.
  std::vector<collectives::Collective> stages{}, back_stages{};
  std::string algorithm{};             // algorithm of the collective, or compression method
  std::vector<links::LinkUse> links{}; // [link] of the fabric, both halves of an exchange
  std::int64_t elements{};             // elements of the bucket; 0 unless compressed
  std::int64_t k{};                    // entries that a rank selects; 0 unless compressed
  // Of a coded bucket that is one all-reduce by formula: its bytes, among so many ranks. Else 0.
  double coded_bytes{};
  std::int64_t coded_ranks{};
  // Seconds of selection before the exchange.
  [[nodiscard]] double compress_s() const { return select_s + residual_s; }
};

// The costs of the buckets of a scenario. Each size is evaluated once; with powersgd, whose cost
// depends on shapes, every bucket is. Not thread-safe. Throws SimulationError if the evaluator of
// an exchange does (evaluation.hpp).
class BucketCosts {
public:
  // `curve`, if not empty, is a measured cost that replaces the evaluators of a dense exchange.
  BucketCosts(const Scenario& scenario, const std::optional<buckets::Cost>& curve);
  // `before` is the cost of the same bucket on another network, if it is known.
  [[nodiscard]] BucketCost operator()(const buckets::Group& group, BucketCost before = {});
  // Of a bucket that is not compressed: its times alone.
  [[nodiscard]] ChannelSeconds times(Bytes bytes);
  // Seconds before the first byte of a bucket that is not compressed moves: of its exchange and of
  // its second half. Of a collective that counts as two halves each has half of it.
  [[nodiscard]] std::pair<double, double> startups(Bytes bytes);
  // The line that gives the times of exchanges that are not compressed and have no second half, but
  // for rounding; empty where there is none.
  [[nodiscard]] std::optional<collectives::Line> line();
  // Keeps the bytes that exchanges send in `sent`, as ExchangeTimes::share() does.
  void share(collectives::SentBytes& sent);
  // Returns the most faithful evaluator used so far.
  [[nodiscard]] collectives::Method method() const;
  [[nodiscard]] std::uint64_t events() const; // events that evaluators have simulated so far

private:
  // The times of a bucket whose halves are on the wire for so many seconds.
  [[nodiscard]] ChannelSeconds times(Bytes bytes, double wire_s, double back_s) const;
  [[nodiscard]] BucketCost dense(const buckets::Group& group);
  [[nodiscard]] BucketCost compressed(const buckets::Group& group, BucketCost before);
  [[nodiscard]] bool is_coded(const collectives::CompressedExchange& exchange) const;
  void code(const collectives::CompressedExchange& exchange); // sets coded_

  void halve(ChannelSeconds& times) const;
  [[nodiscard]] bool has_second_half() const;

  const Scenario& scenario_;
  // Whether an exchange is a reduce-scatter and an all-gather that evaluators know, and whether it
  // is one collective that counts as two equal halves. At most one is true.
  bool splits_, halves_;
  buckets::LinearCost extra_; // on top of the exchange
  programs::ExchangeTimes exchange_;
  std::optional<programs::ExchangeTimes> broadcast_;           // of a second half
  std::optional<programs::ExchangeTimes> coded_;               // of coded buckets, by formula
  std::optional<programs::ExchangeSplits> parts_, back_parts_; // where start-ups were asked for
  collectives::SentBytes* sent_ = nullptr;
  // Costs of compressed buckets by (bytes, elements).
  std::map<std::pair<std::int64_t, std::int64_t>, BucketCost> known_;
  collectives::Method used_ = collectives::Method::closed_form;
  std::uint64_t events_{};
};

// Returns the measured curve of the scenario's network, which replaces the evaluators; with one
// worker a curve of cost 0. Empty if the scenario has no curve.
[[nodiscard]] std::optional<buckets::Cost> measured_curve(const Scenario& scenario);

} // namespace stepsim::study
