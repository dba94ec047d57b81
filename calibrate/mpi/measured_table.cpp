// Every case is predicted and measured in the same run; flags say which rows test the model and
// which test the machine.
#include "calibrate/mpi/measured_table.hpp"

#include <cmath>
#include <sstream>

namespace stepsim::calibrate::mpi {

namespace {

using collectives::Op;

// Sizes to measure, without 0, rounded down to multiples of `unit`.
std::set<std::int64_t> sizes_of(std::int64_t most_bytes, std::uint32_t ranks, bool dense,
                                std::int64_t unit) {
  std::set<std::int64_t> sizes;
  for (const std::int64_t bytes : collective_sizes(most_bytes, ranks, dense, 1)) {
    sizes.insert(bytes / unit * unit);
  }
  sizes.erase(0);
  return sizes;
}

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
    for (const std::int64_t bytes : sizes_of(options.most_bytes, wire.ranks(), options.dense,
                                             kind.sparse ? kEntry : kElement)) {
      if (!kind.sparse || bytes <= kMostSparseBytes) {
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
  return largest_of_all(merge_seconds(static_cast<std::uint32_t>(bytes / kEntry)), wire.group());
}

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
  row.p90_s = nearest_rank(samples, 0.9);
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

// Parts of an all-gather and of a reduce-scatter are whole elements of equal number.
LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds, Wire& wire,
                       Watchdog& watchdog) {
  std::vector<float> in(static_cast<std::size_t>(most_bytes / kElement) + 1);
  std::vector<float> out(in.size());
  const MPI_Comm group = wire.group();
  const auto ranks = static_cast<int>(wire.ranks());
  using Call = std::function<void(int elements)>;
  const std::pair<Op, Call> operations[] = {
      {Op::allreduce,
       [&](int n) { MPI_Allreduce(in.data(), out.data(), n, MPI_FLOAT, MPI_SUM, group); }},
      {Op::broadcast, [&](int n) { MPI_Bcast(out.data(), n, MPI_FLOAT, 0, group); }},
      {Op::reduce,
       [&](int n) { MPI_Reduce(in.data(), out.data(), n, MPI_FLOAT, MPI_SUM, 0, group); }},
      {Op::allgather,
       [&](int n) {
         MPI_Allgather(in.data(), n / ranks, MPI_FLOAT, out.data(), n / ranks, MPI_FLOAT, group);
       }},
      {Op::reduce_scatter, [&](int n) {
         const std::vector<int> parts(wire.ranks(), n / ranks);
         MPI_Reduce_scatter(in.data(), out.data(), parts.data(), MPI_FLOAT, MPI_SUM, group);
       }}};
  std::vector<std::pair<Op, std::int64_t>> cases;
  std::vector<Block> blocks;
  for (const auto& [op, call] : operations) {
    const bool parts = op == Op::allgather || op == Op::reduce_scatter;
    for (const std::int64_t bytes :
         sizes_of(most_bytes, wire.ranks(), dense, parts ? kElement * ranks : kElement)) {
      cases.emplace_back(op, bytes);
      blocks.push_back(
          {.what =
               "library " + std::string(collectives::name(op)) + " " + std::to_string(bytes) + " B",
           .call = [&call = call, bytes] { call(static_cast<int>(bytes / kElement)); }});
    }
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 3, .every_block = false}, wire, watchdog);
  LibraryRun run;
  run.warnings = unsteady(blocks);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [op, bytes] = cases[i];
    if (run.operations.empty() || run.operations.back().op != op) {
      run.operations.push_back({op, {}});
    }
    append(bytes, blocks[i], run.operations.back().samples);
  }
  std::erase_if(run.operations, [](const LibrarySamples& each) {
    return std::ranges::none_of(each.samples, [&](const io::Sample& sample) {
      return sample.bytes != each.samples.front().bytes;
    });
  });
  return run;
}

std::vector<Kind> parse_assumed(const std::string& text) {
  std::vector<Kind> assumed;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    const std::size_t equals = word.find('=');
    const auto op = collectives::parse_op(word.substr(0, equals));
    if (equals == std::string::npos || !op) {
      throw UsageError("--assume: must be OPERATION=ALGORITHM, such as allreduce=ring, got " +
                       base::shown_value(word));
    }
    std::vector<std::string_view> known;
    const auto before = assumed.size();
    for (const Kind& kind : kinds()) {
      if (kind.op == *op && !kind.sparse) {
        known.push_back(collectives::name(kind.algorithm));
        if (known.back() == word.substr(equals + 1)) {
          assumed.push_back(kind);
        }
      }
    }
    if (assumed.size() == before) {
      throw UsageError("--assume: " +
                       base::unknown_word("algorithm", word.substr(equals + 1), known));
    }
  }
  return assumed;
}

// Zero vectors keep their value however often they are added. Merges are timed first, because all
// ranks take part in that, and rows are made while only one of them writes.
TableRun run_table(const Predictor& predictor, const Conditions& now, Wire& wire,
                   Watchdog& watchdog) {
  const TableOptions& options = now.options;
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
                                   const LibraryPredictor& predictor, const Conditions& now) {
  const Predictor blocks = without_replies(predictor.segmented);
  Predictor whole = without_replies(predictor.whole);
  whole.children_at_once = true;
  std::vector<ErrorRow> rows;
  for (const LibrarySamples& each : library.operations) {
    const auto kind = std::ranges::find(assumed, each.op, &Kind::op);
    if (kind == assumed.end()) {
      continue;
    }
    const Predictor& messages = kind->algorithm == collectives::AlgorithmId::lp ? blocks : whole;
    for (const auto& [bytes, seconds] : seconds_by_size(each.samples)) {
      rows.push_back(row_of(*kind, static_cast<std::int64_t>(bytes), seconds, messages, now));
      rows.back().algorithm = std::string(kLibraryPrefix) + rows.back().algorithm;
    }
  }
  return rows;
}

} // namespace stepsim::calibrate::mpi
