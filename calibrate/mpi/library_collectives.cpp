#include "calibrate/mpi/library_collectives.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "calibrate/execute/sampling.hpp"
#include "collectives/collective.hpp"

namespace stepsim::calibrate::mpi {

namespace {

using collectives::Op;

constexpr std::array kOperations{Op::allreduce, Op::broadcast, Op::reduce, Op::allgather,
                                 Op::reduce_scatter};

struct LibraryCase {
  Op op{};
  std::int64_t bytes{};
};

// Parts of an all-gather and of a reduce-scatter are whole elements of equal number.
std::vector<LibraryCase> library_cases(std::int64_t most_bytes, bool dense, std::uint32_t ranks) {
  std::vector<LibraryCase> cases;
  for (const Op op : kOperations) {
    const bool parts = op == Op::allgather || op == Op::reduce_scatter;
    for (std::int64_t bytes : collective_sizes(most_bytes, ranks, dense, 1)) {
      bytes -= parts ? bytes % (kElement * ranks) : 0;
      const bool known = !cases.empty() && cases.back().op == op && cases.back().bytes == bytes;
      if (bytes > 0 && !known) {
        cases.push_back({op, bytes});
      }
    }
  }
  return cases;
}

void call(const LibraryCase& each, std::vector<float>& in, std::vector<float>& out, Wire& wire) {
  const int count = static_cast<int>(each.bytes / kElement);
  const int part = count / static_cast<int>(wire.ranks());
  switch (each.op) {
  case Op::allreduce:
    MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, wire.group());
    break;
  case Op::broadcast:
    MPI_Bcast(out.data(), count, MPI_FLOAT, 0, wire.group());
    break;
  case Op::reduce:
    MPI_Reduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, 0, wire.group());
    break;
  case Op::allgather:
    MPI_Allgather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, wire.group());
    break;
  case Op::reduce_scatter: {
    const std::vector<int> parts(wire.ranks(), part);
    MPI_Reduce_scatter(in.data(), out.data(), parts.data(), MPI_FLOAT, MPI_SUM, wire.group());
    break;
  }
  case Op::allgatherv:
  case Op::alltoall:
    break; // not among kOperations
  }
}

} // namespace

LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds, Wire& wire,
                       Watchdog& watchdog) {
  const std::vector<LibraryCase> cases = library_cases(most_bytes, dense, wire.ranks());
  std::vector<float> in(static_cast<std::size_t>(most_bytes / kElement) + 1);
  std::vector<float> out(in.size());
  std::vector<Block> blocks;
  for (const LibraryCase& each : cases) {
    Block& block = blocks.emplace_back();
    block.what = "library " + std::string(collectives::name(each.op)) + " " +
                 std::to_string(each.bytes) + " B";
    block.call = [&wire, &in, &out, &each] { call(each, in, out, wire); };
  }
  measure(blocks, {.max_seconds = max_seconds, .seed = 3, .every_block = false}, wire, watchdog);
  LibraryRun run;
  run.warnings = unsteady(blocks);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (run.operations.empty() || run.operations.back().op != cases[i].op) {
      run.operations.push_back({cases[i].op, {}});
    }
    const std::vector<Repetition> samples = repetitions(cases[i].bytes, blocks[i]);
    std::vector<Repetition>& all = run.operations.back().samples;
    all.insert(all.end(), samples.begin(), samples.end());
  }
  std::erase_if(run.operations, [](const LibrarySamples& each) {
    return std::ranges::none_of(each.samples, [&](const Repetition& sample) {
      return sample.datum.bytes != each.samples.front().datum.bytes;
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

} // namespace stepsim::calibrate::mpi
