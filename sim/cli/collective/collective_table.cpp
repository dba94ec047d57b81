// Columns appear where their value varies over the grid; what is the same in all rows would be
// noise.
#include "cli/collective/collective_flags.hpp"

#include "collectives/algorithms.hpp"
#include "document/fields/members.hpp"
#include "run/collective_record.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

constexpr std::string_view kRate = io::key_of<&collectives::CollectiveRecord::bandwidth_Bps>();

// With auto also what it chose: "auto: lp".
std::string algorithm(const io::Json& record, const Column& column) {
  const std::string text = in_full(record, column);
  const io::Json* chosen = record.find("chosen");
  return text == "auto" && chosen != nullptr && chosen->is_string()
             ? text + ": " + chosen->as_string()
             : text;
}

// What the library takes: "tree/ll128".
std::string library_pair(const io::Json& record, const Column&) {
  const std::string protocol = in_full(record, {"protocol", ""});
  return protocol == "-" ? protocol : in_full(record, {"chosen", ""}) + "/" + protocol;
}

std::string bytes(const io::Json& record, const Column& column) {
  return base::readable_bytes(record.find(column.key)->as_double());
}

// No latency is one of 0.
std::string latency(const io::Json& record, const Column& column) {
  return cell(study::number_in(record, column.key).value_or(0) * column.factor);
}

// The keys that tell for which ranks and which link a record holds, in SI units; null where the
// links differ from pair to pair.
io::Json inputs_tree(std::string_view kind, const study::CollectiveFile& file) {
  const collectives::Collective& collective = file.collective;
  const double rate =
      collective.reduction_s_per_byte > 0 ? 1 / collective.reduction_s_per_byte : 0.0;
  const collectives::LinkCost& link = collective.links.all;
  const bool one_link = !collective.links.pairs_only && link.per_byte_s > 0 && !file.question;
  io::Json tree = io::Object{{"record", kind},
                             {"ranks", static_cast<std::int64_t>(collective.ranks)},
                             {"latency_s", one_link ? io::Json(link.latency_s) : io::Json()}};
  tree.set(kRate, one_link ? io::Json(1 / link.per_byte_s) : io::Json());
  tree.set("reduction_Bps", rate);
  if (!file.question) {
    study::set_written_rates(file, tree);
  }
  return tree;
}

} // namespace

bool CollectiveTable::varies(std::string_view pointer) const {
  const auto axis = sweep_.grid.axis_of(pointer);
  return axis && sweep_.grid.axes[*axis].values.size() > 1;
}

CollectiveTable::CollectiveTable(const study::Sweep& sweep) : sweep_(sweep) {
  const auto add = [this](std::initializer_list<Column> columns) {
    columns_.insert(columns_.end(), columns);
  };
  add({{"op", "op", 1, in_full}, {"algorithm", "algorithm", 1, algorithm}});
  for (const char* key : {"preset", "shape"}) {
    if (varies("/" + std::string(key))) {
      add({{key, key, 1, in_full}});
    }
  }
  add({{"ranks", "ranks", 1, in_full}, {"bytes", "bytes", 1, bytes}});
  asked_ = columns_.size();
  if (sweep.has_library_keys()) {
    add({{"protocol", "algorithm/protocol", 1, library_pair},
         {"limited_by", "limited_by", 1, in_full}});
  }
  if (varies(io::pointer_to<&collectives::CompressedRecord::density, "/compression/">()) ||
      varies("/compression/k")) {
    add({{"k", "k", 1, in_full}});
  }
  if (varies("/network/latency_s") ||
      varies(io::pointer_to<&collectives::CollectiveRecord::bandwidth_Bps, "/network/">())) {
    add({{"latency_s", "latency [us]", 1e6, latency},
         {std::string(kRate), "bandwidth [GB/s]", 1e-9}});
  }
  if (varies("/network/delay_s")) {
    add({{"delay_s", "delay [us]", 1e6}});
  }
  const io::Json* method = sweep.base.find("method");
  if (method != nullptr && *method == io::Json("all")) {
    add({{"closed_form_s", "closed form [us]", 1e6},
         {"max_plus_s", "max plus [us]", 1e6},
         {"events_s", "events [us]", 1e6}});
  } else {
    add({{"seconds", "time [us]", 1e6}, {"method", "method", 1, in_full}});
  }
  add({{"algbw_Bps", "algbw [GB/s]", 1e-9},
       {"busbw_Bps", "busbw [GB/s]", 1e-9},
       {"gap_ratio", "time / bound"}});
  table_ = table_of({}, columns_);
  table_.headings.emplace_back();
}

// A point that failed shows what it was asked for, and its error in the last column.
void CollectiveTable::add(std::int64_t point, const io::Json& record) {
  points_.push_back(point);
  std::vector<std::string>& row = table_.rows.emplace_back();
  const io::Json asked = study::scenario_at(sweep_.base, sweep_.grid, point);
  const std::string error = study::error_in(record);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    row.push_back(!error.empty() ? (i < asked_ ? in_full(asked, column) : "-")
                  : column.key == "preset" || column.key == "shape" ? in_full(asked, column)
                                                                    : cell_of(record, column));
  }
  row.push_back(error);
  if (error.empty()) {
    seconds_[point] = record.find("seconds")->as_double();
  }
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
std::vector<std::string> extra_sentences(const std::vector<io::Json>& extra) {
  return base::collected<std::string>(extra, [](const io::Json& tree) {
    const std::string bytes = base::readable_bytes(tree.find("bytes")->as_double());
    std::string place = base::counted(tree.find("ranks")->as_integer(), "rank");
    if (!tree.find(kRate)->is_null()) {
      place += ", " + base::readable_seconds(tree.find("latency_s")->as_double()) + ", " +
               base::readable_rate(tree.find(kRate)->as_double());
    }
    return tree.text("record") == "crossover"
               ? "crossover: " + tree.text("op") + ", " + place + ": " + tree.text("below") +
                     " up to " + bytes + ", then " + tree.text("above")
               : "sum: " + tree.text("algorithm") + ", " + place + ", " + bytes + ": " +
                     base::readable_seconds(tree.find("seconds")->as_double());
  });
}

// Both kinds of records are found by places in the grid: crossovers once per combination of all
// axes but algorithm and size, sums across the axis of operations.

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
          number_in(record, "events_s"), record.find("seconds")->as_double()};
}

// Compressed exchanges and auto have no crossover of their own. The search goes on between the
// sizes of the grid, from 1 byte at least.
void add_crossovers(const study::Sweep& sweep, study::Files& files,
                    std::vector<io::Json>& records) {
  const study::Grid& grid = sweep.grid;
  const auto by_algorithm = grid.axis_of("/algorithm");
  const auto by_bytes = grid.axis_of("/bytes");
  std::vector<std::string> algorithms;
  std::vector<std::size_t> places; // of the algorithms on their axis
  for (std::size_t i = 0; by_algorithm && i < grid.axes[*by_algorithm].values.size(); ++i) {
    const std::string& word = grid.axes[*by_algorithm].values[i].as_string();
    if (word != collectives::name(collectives::AlgorithmId::automatic) &&
        !study::exchange_method(io::Json(word)) &&
        std::ranges::find(algorithms, word) == algorithms.end()) {
      algorithms.push_back(word);
      places.push_back(i);
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
    const std::vector<std::int64_t> points = grid.along(*by_algorithm, point);
    const auto costs = base::collected<collectives::CostByBytes>(places, [&](std::size_t place) {
      return study::cost_by_bytes(collective_at(sweep, files, points[place]));
    });
    const study::CollectiveFile file = collective_at(sweep, files, points[places.front()]);
    for (const collectives::Crossover& crossover :
         collectives::find_crossovers(costs, std::max(1.0, *low), *high)) {
      io::Json tree = inputs_tree("crossover", file);
      tree.set("op", collectives::name(file.collective.op));
      tree.set("below", algorithms[crossover.below]);
      tree.set("above", algorithms[crossover.above]);
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
    tree.set("algorithm", file.question ? std::string_view("library")
                                        : collectives::name(file.collective.algorithm));
    tree.set("bytes", file.collective.bytes);
    io::set_members<&Times::closed_form_s, &Times::max_plus_s, &Times::events_s, &Times::seconds>(
        sum, tree);
    records.push_back(std::move(tree));
  }
}

} // namespace stepsim::cli
