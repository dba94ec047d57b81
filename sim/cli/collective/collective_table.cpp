// Columns appear where their value varies over the grid; what is the same in all rows would be
// noise.
#include "cli/collective/collective_table.hpp"

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::cli {

namespace {

// "-" for a time that no evaluator gave.
std::string microseconds(const std::optional<double>& seconds) {
  return seconds ? base::significant(*seconds * 1e6) : "-";
}

std::string gigabytes(const std::optional<double>& rate) {
  return rate ? base::significant(*rate / 1e9) : "-";
}

// With auto also what it chose: "auto: lp".
std::string algorithm_text(const coll::CollectiveRecord& record) {
  if (record.compressed) {
    return std::string(coll::row(record.compressed->method).name);
  }
  std::string text(coll::name(record.algorithm));
  if (record.choice) {
    text.append(": ").append(coll::name(record.choice->chosen));
  }
  return text;
}

} // namespace

// Columns of what varies, then of what is asked for.
Table collective_table(const CollectiveGrid& grid,
                       const std::vector<coll::CollectiveRecord>& records, bool all) {
  const bool varied_network = grid.varies("--latency") || grid.varies("--bandwidth");
  Table table{{"op", "algorithm", "ranks", "bytes"}, {}};
  const auto add = [&table](std::initializer_list<const char*> headings) {
    table.headings.insert(table.headings.end(), headings.begin(), headings.end());
  };
  const bool varied_entries = grid.varies("--density") || grid.varies("--k");
  if (varied_entries) {
    add({"k"});
  }
  if (varied_network) {
    add({"latency [us]", "bandwidth [GB/s]"});
  }
  if (all) {
    add({"closed form [us]", "max plus [us]", "events [us]"});
  } else {
    add({"time [us]", "method"});
  }
  add({"algbw [GB/s]", "busbw [GB/s]", "time / bound", ""});
  for (std::size_t i = 0; i < records.size(); ++i) {
    const coll::CollectiveRecord& record = records[i];
    std::vector<std::string> row{std::string(coll::name(record.op)), algorithm_text(record),
                                 std::to_string(record.ranks), base::readable_bytes(record.bytes)};
    const auto add_cells = [&row](std::initializer_list<std::string> cells) {
      row.insert(row.end(), cells);
    };
    if (varied_entries) {
      const bool selects = record.compressed && record.compressed->k;
      add_cells({selects ? std::to_string(*record.compressed->k) : "-"});
    }
    if (varied_network) {
      add_cells({microseconds(record.link.latency_s), gigabytes(record.bandwidth_Bps)});
    }
    if (all) {
      add_cells({microseconds(record.closed_form_s), microseconds(record.max_plus_s),
                 microseconds(record.events_s)});
    } else {
      add_cells({microseconds(record.seconds), std::string(coll::name(record.method))});
    }
    // Among the points that differ in the algorithm alone; equal times are all marked.
    bool best = grid.varies("--algorithm");
    for (const std::int64_t other : grid.alike(static_cast<std::int64_t>(i), "--algorithm")) {
      best = best && record.seconds <= records[static_cast<std::size_t>(other)].seconds;
    }
    add_cells({gigabytes(record.algbw_Bps), gigabytes(record.busbw_Bps), cell(record.gap_ratio),
               best ? "best" : ""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The records are read back as trees, because they are already complete for JSON then.
std::string extra_text(const std::vector<io::Json>& extra) {
  std::string out;
  for (const io::Json& tree : extra) {
    const std::string bytes = base::readable_bytes(tree.find("bytes")->as_double());
    std::string place = std::to_string(tree.find("ranks")->as_integer()) + " ranks";
    if (!tree.find("bandwidth_Bps")->is_null()) {
      place += ", " + base::readable_seconds(tree.find("latency_s")->as_double()) + ", " +
               base::readable_rate(tree.find("bandwidth_Bps")->as_double());
    }
    if (tree.find("record")->as_string() == "crossover") {
      out += "crossover: " + tree.find("op")->as_string() + ", " + place + ": " +
             tree.find("below")->as_string() + " up to " + bytes + ", then " +
             tree.find("above")->as_string() + "\n";
    } else {
      out += "sum: " + tree.find("algorithm")->as_string() + ", " + place + ", " + bytes + ": " +
             base::readable_seconds(tree.find("seconds")->as_double()) + "\n";
    }
  }
  return out.empty() ? out : "\n" + out;
}

} // namespace stepsim::cli
