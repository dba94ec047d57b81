// Columns appear where their value varies over the grid; what is the same in all rows would be
// noise.
#include "cli/collective/collective_table.hpp"

#include <algorithm>
#include <optional>

#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

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
std::string algorithm_text(const io::Json& record) {
  std::string text = record.find("algorithm")->as_string();
  if (const io::Json& chosen = *record.find("chosen"); chosen.is_string() && text == "auto") {
    text.append(": ").append(chosen.as_string());
  }
  return text;
}

// "-" for a word that the record does not have.
std::string word_of(const io::Json& record, std::string_view key) {
  const io::Json* value = record.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : "-";
}

// What the library takes: "tree/ll128".
std::string pair_text(const io::Json& record) {
  const std::string protocol = word_of(record, "protocol");
  return protocol == "-" ? protocol : word_of(record, "chosen") + "/" + protocol;
}

} // namespace

double seconds_of(const io::Json& record) {
  return record.find(record.find("method")->as_string() + "_s")->as_double();
}

bool CollectiveTable::varies(std::string_view pointer) const {
  const auto axis = sweep_.grid.axis_of(pointer);
  return axis && sweep_.grid.axes[*axis].values.size() > 1;
}

CollectiveTable::CollectiveTable(const study::Sweep& sweep) : sweep_(sweep) {
  varied_entries_ = varies("/compression/density") || varies("/compression/k");
  varied_network_ = varies("/network/latency_s") || varies("/network/bandwidth_Bps");
  varied_delay_ = varies("/network/delay_s");
  const io::Json* method = sweep.base.find("method");
  all_methods_ = method != nullptr && *method == io::Json("all");
  const auto add = [this](std::initializer_list<const char*> headings) {
    table_.headings.insert(table_.headings.end(), headings.begin(), headings.end());
  };
  add({"op", "algorithm"});
  for (const std::string_view key : {"preset", "shape"}) {
    if (varies("/" + std::string(key))) {
      varied_words_.push_back(key);
      add({key.data()});
    }
  }
  add({"ranks", "bytes"});
  has_library_ = sweep.has_library_keys();
  if (has_library_) {
    add({"algorithm/protocol", "limited_by"});
  }
  if (varied_entries_) {
    add({"k"});
  }
  if (varied_network_) {
    add({"latency [us]", "bandwidth [GB/s]"});
  }
  if (varied_delay_) {
    add({"delay [us]"});
  }
  if (all_methods_) {
    add({"closed form [us]", "max plus [us]", "events [us]"});
  } else {
    add({"time [us]", "method"});
  }
  add({"algbw [GB/s]", "busbw [GB/s]", "time / bound", ""});
}

// A point that failed shows what it was asked for, and its error in the last column.
void CollectiveTable::add(std::int64_t point, const io::Json& record) {
  points_.push_back(point);
  std::vector<std::string>& row = table_.rows.emplace_back();
  const auto add_cells = [&row](std::initializer_list<std::string> cells) {
    row.insert(row.end(), cells);
  };
  if (const std::string error = study::error_in(record); !error.empty()) {
    const io::Json asked = study::scenario_at(sweep_.base, sweep_.grid, point);
    std::vector<std::string_view> keys{"op", "algorithm"};
    keys.insert(keys.end(), varied_words_.begin(), varied_words_.end());
    keys.insert(keys.end(), {"ranks", "bytes"});
    for (const std::string_view key : keys) {
      const io::Json* value = asked.find(key);
      row.push_back(value == nullptr     ? "-"
                    : value->is_string() ? value->as_string()
                                         : io::compact(*value));
    }
    row.resize(table_.headings.size() - 1, "-");
    row.push_back(error);
    return;
  }
  const auto number = [&](std::string_view key) { return study::number_in(record, key); };
  seconds_[point] = seconds_of(record);
  add_cells({record.find("op")->as_string(), algorithm_text(record)});
  for (const std::string_view key : varied_words_) {
    row.push_back(study::scenario_at(sweep_.base, sweep_.grid, point).find(key)->as_string());
  }
  add_cells({std::to_string(record.find("ranks")->as_integer()),
             base::readable_bytes(record.find("bytes")->as_double())});
  if (has_library_) {
    add_cells({pair_text(record), word_of(record, "limited_by")});
  }
  if (varied_entries_) {
    const io::Json& k = *record.find("k");
    add_cells({k.is_null() ? "-" : std::to_string(k.as_integer())});
  }
  if (varied_network_) { // no latency is one of 0
    add_cells({microseconds(number("latency_s").value_or(0)), gigabytes(number("bandwidth_Bps"))});
  }
  if (varied_delay_) {
    add_cells({microseconds(number("delay_s"))});
  }
  if (all_methods_) {
    add_cells({microseconds(number("closed_form_s")), microseconds(number("max_plus_s")),
               microseconds(number("events_s"))});
  } else {
    add_cells({microseconds(seconds_[point]), record.find("method")->as_string()});
  }
  add_cells({gigabytes(number("algbw_Bps")), gigabytes(number("busbw_Bps")),
             cell(number("gap_ratio")), ""});
}

// Equal times are all marked; points of other shards and failed ones do not count.
Table CollectiveTable::finished() {
  const auto axis = sweep_.grid.axis_of("/algorithm");
  for (std::size_t i = 0; varies("/algorithm") && i < points_.size(); ++i) {
    const auto own = seconds_.find(points_[i]);
    const auto along = sweep_.grid.along(*axis, points_[i]);
    const bool best = own != seconds_.end() && std::ranges::all_of(along, [&](std::int64_t other) {
                        const auto found = seconds_.find(other);
                        return found == seconds_.end() || own->second <= found->second;
                      });
    if (best) {
      table_.rows[i].back() = "best";
    }
  }
  return std::move(table_);
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
