// Every record has the same keys, except for `per_rank` and `transfers`, which are there if they
// are asked for; what does not exist is null. A reader of JSON Lines can therefore make columns
// from the first record.
#include "cli/collective/collective_record.hpp"

#include <cmath>
#include <optional>

namespace stepsim::cli {

namespace {

// Whole numbers as integers, because byte counts read better without an exponent. From 2^53 on not
// every integer is a double, and the number stays as it is.
io::Json whole(double value) {
  return value == std::floor(value) && value < 9007199254740992.0
             ? io::Json(static_cast<std::int64_t>(value))
             : io::Json(value);
}

// One value per rank.
io::Json list(const std::vector<double>& values) { return io::Array(values.begin(), values.end()); }

io::Json algorithm_or_null(const std::optional<coll::AlgorithmId>& algorithm) {
  return algorithm ? io::Json(coll::name(*algorithm)) : io::Json();
}

// Keys of a compressed exchange. Lower bounds hold for dense collectives and say nothing about one
// that sends less: they are null. So are the messages of a method that is only a formula.
void set_compressed(io::Json& tree, const coll::CompressedRecord& record) {
  tree.set("algorithm", coll::row(record.method).name);
  tree.set("elements", record.elements);
  if (record.k) {
    tree.set("k", *record.k);
  }
  tree.set("density", or_null(record.density));
  if (const auto& range = record.closed_form_range_s) {
    tree.set("closed_form_range_s", io::Array{range->first, range->second});
  }
  for (const char* key : {"lower_bound_s", "lower_bounds", "gap_ratio"}) {
    tree.set(key, nullptr);
  }
  if (!coll::row(record.method).simulated) { // a formula has no messages
    for (const char* key : {"steps", "messages", "bytes_sent_per_rank", "bytes_sent_total"}) {
      tree.set(key, nullptr);
    }
  }
}

// Of `auto` alone: the algorithm chosen and the next best, with their times.
void set_choice(io::Json& tree, const std::optional<coll::Choice>& choice) {
  tree.set("chosen", choice ? io::Json(coll::name(choice->chosen)) : io::Json());
  tree.set("chosen_s", choice ? io::Json(choice->chosen_s) : io::Json());
  tree.set("runner_up", choice ? algorithm_or_null(choice->runner_up) : io::Json());
  tree.set("runner_up_s", choice ? or_null(choice->runner_up_s) : io::Json());
}

} // namespace

io::Json or_null(const std::optional<double>& value) {
  return value ? io::Json(*value) : io::Json();
}

io::Json record_tree(const coll::CollectiveRecord& record) {
  const bool one_link = record.bandwidth_Bps || record.link.latency_s > 0;
  io::Json tree(io::Object{
      {"op", coll::name(record.op)},
      {"algorithm", coll::name(record.algorithm)},
      {"ranks", static_cast<std::int64_t>(record.ranks)},
      {"bytes", whole(record.bytes)},
      {"steps", record.traffic.steps},
      {"messages", static_cast<std::int64_t>(record.traffic.messages)},
      {"closed_form_s", or_null(record.closed_form_s)},
      {"max_plus_s", or_null(record.max_plus_s)},
      {"events_s", or_null(record.events_s)},
      {"method", coll::name(record.method)},
      {"relative_difference", or_null(record.relative_difference)},
      {"paper_form_s", or_null(record.paper_form_s)},
      {"ideal_form_s", or_null(record.ideal_form_s)},
      {"below_bound", record.below_bound},
      {"closed_form_range_s", nullptr},
      {"algbw_Bps", or_null(record.algbw_Bps)},
      {"busbw_Bps", or_null(record.busbw_Bps)},
      {"bytes_sent_per_rank", io::Object{{"min", whole(record.traffic.min_per_rank)},
                                         {"max", whole(record.traffic.max_per_rank)}}},
      {"bytes_sent_total", whole(record.traffic.total)},
      {"lower_bound_s", record.lower_bounds.seconds()},
      {"lower_bounds", io::Object{{"latency_s", record.lower_bounds.latency_s},
                                  {"bandwidth_s", record.lower_bounds.bandwidth_s},
                                  {"reduction_s", record.lower_bounds.reduction_s}}},
      {"gap_ratio", or_null(record.gap_ratio)},
      {"latency_s", one_link ? io::Json(record.link.latency_s) : io::Json()},
      {"block_latency_s", one_link ? io::Json(record.link.block_latency_s) : io::Json()},
      {"bandwidth_Bps", or_null(record.bandwidth_Bps)},
      {"reduction_Bps", record.reduction_Bps},
      {"reduction_mode", coll::kReductionModes[record.reduction_mode]},
      {"chunking", record.chunking == coll::Chunking::real ? "real" : "integer"},
      {"block_bytes", record.blocks ? whole(record.blocks->block_bytes) : io::Json()},
      {"blocks", record.blocks ? io::Json(record.blocks->blocks) : io::Json()},
      {"startup_s", or_null(record.startup_s)},
      {"per_byte_s", or_null(record.per_byte_s)},
      {"elements", nullptr},
      {"k", nullptr},
      {"density", nullptr},
      {"warnings", io::Array(record.warnings.begin(), record.warnings.end())},
  });
  set_choice(tree, record.choice);
  if (record.compressed) {
    set_compressed(tree, *record.compressed);
  }
  if (record.per_rank) {
    tree.set("per_rank", io::Object{{"enter_s", list(record.per_rank->enter_s)},
                                    {"finish_s", list(record.per_rank->finish_s)},
                                    {"transfer_s", list(record.per_rank->transfer_s)},
                                    {"wait_s", list(record.per_rank->wait_s)}});
  }
  return tree;
}

io::Json transfer_tree(const coll::TransferRecord& transfer) {
  return io::Object{{"step", transfer.step},
                    {"src", static_cast<std::int64_t>(transfer.src)},
                    {"dst", static_cast<std::int64_t>(transfer.dst)},
                    {"bytes", whole(transfer.bytes)},
                    {"reduce", transfer.reduce},
                    {"start_s", transfer.start_s},
                    {"end_s", transfer.end_s}};
}

} // namespace stepsim::cli
