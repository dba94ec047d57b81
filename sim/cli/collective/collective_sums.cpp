// Both kinds of records are found by places in the grid: crossovers once per combination of all
// axes but algorithm and size, sums across the axis of operations.
#include "cli/collective/collective_sums.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cli/collective/collective_flags.hpp"
#include "cli/collective/collective_table.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/choose.hpp"
#include "document/fields/written.hpp"
#include "run/collective_record.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

// The keys that tell for which ranks and which link a record holds, in SI units; null where the
// links differ from pair to pair.
io::Json inputs_tree(std::string_view kind, const study::CollectiveFile& file) {
  const collectives::Collective& collective = file.collective;
  const double rate =
      collective.reduction_s_per_byte > 0 ? 1 / collective.reduction_s_per_byte : 0.0;
  const collectives::LinkCost& link = collective.links.all;
  const bool one_link =
      !collective.links.pairs_only && link.per_byte_s > 0 && !file.system.question;
  io::Json tree =
      io::Object{{"record", kind},
                 {"ranks", static_cast<std::int64_t>(collective.ranks)},
                 {"latency_s", one_link ? io::Json(link.latency_s) : io::Json()},
                 {"bandwidth_Bps", one_link ? io::Json(1 / link.per_byte_s) : io::Json()},
                 {"reduction_Bps", rate}};
  if (!file.system.question) {
    study::set_written_rates(file, tree);
  }
  return tree;
}

} // namespace

void Times::add(const Times& other) {
  const auto sum = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  };
  closed_form_s = sum(closed_form_s, other.closed_form_s);
  max_plus_s = sum(max_plus_s, other.max_plus_s);
  events_s = sum(events_s, other.events_s);
  seconds += other.seconds;
}

Times times_of(const io::Json& record) {
  using study::number_in;
  return {number_in(record, "closed_form_s"), number_in(record, "max_plus_s"),
          number_in(record, "events_s"), seconds_of(record)};
}

// Compressed exchanges and auto have no crossover of their own. The search goes on between the
// sizes of the grid, from 1 byte at least.
void add_crossovers(const study::Sweep& sweep, study::Files& files,
                    std::vector<io::Json>& records) {
  const study::Grid& grid = sweep.grid;
  const auto by_algorithm = grid.axis_of("/algorithm");
  const auto by_bytes = grid.axis_of("/bytes");
  std::vector<collectives::AlgorithmId> algorithms;
  for (std::size_t i = 0; by_algorithm && i < grid.axes[*by_algorithm].values.size(); ++i) {
    const auto algorithm =
        collectives::parse_algorithm(grid.axes[*by_algorithm].values[i].as_string());
    if (algorithm && *algorithm != collectives::AlgorithmId::automatic &&
        std::ranges::find(algorithms, *algorithm) == algorithms.end()) {
      algorithms.push_back(*algorithm);
    }
  }
  std::vector<double> bytes;
  for (std::size_t i = 0; by_bytes && i < grid.axes[*by_bytes].values.size(); ++i) {
    bytes.push_back(grid.axes[*by_bytes].values[i].as_double());
  }
  const auto [low, high] = std::ranges::minmax_element(bytes);
  if (algorithms.size() < 2 || bytes.empty() || *low == *high) {
    throw UsageError("--crossovers: needs two algorithms or more and a range of --bytes");
  }
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    if (grid.along(*by_algorithm, point).front() != point ||
        grid.along(*by_bytes, point).front() != point) {
      continue;
    }
    const study::CollectiveFile file = collective_at(sweep, files, point);
    for (const collectives::Crossover& crossover :
         collectives::find_crossovers(file.collective, algorithms, std::max(1.0, *low), *high)) {
      io::Json tree = inputs_tree("crossover", file);
      tree.set("op", collectives::name(file.collective.op));
      tree.set("below", collectives::name(crossover.below));
      tree.set("above", collectives::name(crossover.above));
      tree.set("bytes", crossover.bytes);
      records.push_back(std::move(tree));
    }
  }
}

// The sum stands where the first operation does.
void add_sums(const study::Sweep& sweep, study::Files& files, const std::vector<Times>& times,
              std::vector<io::Json>& records) {
  const auto axis = sweep.grid.axis_of("/op");
  for (std::int64_t point = 0; axis && point < sweep.grid.points(); ++point) {
    const std::vector<std::int64_t> ops = sweep.grid.along(*axis, point);
    if (ops.front() != point) {
      continue;
    }
    Times sum = times[static_cast<std::size_t>(point)];
    for (std::size_t i = 1; i < ops.size(); ++i) {
      sum.add(times[static_cast<std::size_t>(ops[i])]);
    }
    const study::CollectiveFile file = collective_at(sweep, files, point);
    io::Json tree = inputs_tree("sum", file);
    tree.set("algorithm", file.system.question ? std::string_view("library")
                                               : collectives::name(file.collective.algorithm));
    tree.set("bytes", file.collective.bytes);
    tree.set("closed_form_s", io::or_null(sum.closed_form_s));
    tree.set("max_plus_s", io::or_null(sum.max_plus_s));
    tree.set("events_s", io::or_null(sum.events_s));
    tree.set("seconds", sum.seconds);
    records.push_back(std::move(tree));
  }
}

} // namespace stepsim::cli
