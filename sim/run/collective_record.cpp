// Every record has the same keys, except for `per_rank` and `transfers`, which are there if they
// are asked for; what does not exist is null. A reader of JSON Lines can therefore make columns
// from the first record.
#include "run/collective_record.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/compress/compressed_record.hpp"
#include "collectives/method.hpp"
#include "collectives/work.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "run/work_estimate.hpp"
#include "scenario/keys/library_model_keys.hpp"

namespace stepsim::study {

namespace {

using collectives::CollectiveRecord;
using collectives::CompressedRecord;
using collectives::LowerBound;
using collectives::PerRank;
using collectives::Traffic;
using collectives::TransferRecord;

constexpr std::size_t kMaxTransfers = 10'000;

// Whole numbers as integers, because byte counts read better without an exponent. From 2^53 on not
// every integer is a double, and the number stays as it is.
io::Json whole(double value) {
  return value == std::floor(value) && value < 9007199254740992.0
             ? io::Json(static_cast<std::int64_t>(value))
             : io::Json(value);
}

io::Json algorithm_or_null(const std::optional<collectives::AlgorithmId>& algorithm) {
  return algorithm ? io::Json(collectives::name(*algorithm)) : io::Json();
}

// Keys of a compressed exchange. Lower bounds hold for dense collectives and say nothing about one
// that sends less: they are null. So are the messages of a method that is only a formula.
void set_compressed(io::Json& tree, const CompressedRecord& record) {
  tree.set("algorithm", collectives::row(record.method).name);
  io::set_members<&CompressedRecord::elements, &CompressedRecord::k, &CompressedRecord::density>(
      record, tree);
  if (const auto& range = record.closed_form_range_s) {
    tree.set("closed_form_range_s", io::Array{range->first, range->second});
  }
  for (const char* key : {"lower_bound_s", "lower_bounds", "bound_kind", "gap_ratio"}) {
    tree.set(key, nullptr);
  }
  if (!collectives::row(record.method).simulated) { // a formula has no messages
    for (const char* key : {"steps", "messages", "bytes_sent_per_rank", "bytes_sent_total"}) {
      tree.set(key, nullptr);
    }
  }
}

// The term of the lower bound that is the largest; null where nothing is to be done.
io::Json bound_kind_of(const CollectiveRecord& record) {
  return record.lower_bounds.seconds() > 0 ? io::Json(nccl::kBoundKinds[record.lower_bounds.kind()])
                                           : io::Json();
}

// Of `auto` alone: the algorithm chosen and the next best, with their times.
void set_choice(io::Json& tree, const std::optional<collectives::Choice>& choice) {
  tree.set("chosen", choice ? io::Json(collectives::name(choice->chosen)) : io::Json());
  tree.set("chosen_s", choice ? io::Json(choice->chosen_s) : io::Json());
  tree.set("runner_up", choice ? algorithm_or_null(choice->runner_up) : io::Json());
  tree.set("runner_up_s", choice ? io::or_null(choice->runner_up_s) : io::Json());
}

// One message with its times, in seconds from the start of the collective.
io::Json transfer_tree(const TransferRecord& transfer) {
  io::Json tree =
      io::tree_of<&TransferRecord::step, &TransferRecord::src, &TransferRecord::dst,
                  &TransferRecord::reduce, &TransferRecord::start_s, &TransferRecord::end_s>(
          transfer);
  tree.set("bytes", whole(transfer.bytes));
  return tree;
}

// A compressed exchange is a sequence of collectives, whose messages follow each other.
std::vector<TransferRecord> transfers_of(const CollectiveFile& file) {
  return file.compression ? collectives::exchange_transfers(
                                collectives::compressed_exchange(*file.compression, file.gradient,
                                                                 file.collective),
                                kMaxTransfers)
                          : collectives::list_transfers(file.collective, kMaxTransfers);
}

// The list of transfers is cut: a ring all-reduce of 1000 ranks sends two million messages.
void set_transfers(const CollectiveFile& file, const CollectiveRecord& record, io::Json& tree) {
  io::Array transfers = io::write_each(transfers_of(file), transfer_tree);
  if (record.traffic.messages > transfers.size()) {
    tree.find("warnings")
        ->as_array()
        .push_back("only the first " + std::to_string(kMaxTransfers) + " of " +
                   std::to_string(record.traffic.messages) + " transfers are listed");
  }
  tree.set("transfers", std::move(transfers));
}

// A pair of ranks without a listed link is found while a schedule runs; the error is the file's.
CollectiveRecord record_of(const CollectiveFile& file, bool per_rank) {
  try {
    return file.compression ? collectives::make_record(*file.compression, file.gradient,
                                                       file.collective, file.method, per_rank)
                            : collectives::make_record(file.collective, file.method, per_rank);
  } catch (const SimulationError& error) {
    if (!file.collective.links.pairs_only) {
      throw;
    }
    throw InputError(file.links_file, file.links_pointer + "/links", error.what());
  }
}

} // namespace

io::Json record_tree(const CollectiveRecord& record) {
  const bool one_link = record.bandwidth_Bps || record.link.latency_s > 0;
  io::Json tree(io::Object{
      {"op", collectives::name(record.op)},
      {"algorithm", collectives::name(record.algorithm)},
      {"bytes", whole(record.bytes)},
      {"method", collectives::name(record.method)},
      {"closed_form_range_s", nullptr},
      {"bytes_sent_per_rank", io::Object{{"min", whole(record.traffic.min_per_rank)},
                                         {"max", whole(record.traffic.max_per_rank)}}},
      {"bytes_sent_total", whole(record.traffic.total)},
      {"lower_bound_s", record.lower_bounds.seconds()},
      {"lower_bounds",
       io::tree_of<&LowerBound::latency_s, &LowerBound::bandwidth_s, &LowerBound::reduction_s>(
           record.lower_bounds)},
      {"bound_kind", bound_kind_of(record)},
      {"latency_s", one_link ? io::Json(record.link.latency_s) : io::Json()},
      {"block_latency_s", one_link ? io::Json(record.link.block_latency_s) : io::Json()},
      {"reduction_mode", collectives::kReductionModes[record.reduction_mode]},
      {"chunking", record.chunking == collectives::Chunking::real ? "real" : "integer"},
      {"block_bytes", record.blocks ? whole(record.blocks->block_bytes) : io::Json()},
      {"blocks", record.blocks ? io::Json(record.blocks->blocks) : io::Json()},
      {"elements", nullptr},
      {"k", nullptr},
  });
  tree.set(io::key_of<&CompressedRecord::density>(), nullptr);
  io::set_members<&Traffic::steps, &Traffic::messages>(record.traffic, tree);
  io::set_members<&CollectiveRecord::ranks, &CollectiveRecord::closed_form_s,
                  &CollectiveRecord::max_plus_s, &CollectiveRecord::events_s,
                  &CollectiveRecord::relative_difference, &CollectiveRecord::paper_form_s,
                  &CollectiveRecord::ideal_form_s, &CollectiveRecord::below_bound,
                  &CollectiveRecord::algbw_Bps, &CollectiveRecord::busbw_Bps,
                  &CollectiveRecord::gap_ratio, &CollectiveRecord::bandwidth_Bps,
                  &CollectiveRecord::reduction_Bps, &CollectiveRecord::startup_s,
                  &CollectiveRecord::per_byte_s, &CollectiveRecord::warnings>(record, tree);
  set_choice(tree, record.choice);
  if (record.compressed) {
    set_compressed(tree, *record.compressed);
  }
  if (record.per_rank) {
    tree.set(
        "per_rank",
        io::tree_of<&PerRank::enter_s, &PerRank::finish_s, &PerRank::transfer_s, &PerRank::wait_s>(
            *record.per_rank));
  }
  return tree;
}

// A rate of 0 stands for additions that cost nothing and is no written value to restore. A delay is
// shown where it is written.
void set_written_rates(const CollectiveFile& file, io::Json& tree) {
  if (file.has_delay) {
    tree.set("delay_s", file.collective.links.all.delay_s);
  }
  if (file.bandwidth_Bps) {
    io::set_members<&CollectiveFile::bandwidth_Bps>(file, tree);
  }
  if (tree.find("reduction_Bps")->as_double() > 0) {
    tree.set("reduction_Bps", file.reduction_Bps);
  }
}

namespace {

// `of(method)` for each method that is asked for; empty stands for the one that is chosen.
template <typename Of> double seconds_of(collectives::AskedMethod asked, Of of) {
  switch (asked) {
  case collectives::AskedMethod::automatic:
    return of(std::optional<collectives::Method>());
  case collectives::AskedMethod::closed_form:
    return of(collectives::Method::closed_form);
  case collectives::AskedMethod::max_plus:
    return of(collectives::Method::max_plus);
  case collectives::AskedMethod::events:
    return of(collectives::Method::events);
  case collectives::AskedMethod::all:
    return of(collectives::Method::max_plus) + of(collectives::Method::events);
  }
  return 0;
}

} // namespace

double estimated_seconds(const CollectiveFile& file, bool per_rank) {
  if (file.system.question) {
    return 0; // the model of a library is a formula
  }
  if (!file.compression) {
    return seconds_of(file.method, [&](std::optional<collectives::Method> method) {
      return collectives::evaluation_seconds(file.collective, method, per_rank);
    });
  }
  const collectives::CompressedExchange exchange =
      collectives::compressed_exchange(*file.compression, file.gradient, file.collective);
  return seconds_of(file.method, [&](std::optional<collectives::Method> method) {
    return collectives::evaluation_seconds(exchange, method);
  });
}

io::Json evaluate_collective(const CollectiveFile& file, const RecordOptions& options) {
  if (file.system.question) {
    if (options.transfers || options.per_rank) {
      throw UsageError(std::string(options.transfers ? "--transfers" : "--per-rank") +
                       ": --algorithm library has no times of single messages or ranks");
    }
    io::Json tree = library_record(file);
    io::require_finite(tree);
    return tree;
  }
  const collectives::AlgorithmId algorithm = with_chosen_algorithm(file.collective).algorithm;
  if (options.transfers && !file.compression && !collectives::has_transfers(algorithm)) {
    throw UsageError("--transfers: " + std::string(collectives::name(algorithm)) +
                     " has no list of transfers in program order");
  }
  refuse_long_work(estimated_seconds(file, options.per_rank), options.max_seconds);
  CollectiveRecord record = record_of(file, options.per_rank);
  record.warnings.insert(record.warnings.begin(), file.warnings.begin(), file.warnings.end());
  io::Json tree = record_tree(record);
  if (options.transfers) {
    set_transfers(file, record, tree);
  }
  set_written_rates(file, tree);
  if (options.library_keys) {
    add_library_keys(tree);
    io::set_given(tree, "overrides", file.system.overrides);
    if (file.system.node) {
      tree.set("preset", file.system.node->type.name);
    }
  }
  io::require_finite(tree);
  return tree;
}

bool has_library_keys(const io::Json& tree) {
  const io::Json* algorithm = tree.find("algorithm");
  return (algorithm != nullptr && *algorithm == io::Json(keys::kLibrary)) ||
         tree.find("preset") != nullptr || tree.find("library") != nullptr;
}

} // namespace stepsim::study
