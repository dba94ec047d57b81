// Every case is predicted and measured in the same run; flags say which rows test the model and
// which test the machine.
#include "calibrate/mpi/measured_table.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "base/statistics.hpp"
#include "calibrate/execute/sampling.hpp"
#include "calibrate/mpi/sparse.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr double kStartUps = 20; // shorter than so many start-ups: scheduling of cores shows
constexpr std::int64_t kMostSparseBytes = 1 << 20;

struct Case {
  Kind kind;
  std::int64_t bytes{};
  Program program;
};

// Sparse lists hold whole entries and stay small: they stand for k entries, not for a dense vector.
std::vector<Case> all_cases(const TableOptions& options, bool simulated_only, const Wire& wire) {
  std::vector<Case> cases;
  for (const Kind& kind : kinds()) {
    if (simulated_only && !simulated(kind)) {
      continue;
    }
    for (std::int64_t bytes :
         collective_sizes(options.most_bytes, wire.ranks(), options.dense, 1)) {
      bytes -= kind.sparse ? bytes % kEntry : 0;
      const bool known =
          !cases.empty() && name(cases.back().kind) == name(kind) && cases.back().bytes == bytes;
      if (bytes > 0 && !known && !(kind.sparse && bytes > kMostSparseBytes)) {
        cases.push_back(
            {kind, bytes, program_of(kind, wire.ranks(), wire.rank(), bytes, options.messages)});
      }
    }
  }
  return cases;
}

void wait(double seconds) {
  if (seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

// A sparse list is made anew before each sample, which consumes it.
std::vector<Block> blocks_of(const std::vector<Case>& cases, const TableOptions& options,
                             Wire& wire, Buffers& buffers, collectives::SparseVector& list) {
  const bool late = options.late && options.late->rank == wire.rank();
  const double late_s = late ? options.late->seconds : 0;
  std::vector<Block> blocks;
  for (const Case& each : cases) {
    Block& block = blocks.emplace_back();
    block.what = name(each.kind) + " " + std::to_string(each.bytes) + " B";
    if (each.kind.sparse) {
      const auto k = static_cast<std::uint32_t>(each.bytes / kEntry);
      block.prepare = [&wire, &list, k] { list = sparse_selection(wire.rank(), k); };
      block.call = [&wire, &list, &each, late_s] {
        wait(late_s);
        run_sparse(each.program, wire, list);
      };
    } else {
      block.call = [&wire, &buffers, &each, late_s] {
        wait(late_s);
        (void)run(each.program, wire, buffers);
      };
    }
  }
  return blocks;
}

// One merge, all ranks at the same time, the slowest.
double slowest_merge(std::int64_t bytes, Wire& wire) {
  wire.barrier();
  const double mine = merge_seconds(static_cast<std::uint32_t>(bytes / kEntry));
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, wire.group());
  return slowest;
}

// What is known of all rows.
struct Conditions {
  const LinkEstimate& link;
  const Crowding& crowd;
  const TableOptions& options;
  std::uint32_t ranks;
};

// More processes than cores make short collectives wait for the scheduler: such rows do not count.
ErrorRow row_of(const Kind& kind, std::int64_t bytes, std::vector<double> samples,
                const Predictor& predictor, const Conditions& now) {
  const MessageOptions& messages = now.options.messages;
  std::ranges::sort(samples);
  ErrorRow row;
  row.op = collectives::name(kind.op);
  row.algorithm = algorithm_name(kind);
  row.ranks = now.ranks;
  row.bytes = bytes;
  row.predicted_s = predict(kind, now.ranks, bytes, messages, predictor);
  row.measured_s = base::median(samples);
  row.min_s = samples.front();
  const double rank = std::ceil(0.9 * static_cast<double>(samples.size()));
  row.p90_s = samples[static_cast<std::size_t>(rank) - 1];
  row.bound = bound_of(kind, now.ranks, bytes, messages, predictor);
  if (now.link.host_bound()) {
    row.flags.emplace_back("host_bound");
  }
  if (now.crowd.processes > now.crowd.cores && row.predicted_s < kStartUps * now.link.alpha) {
    row.flags.emplace_back("start_up_bound");
  }
  if (static_cast<double>(bytes) > now.options.most_probed) {
    row.flags.emplace_back("extrapolated");
  }
  row.rate = now.options.rate;
  row.transport = now.options.transport;
  return row;
}

Predictor without_replies(Predictor predictor) {
  collectives::MeasuredSteps steps = *predictor.steps;
  steps.reply_s.reset();
  predictor.steps = std::make_shared<const collectives::MeasuredSteps>(std::move(steps));
  return predictor;
}

} // namespace

// Zero vectors keep their value however often they are added. Merges are timed first, because all
// ranks take part in that, and rows are made while only one of them writes.
TableRun run_table(const Predictor& predictor, const LinkEstimate& link, const Crowding& crowd,
                   const TableOptions& options, Wire& wire, Watchdog& watchdog) {
  const std::vector<Case> cases = all_cases(options, predictor.fabric != nullptr, wire);
  Buffers buffers(options.most_bytes / kElement + 1); // zeros: sums stay what they are
  collectives::SparseVector list;
  std::vector<Block> blocks = blocks_of(cases, options, wire, buffers, list);
  std::vector<Predictor> predictors(cases.size(), predictor);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].kind.sparse) {
      predictors[i].merge_s = slowest_merge(cases[i].bytes, wire);
    }
  }
  const Conditions now{link, crowd, options, wire.ranks()};
  const auto rows = [&] {
    std::vector<ErrorRow> all;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (std::vector<double> samples = blocks[i].all(); !samples.empty()) {
        all.push_back(
            row_of(cases[i].kind, cases[i].bytes, std::move(samples), predictors[i], now));
      }
    }
    return all;
  };
  MeasureOptions measuring{.max_seconds = options.max_seconds, .seed = 2, .every_block = false};
  if (options.progress) {
    measuring.after_block = [&] { options.progress(rows); };
  }
  measure(blocks, measuring, wire, watchdog);
  return {rows(), cases.size(), unsteady(blocks)};
}

std::vector<ErrorRow> library_rows(const LibraryRun& library, std::span<const Kind> assumed,
                                   const LibraryPredictor& predictor, const LinkEstimate& link,
                                   const Crowding& crowd, const TableOptions& options,
                                   std::uint32_t ranks) {
  const Predictor blocks = without_replies(predictor.segmented);
  Predictor whole = without_replies(predictor.whole);
  whole.children_at_once = true;
  std::vector<ErrorRow> rows;
  for (const LibrarySamples& each : library.operations) {
    const auto kind = std::ranges::find(assumed, each.op, &Kind::op);
    if (kind == assumed.end()) {
      continue;
    }
    std::map<double, std::vector<double>> by_size;
    for (const Repetition& sample : each.samples) {
      by_size[sample.datum.bytes].push_back(sample.datum.seconds);
    }
    const Predictor& messages = kind->algorithm == collectives::AlgorithmId::lp ? blocks : whole;
    for (const auto& [bytes, seconds] : by_size) {
      rows.push_back(row_of(*kind, static_cast<std::int64_t>(bytes), seconds, messages,
                            {link, crowd, options, ranks}));
      rows.back().algorithm = std::string(kLibraryPrefix) + rows.back().algorithm;
    }
  }
  return rows;
}

} // namespace stepsim::calibrate::mpi
