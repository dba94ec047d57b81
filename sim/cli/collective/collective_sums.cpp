// Both kinds of records are found by places in the grid: crossovers once per combination of all
// axes but algorithm and size, sums across the first axis.
#include "cli/collective/collective_sums.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cli/collective/collective_record.hpp"
#include "coll/algorithms.hpp"
#include "coll/crossovers.hpp"

namespace stepsim::cli {

namespace {

// The keys that tell for which ranks and which link a record holds, in SI units; null where the
// links differ from pair to pair.
io::Json inputs_tree(std::string_view kind, const coll::Collective& collective) {
  const double rate =
      collective.reduction_s_per_byte > 0 ? 1 / collective.reduction_s_per_byte : 0.0;
  const coll::LinkCost& link = collective.links.all;
  const bool one_link = !collective.links.pairs_only && link.per_byte_s > 0;
  return io::Object{{"record", kind},
                    {"ranks", static_cast<std::int64_t>(collective.ranks)},
                    {"latency_s", one_link ? io::Json(link.latency_s) : io::Json()},
                    {"bandwidth_Bps", one_link ? io::Json(1 / link.per_byte_s) : io::Json()},
                    {"reduction_Bps", rate}};
}

} // namespace

// A rate of 0 stands for additions that cost nothing and is no typed value to restore.
void set_typed_rates(const CollectiveGrid& grid, std::int64_t point, io::Json& tree) {
  if (const std::optional<double> rate = grid.value(point, "--bandwidth")) {
    tree.set("bandwidth_Bps", *rate);
  }
  if (tree.find("reduction_Bps")->as_double() > 0) {
    tree.set("reduction_Bps", grid.value(point, "--reduction-rate").value_or(0));
  }
}

Times times_of(const coll::CollectiveRecord& record) {
  return {record.closed_form_s, record.max_plus_s, record.events_s, record.seconds};
}

// Compressed exchanges and auto have no crossover of their own. The search goes on between the
// sizes of the grid, from 1 byte at least.
void add_crossovers(const CollectiveGrid& grid, std::vector<io::Json>& records) {
  std::vector<coll::AlgorithmId> algorithms;
  for (const double word : grid.axis("--algorithm").values) {
    const auto algorithm = static_cast<coll::AlgorithmId>(static_cast<int>(word));
    if (!compression_method(word) && algorithm != coll::AlgorithmId::automatic &&
        std::ranges::find(algorithms, algorithm) == algorithms.end()) {
      algorithms.push_back(algorithm);
    }
  }
  const auto& bytes = grid.axis("--bytes").values;
  const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
  if (algorithms.size() < 2 || *low == *high) {
    throw UsageError("--crossovers: needs two algorithms or more and a range of --bytes");
  }
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    if (!grid.is_first(point, "--algorithm") || !grid.is_first(point, "--bytes")) {
      continue;
    }
    const coll::Collective collective = grid.at(point);
    for (const coll::Crossover& crossover :
         coll::find_crossovers(collective, algorithms, std::max(1.0, *low), *high)) {
      io::Json tree = inputs_tree("crossover", collective);
      tree.set("op", coll::name(collective.op));
      tree.set("below", coll::name(crossover.below));
      tree.set("above", coll::name(crossover.above));
      tree.set("bytes", crossover.bytes);
      set_typed_rates(grid, point, tree);
      records.push_back(std::move(tree));
    }
  }
}

// Points that differ in the operation alone are per_op apart, because the operation varies slowest.
void add_sums(const CollectiveGrid& grid, const std::vector<Times>& times,
              std::vector<io::Json>& records) {
  const auto ops = static_cast<std::int64_t>(grid.axis("--op").values.size());
  const std::int64_t per_op = grid.points() / ops; // the operation varies slowest
  for (std::int64_t point = 0; ops > 1 && point < per_op; ++point) {
    Times sum = times[static_cast<std::size_t>(point)];
    for (std::int64_t op = 1; op < ops; ++op) {
      sum.add(times[static_cast<std::size_t>(point + op * per_op)]);
    }
    const coll::Collective collective = grid.at(point);
    io::Json tree = inputs_tree("sum", collective);
    tree.set("algorithm", coll::name(collective.algorithm));
    tree.set("bytes", collective.bytes);
    tree.set("closed_form_s", or_null(sum.closed_form_s));
    tree.set("max_plus_s", or_null(sum.max_plus_s));
    tree.set("events_s", or_null(sum.events_s));
    tree.set("seconds", sum.seconds);
    set_typed_rates(grid, point, tree);
    records.push_back(std::move(tree));
  }
}

} // namespace stepsim::cli
