// Every record has the same keys, except for `per_rank` and `transfers`, which are there if they
// are asked for; what does not exist is null. A reader of JSON Lines can therefore make columns
// from the first record.

#include "run/collective_record.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "run/work_estimate.hpp"
#include "scenario/keys/library_model_keys.hpp"

namespace stepsim::study {

namespace {

using collectives::CollectiveRecord;
using collectives::CompressedRecord;
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
  tree.set("runner_up", choice && choice->runner_up
                            ? io::Json(collectives::name(*choice->runner_up))
                            : io::Json());
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
std::vector<TransferRecord> transfers_of(const CollectiveFile& file, bool by_events) {
  return file.compression ? collectives::exchange_transfers(
                                collectives::compressed_exchange(*file.compression, file.gradient,
                                                                 file.collective),
                                kMaxTransfers, by_events)
                          : collectives::timed_transfers(with_chosen_algorithm(file.collective),
                                                         kMaxTransfers, by_events);
}

// The list of transfers is cut: a ring all-reduce of 1000 ranks sends two million messages.
void set_transfers(const CollectiveFile& file, const CollectiveRecord& record, io::Json& tree) {
  io::Array transfers = io::write_each(
      transfers_of(file, record.method == collectives::Method::events), transfer_tree);
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

// The keys of all collectives come first, then those of the model. What a schedule has and the
// model does not, such as messages and steps, is null.

using nccl::LibraryRecord;

constexpr std::array<std::string_view, 19> kLibraryKeys{
    "model",        "nodes",        "gpus_per_node",  "physical_s",
    "low_s",        "high_s",       "protocol",       "channels",
    "choice",       "published_us", "latency_part_s", "transfer_part_s",
    "cross_part_s", "limited_by",   "bound_s",        "gap",
    "preset",       "calibration",  "overrides"};

// What only schedules have.
constexpr std::array<std::string_view, 7> kScheduleKeys{
    "steps",          "messages", "bytes_sent_per_rank", "bytes_sent_total", "reduction_Bps",
    "reduction_mode", "chunking"};

io::Json positive_or_null(double value) { return value > 0 ? io::Json(value) : io::Json(); }

io::Json runner_up_tree(const LibraryRecord& record) {
  if (!record.runner_up) {
    return {};
  }
  const nccl::RunnerUp& next = *record.runner_up;
  return io::Object{{"algorithm", nccl::kAlgorithms[next.pair.algorithm]},
                    {"protocol", nccl::kProtocols[next.pair.protocol]},
                    {"published_us", next.published_s * 1e6},
                    {"seconds", next.seconds}};
}

// The part of the bound that is the largest is the bound; the others are not computed.
void set_bound(io::Json& tree, const LibraryRecord& record) {
  const bool is_latency = record.bound_kind == nccl::BoundKind::latency;
  tree.set("lower_bound_s", record.bound_s);
  tree.set("lower_bounds",
           io::Object{{"latency_s", is_latency ? io::Json(record.bound_s) : io::Json()},
                      {"bandwidth_s", is_latency ? io::Json() : io::Json(record.bound_s)},
                      {"reduction_s", nullptr}});
  tree.set("bound_kind", nccl::kBoundKinds[record.bound_kind]);
  tree.set("gap_ratio", positive_or_null(record.gap));
}

// `of(method)` for each method that is asked for; empty stands for the one that is chosen.
template <typename Of> double seconds_of(collectives::AskedMethod asked, Of of) {
  return asked == collectives::AskedMethod::all
             ? of(collectives::Method::max_plus) + of(collectives::Method::events)
             : of(collectives::kMethods.find(collectives::kAskedMethods[asked]));
}

// "nvls_tree/simple"
std::string pair_text(const io::Json& record, std::string_view algorithm) {
  return record.find(algorithm)->as_string() + "/" + record.find("protocol")->as_string();
}

std::string microseconds(double value) { return base::significant(value, 4) + " us"; }

// Completes the sentence about what sets the time.
std::string_view limit_sentence(std::string_view limit) {
  struct Row {
    std::string_view limit, sentence;
  };
  static constexpr std::array kRows{
      Row{"nic", "The network cards limit it."},
      Row{"nvlink", "The links inside the nodes limit it."},
      Row{"pcie", "The PCIe links inside the nodes limit it."},
      Row{"mix", "The rate of a ring that leaves the node limits it."},
      Row{"protocol_cap", "A limit of the protocol or of its channels sets the time."},
      Row{"latency", "More of the time is latency than transfer."},
      Row{"floor", "It takes no less than the launch."},
      Row{"bound", "The time is the physical lower bound."}};
  const Row* row = base::found(kRows, limit, &Row::limit);
  return row == nullptr ? "" : row->sentence;
}

// The record of `file`, whose `question` must be complete (ask_library()).
io::Json library_record(const CollectiveFile& file) {
  const LibraryRecord record = nccl::predict(*file.question);
  collectives::CollectiveRecord common;
  common.op = file.collective.op;
  common.ranks = file.collective.ranks;
  common.bytes = record.bytes;
  common.closed_form_s = record.seconds;
  common.method = collectives::Method::closed_form;
  common.seconds = record.seconds;
  common.warnings = record.warnings;
  if (record.algbw_Bps > 0) {
    common.algbw_Bps = record.algbw_Bps;
    common.busbw_Bps = record.busbw_Bps;
  }
  io::Json tree = record_tree(common);
  add_library_keys(tree);
  for (const std::string_view key : kScheduleKeys) {
    tree.set(std::string(key), nullptr);
  }
  set_bound(tree, record);
  tree.set("algorithm", "library");
  tree.set("model", "nccl");
  tree.set("nodes", record.shape.nodes);
  tree.set("gpus_per_node", record.shape.gpus);
  io::set_members<&LibraryRecord::physical_s, &LibraryRecord::channels,
                  &LibraryRecord::latency_part_s, &LibraryRecord::transfer_part_s,
                  &LibraryRecord::cross_part_s, &LibraryRecord::bound_s>(record, tree);
  tree.set("low_s", record.interval.low);
  tree.set("high_s", record.interval.high);
  tree.set("chosen", nccl::kAlgorithms[record.chosen.algorithm]);
  tree.set("protocol", nccl::kProtocols[record.chosen.protocol]);
  tree.set("choice", nccl::kChoices[record.choice]);
  tree.set("published_us", record.published_s * 1e6);
  tree.set("limited_by", nccl::kLimits[record.limited_by]);
  tree.set("runner_up", runner_up_tree(record));
  tree.set("gap", positive_or_null(record.gap));
  tree.set("preset", io::text_or_null(record.preset));
  tree.set("calibration", io::text_or_null(record.calibration));
  tree.set("overrides", overrides_of(file));
  return tree;
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
       io::tree_of<&collectives::LowerBound::latency_s, &collectives::LowerBound::bandwidth_s,
                   &collectives::LowerBound::reduction_s>(record.lower_bounds)},
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
  io::set_members<
      &CollectiveRecord::ranks, &CollectiveRecord::seconds, &CollectiveRecord::closed_form_s,
      &CollectiveRecord::max_plus_s, &CollectiveRecord::events_s,
      &CollectiveRecord::relative_difference, &CollectiveRecord::paper_form_s,
      &CollectiveRecord::ideal_form_s, &CollectiveRecord::below_bound, &CollectiveRecord::algbw_Bps,
      &CollectiveRecord::busbw_Bps, &CollectiveRecord::gap_ratio, &CollectiveRecord::bandwidth_Bps,
      &CollectiveRecord::reduction_Bps, &CollectiveRecord::startup_s, &CollectiveRecord::per_byte_s,
      &CollectiveRecord::warnings>(record, tree);
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
    tree.set("reduction_Bps", file.cluster.network.reduction_Bps);
  }
}

double estimated_seconds(const CollectiveFile& file, bool per_rank) {
  if (file.question) {
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
  if (file.question) {
    if (options.transfers || options.per_rank) {
      throw UsageError(std::string(options.transfers ? "--transfers" : "--per-rank") +
                       ": --algorithm library has no times of single messages or ranks");
    }
    io::Json tree = library_record(file);
    io::require_finite(tree);
    return tree;
  }
  const collectives::AlgorithmId algorithm = with_chosen_algorithm(file.collective).algorithm;
  const bool formula = file.collective.links.measured && algorithm == collectives::AlgorithmId::lp;
  if (options.transfers && !file.compression &&
      (formula || !collectives::has_transfers(algorithm))) {
    throw UsageError("--transfers: " + std::string(collectives::name(algorithm)) +
                     " has no list of transfers in program order");
  }
  refuse_long_work(estimated_seconds(file, options.per_rank || options.transfers),
                   options.max_seconds);
  CollectiveRecord record = record_of(file, options.per_rank);
  record.warnings.insert(record.warnings.begin(), file.warnings.begin(), file.warnings.end());
  io::Json tree = record_tree(record);
  if (options.transfers) {
    set_transfers(file, record, tree);
  }
  set_written_rates(file, tree);
  if (options.library_keys) {
    add_library_keys(tree);
    io::set_given(tree, "overrides", overrides_of(file));
    if (file.cluster.node) {
      tree.set("preset", file.cluster.node->type.name);
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

void add_library_keys(io::Json& record) {
  for (const std::string_view key : kLibraryKeys) {
    if (record.find(key) == nullptr) {
      record.set(std::string(key), nullptr);
    }
  }
}

std::string library_sentence(const io::Json& record) {
  const auto us = [](const io::Json& tree, const char* key, double factor) {
    return microseconds(tree.find(key)->as_double() * factor);
  };
  const io::Json& next = *record.find("runner_up");
  const bool has_next = next.is_object();
  const std::string other = has_next ? pair_text(next, "algorithm") : "";
  const bool slower =
      has_next && next.find("seconds")->as_double() < record.find("physical_s")->as_double();
  return "NCCL would use " + pair_text(record, "chosen") + ", which it expects to take " +
         us(record, "published_us", 1) +
         (has_next ? " (next " + other + ", " + us(next, "published_us", 1) + ")" : "") +
         "; the prediction is " + us(record, "seconds", 1e6) + ". " +
         std::string(limit_sentence(record.find("limited_by")->as_string())) +
         (slower ? " NCCL's choice is not the fastest: " + other + " would take " +
                       us(next, "seconds", 1e6) + "."
                 : "");
}

} // namespace stepsim::study
