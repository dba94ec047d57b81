// Every case is predicted and measured in the same run; flags say which rows test the model and
// which test the machine.
#include "calibrate/mpi/measured_table.hpp"

#include <algorithm>
#include <cmath>

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
std::vector<Case> all_cases(const TableOptions& options, const Wire& wire) {
  std::vector<Case> cases;
  for (const Kind& kind : kinds()) {
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

// A sparse list is made anew before each sample, which consumes it.
std::vector<Block> blocks_of(const std::vector<Case>& cases, Wire& wire, Buffers& buffers,
                             coll::SparseVector& list) {
  std::vector<Block> blocks;
  for (const Case& each : cases) {
    Block& block = blocks.emplace_back();
    block.what = name(each.kind) + " " + std::to_string(each.bytes) + " B";
    if (each.kind.sparse) {
      const auto k = static_cast<std::uint32_t>(each.bytes / kEntry);
      block.prepare = [&wire, &list, k] { list = sparse_selection(wire.rank(), k); };
      block.call = [&wire, &list, &each] { run_sparse(each.program, wire, list); };
    } else {
      block.call = [&wire, &buffers, &each] { (void)run(each.program, wire, buffers); };
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

// More processes than cores make short collectives wait for the scheduler: such rows do not count.
ErrorRow row_of(const Case& each, const Block& block, Predictor predictor, const LinkEstimate& link,
                const Crowding& crowd, const TableOptions& options, Wire& wire) {
  if (each.kind.sparse) {
    predictor.merge_s = slowest_merge(each.bytes, wire);
  }
  std::vector<double> samples = block.all();
  std::ranges::sort(samples);
  ErrorRow row;
  row.op = coll::name(each.kind.op);
  row.algorithm = algorithm_name(each.kind);
  row.ranks = wire.ranks();
  row.bytes = each.bytes;
  row.predicted_s = predict(each.kind, wire.ranks(), each.bytes, options.messages, predictor);
  row.measured_s = base::median(samples);
  row.min_s = samples.front();
  const double rank = std::ceil(0.9 * static_cast<double>(samples.size()));
  row.p90_s = samples[static_cast<std::size_t>(rank) - 1];
  row.bound = bound_of(each.kind, wire.ranks(), each.bytes, options.messages, predictor);
  if (link.host_bound()) {
    row.flags.emplace_back("host_bound");
  }
  if (crowd.processes > crowd.cores && row.predicted_s < kStartUps * link.alpha) {
    row.flags.emplace_back("start_up_bound");
  }
  if (static_cast<double>(each.bytes) > options.most_probed) {
    row.flags.emplace_back("extrapolated");
  }
  row.rate = options.rate;
  row.transport = options.transport;
  return row;
}

} // namespace

// Zero vectors keep their value however often they are added.
TableRun run_table(const Predictor& predictor, const LinkEstimate& link, const Crowding& crowd,
                   const TableOptions& options, Wire& wire, Watchdog& watchdog) {
  const std::vector<Case> cases = all_cases(options, wire);
  Buffers buffers(options.most_bytes / kElement + 1); // zeros: sums stay what they are
  coll::SparseVector list;
  std::vector<Block> blocks = blocks_of(cases, wire, buffers, list);
  measure(blocks, options.max_seconds, 2, wire, watchdog);
  TableRun result;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    result.rows.push_back(row_of(cases[i], blocks[i], predictor, link, crowd, options, wire));
  }
  result.warnings = unsteady(blocks);
  return result;
}

} // namespace stepsim::calibrate::mpi
