// Logs of the OSU micro-benchmarks: a title that names the operation, then rows of a size and times
// in microseconds, perhaps several times. Output of the job is passed over where there is a title.
#include "import/import_osu.hpp"

#include "base/collected.hpp"
#include "import/import_detect.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kTitledOperations{{
    {"Allreduce", "allreduce"},
    {"Broadcast", "broadcast"},
    {"Bcast", "broadcast"},
    {"Reduce", "reduce"},
    {"Allgather", "allgather"},
    {"Reduce_scatter", "reduce_scatter"},
    {"Alltoall", "alltoall"},
    {"All-to-All", "alltoall"},
    {"Exchange", "alltoall"}, // "All-to-All Personalized Exchange"
}};

// The rows below one title; rows below equal titles are one table.
struct Table {
  std::string name;      // "MPI-CUDA Allreduce"; "" without a title
  std::string op;        // "" = unknown
  std::string refusal;   // why its rows are no times of an operation; "" = they are
  bool overlaps = false; // non-blocking: its first time contains computing
  std::int64_t failed{}; // rows whose results were wrong
  std::vector<OsuPoint> points;
};

// "# OSU MPI-CUDA Allreduce Latency Test v7.5". The word before "Latency" is the operation; of
// point-to-point tests it is that of the library. A bandwidth test prints rows of the same shape
// whose numbers are rates; taken for times they would give a cost curve that falls with the size.
Table read_title(std::string_view line) {
  Table table;
  std::string_view subject;
  for (const std::string_view word : words_of(line.substr(line.find("OSU ") + 4))) {
    if (word == "Latency" || word == "Test") {
      break;
    }
    subject = word;
    table.name.append(table.name.empty() ? "" : " ").append(word);
    table.overlaps |= word == "Non-blocking";
    if (word.starts_with("MPI_")) {
      table.refusal = std::string(word) + " is one-sided: use osu_latency";
    }
  }
  if (line.find("Bandwidth") != std::string_view::npos) {
    table.refusal = "osu_bw reports bandwidth, not times; use osu_latency";
  }
  if (subject == "Barrier") {
    table.refusal = "a barrier has no sizes";
  }
  if (table.name == subject) {
    table.name += " Latency";
    table.op = "pingpong";
  }
  for (const auto& [name, op] : kTitledOperations) {
    table.op = name == subject ? op : table.op;
  }
  return table;
}

// Names of the columns behind the size: "# Size  Avg Latency(us)  Min Latency(us)" has two. Blanks
// stand between words as between columns; what ends a name is its unit.
std::vector<std::string> read_columns(std::span<const std::string_view> header) {
  std::vector<std::string> names(1);
  for (const std::string_view word : header) {
    names.back().append(names.back().empty() ? "" : " ").append(word);
    if (word.ends_with(')')) {
      names.emplace_back();
    }
  }
  return names;
}

// The bytes as samples and costs have them. All-gathers and all-to-alls are logged with the bytes
// that a rank contributes, or sends to each other one.
double whole_bytes(const OsuLog& log, const OsuPoint& point) {
  const bool of_one_part = log.op.starts_with("allgather") || log.op == "alltoall";
  return static_cast<double>(point.bytes.value) * static_cast<double>(of_one_part ? log.ranks : 1);
}

constexpr const char* kExpected = "expected size and microseconds";

// Lines come one by one. Without a title every line has to be a row; with one, lines of another
// shape, and all above it, are output of the job: a wrong line counts only if no title follows.
class LogReader {
public:
  LogReader(const std::string& file, const OsuOptions& options)
      : file_(file), value_(options.value), given_ranks_(options.ranks), ranks_(options.ranks) {}

  void line(const TextLine& line) {
    const std::string_view text = untagged(line.text);
    const std::vector<std::string_view> words = words_of(text);
    line_ = line.number;
    if (text.starts_with('#') && text.find("#repetitions") != std::string_view::npos) {
      fail(
          "a log of the Intel MPI Benchmarks or of oneCCL, whose second column counts repetitions: "
          "not read; give sizes and times in the form of OSU");
    }
    if (text.starts_with("# OSU ") && text.find(" Test") != std::string_view::npos) {
      if (!std::exchange(titled_, true)) {
        tables_.clear();
        ranks_ = given_ranks_;
        wrong_.reset();
      }
      Table table = read_title(text);
      const auto same = std::ranges::find(tables_, table.name, &Table::name);
      table_ = static_cast<std::size_t>(same - tables_.begin());
      columns_.clear();
      if (same == tables_.end()) {
        tables_.push_back(std::move(table));
      }
    } else if (words.size() > 2 && words[0] == "#" && words[1] == "Size") {
      columns_ = read_columns(std::span(words).subspan(2));
    } else if (!text.empty() && text.front() != '#' && table_ < tables_.size() &&
               tables_[table_].refusal.empty() && !wrong_) {
      try {
        row(words);
      } catch (const InputError& error) {
        if (titled_) {
          throw;
        }
        wrong_ = error;
      }
    }
  }

  [[nodiscard]] const std::vector<Table>& tables() const {
    if (wrong_) {
      throw InputError(*wrong_);
    }
    return tables_;
  }
  [[nodiscard]] std::optional<std::int64_t> ranks() const { return ranks_; }

private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(file_, std::to_string(line_), message);
  }

  // Place of the time in a row. Tests without the option for full output print only the average.
  [[nodiscard]] std::size_t column() const {
    const bool overlaps = tables_[table_].overlaps;
    if (columns_.empty() && !overlaps) {
      return value_ == OsuValue::average ? 1 : value_ == OsuValue::min ? 2 : 3;
    }
    if (value_ == OsuValue::average && !overlaps) {
      return 1;
    }
    const std::string_view wanted = value_ == OsuValue::average ? "Pure Comm."
                                    : value_ == OsuValue::min   ? "Min "
                                                                : "Max ";
    const auto at = std::ranges::find_if(
        columns_, [&](const std::string& name) { return name.starts_with(wanted); });
    if (at == columns_.end()) {
      fail(value_ == OsuValue::average
               ? "no column Pure Comm.(us), the time of a non-blocking operation"
               : kNoExtremes);
    }
    return static_cast<std::size_t>(at - columns_.begin()) + 1;
  }

  // The size may follow the ranks: "8,4096 12.5". All words are numbers; behind them stands whether
  // the results were right, if the benchmark validated them.
  void row(std::vector<std::string_view> words) {
    const bool failed = words.back() == "Fail";
    if (words.size() > 2 && (failed || words.back() == "Pass")) {
      words.pop_back();
    }
    const std::size_t comma = words[0].find(',');
    const bool with_ranks = comma != std::string_view::npos;
    const std::string_view size = with_ranks ? words[0].substr(comma + 1) : words[0];
    const auto named = with_ranks ? parse_whole(words[0].substr(0, comma)) : std::nullopt;
    const auto bytes = parse_whole(size);
    const bool numbers =
        words.size() > 1 &&
        std::all_of(words.begin() + 1, words.end(), [](auto word) { return parse_real(word); });
    if (numbers && !bytes && parse_real(size)) {
      fail(fmt::format("size must be a whole number of at most 2^53 bytes, got {}", size));
    }
    if (titled_ && (!numbers || !bytes)) {
      return;
    }
    if (!numbers || !bytes || *bytes < 0 || *bytes > base::kMaxExactBytes ||
        (with_ranks && named.value_or(0) < 1)) {
      fail(kExpected);
    }
    const std::size_t place = column();
    if (words.size() <= place) {
      fail(kNoExtremes);
    }
    const auto time = parse_scaled(words[place], -6);
    if (!time) {
      fail(kExpected);
    }
    if (!measured_times().contains(*time)) {
      fail(fmt::format("time {} s, got {}", measured_times().text(), words[place]));
    }
    // Ranks of rows have to agree with each other and with the option.
    if (named && ranks_ && *named != *ranks_) {
      fail(fmt::format("{} ranks, expected {}", *named, *ranks_));
    }
    ranks_ = named ? named : ranks_;
    if (failed) {
      ++tables_[table_].failed;
      return;
    }
    tables_[table_].points.push_back({Bytes{*bytes}, Seconds{*time}, line_});
  }

  static constexpr const char* kNoExtremes = "no minimum and maximum columns: --value avg";
  const std::string& file_;
  OsuValue value_;
  bool titled_ = false;
  std::optional<std::int64_t> given_ranks_, ranks_;
  std::vector<Table> tables_{Table{}}; // one without a name where there is no title
  std::size_t table_ = 0;              // that of the rows to come
  std::optional<InputError> wrong_;    // the first wrong line, as long as no title has come
  std::vector<std::string> columns_;
  std::int64_t line_{};
};

std::string names_of(const std::vector<const Table*>& tables) {
  return base::listed(tables, [](const Table* table) { return table->name; });
}

// The table to import: that of `op`, or the only one whose operation is known.
const Table& choose(const std::vector<Table>& tables, const std::optional<std::string>& op,
                    const std::string& file, std::vector<std::string>& warnings) {
  std::vector<const Table*> known, unknown;
  std::string refusal = "no result rows found";
  for (const Table& table : tables) {
    if (!table.refusal.empty()) {
      warnings.push_back(table.name + " left out: " + table.refusal);
      refusal = table.refusal;
    } else if (table.points.empty() && table.failed > 0) {
      refusal = fmt::format("all {} rows failed validation", table.failed);
    } else if (!table.points.empty()) {
      (table.op.empty() ? unknown : known).push_back(&table);
    }
  }
  if (known.empty() && unknown.empty()) {
    throw InputError(file, "", refusal);
  }
  std::vector<const Table*> chosen = known;
  if (op) {
    std::erase_if(chosen, [&](const Table* table) { return table->op != *op; });
  }
  if (chosen.empty()) { // an operation of ours, perhaps, below a title that does not say so
    chosen = unknown;
  } else if (!unknown.empty()) {
    warnings.push_back(names_of(unknown) + " left out: no operation of ours");
  }
  if (chosen.empty()) {
    throw InputError(file, "", "no table of " + *op + " (" + names_of(known) + ")");
  }
  if (chosen.size() > 1) {
    throw InputError(file, "",
                     "several tests (" + names_of(chosen) +
                         "): give --op, or a file with one of them");
  }
  if (chosen.front()->op.empty() && !op) {
    throw InputError(file, "", "the file does not say which operation: give --op");
  }
  return *chosen.front();
}

} // namespace

OsuLog import_osu(const std::string& file, const OsuOptions& options) {
  LineReader input(file, options.common.max_bytes);
  LogReader reader(input.name(), options);
  for (TextLine line; input.next(line);) {
    reader.line(line);
  }
  OsuLog log;
  log.file = input.name();
  log.name = result_name(options.common, file);
  const Table& table = choose(reader.tables(), options.op, input.name(), log.warnings);
  log.points = table.points;
  log.op = table.op.empty() ? *options.op : table.op;
  log.library = table.name.starts_with("NCCL") ? "nccl" : "mpi";
  if (table.failed > 0) {
    log.warnings.push_back(log.op + ": " + counted(table.failed, "row") +
                           " that failed validation left out");
  }
  // A ping-pong test has two ranks by its nature.
  const auto ranks = log.op == "pingpong" ? 2 : reader.ranks();
  if (log.op == "pingpong" && reader.ranks().value_or(2) != 2) {
    log.warnings.push_back(fmt::format("pingpong: 2 ranks, not {}", *reader.ranks()));
  }
  if (!ranks) {
    throw InputError(input.name(), "", "the file does not say how many ranks: give --ranks");
  }
  log.ranks = *ranks;
  for (const OsuPoint& point : log.points) {
    if (whole_bytes(log, point) > static_cast<double>(base::kMaxExactBytes)) {
      throw InputError(input.name(), std::to_string(point.line),
                       "more than 2^53 bytes on all ranks");
    }
  }
  log.source = make_source("osu", options.common);
  log.source.files.push_back(input.file(file));
  if (options.op) {
    log.source.options.emplace_back("op", *options.op);
  }
  if (options.ranks) {
    log.source.options.emplace_back("ranks", std::to_string(*options.ranks));
  }
  if (options.value != OsuValue::average) {
    log.source.options.emplace_back("value", options.value == OsuValue::min ? "min" : "max");
  }
  return log;
}

// A cost table has one time per size. Two rows of one size are repetitions, which samples keep and
// a table cannot.
CostPoints cost_of(const OsuLog& log) {
  std::vector<OsuPoint> sorted = log.points;
  std::ranges::stable_sort(sorted, {}, [](const OsuPoint& p) { return p.bytes.value; });
  CostPoints cost{log.name, log.op, log.ranks, {}, to_json(log.source)};
  for (const OsuPoint& point : sorted) {
    const double bytes = whole_bytes(log, point);
    if (!cost.table.empty() && cost.table.back().first == bytes) {
      throw InputError(log.file, std::to_string(point.line),
                       fmt::format("size {} appears twice", point.bytes.value));
    }
    if (point.bytes.value > 0) { // an empty message costs nothing by definition
      cost.table.emplace_back(bytes, point.time.value);
    }
  }
  if (cost.table.size() < 2) {
    throw InputError(log.file, "", "needs at least 2 points");
  }
  return cost;
}

Samples samples_of(const OsuLog& log) {
  Samples samples;
  samples.file = log.file;
  samples.name = log.name;
  samples.source = log.source;
  samples.warnings = log.warnings;
  SampleSet& set = samples.sets.emplace_back();
  set.op = log.op;
  // Which algorithm the library chose for a size is not in the log.
  set.algorithm = log.library;
  set.ranks = log.ranks;
  for (const OsuPoint& point : log.points) {
    set.samples.push_back({whole_bytes(log, point), point.time.value, std::nullopt});
  }
  return samples;
}

} // namespace stepsim::io
