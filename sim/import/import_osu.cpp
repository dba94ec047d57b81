// Logs of the OSU micro-benchmarks: a title that names the operation, then rows of a size and times
// in microseconds. Output of the job between the rows is passed over once a title was seen; without
// one, every line has to be a row.
#include "import/import_osu.hpp"

#include <fmt/core.h>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTitledOperations{{
    {"Allreduce", "allreduce"},
    {"Broadcast", "broadcast"},
    {"Bcast", "broadcast"},
    {"Reduce", "reduce"},
    {"Allgather", "allgather"},
    {"Reduce_scatter", "reduce_scatter"},
    {"Alltoall", "alltoall"},
    {"Exchange", "alltoall"}, // "All-to-All Personalized Exchange"
}};

// The operation of the title "# OSU MPI-CUDA Allreduce Latency Test v7.5", "" if it is unknown. The
// word before "Latency" is the operation; of point-to-point tests it is "MPI" or "MPI-CUDA".
// A bandwidth test prints rows of the same shape whose numbers are rates; taken for times they
// would give a cost curve that falls with the size.
std::string read_title(std::string_view line, const std::string& file) {
  if (line.find("Bandwidth") != std::string_view::npos) {
    throw InputError(file, "", "osu_bw reports bandwidth, not times; use osu_latency");
  }
  const std::vector<std::string_view> words = words_of(line);
  std::string_view subject;
  for (const std::string_view word : words) {
    if (word == "Latency") {
      subject = subject.starts_with("MPI") ? "Latency" : subject;
      break;
    }
    subject = word;
  }
  if (subject == "Latency") {
    return "pingpong";
  }
  for (const auto& [name, op] : kTitledOperations) {
    if (name == subject) {
      return std::string(op);
    }
  }
  return "";
}

// A point, with the ranks where the row names them.
struct OsuRow {
  OsuPoint point;
  std::optional<std::int64_t> ranks;
};

// The bytes as samples and costs have them. All-gathers and all-to-alls are logged with the bytes
// that a rank contributes, or sends to each other one.
double whole_bytes(const OsuLog& log, const OsuPoint& point) {
  const bool of_one_part = log.op.starts_with("allgather") || log.op == "alltoall";
  return static_cast<double>(point.bytes.value) * static_cast<double>(of_one_part ? log.ranks : 1);
}

constexpr const char* kExpected = "expected size and microseconds";

// Empty if the line does not start with a size.
std::optional<OsuRow> read_row(const TextLine& line, OsuValue value, const LineReader& input) {
  const std::vector<std::string_view> words = words_of(line.text);
  std::string_view size = words.front();
  OsuRow row;
  row.point.line = line.number;
  if (const std::size_t comma = size.find(','); comma != std::string_view::npos) {
    row.ranks = parse_whole(size.substr(0, comma));
    size.remove_prefix(comma + 1);
    if (!row.ranks) {
      return std::nullopt;
    }
  }
  const auto bytes = parse_whole(size);
  if (!bytes && parse_real(size) && words.size() > 1 && parse_real(words[1])) {
    input.fail(fmt::format("size must be a whole number of at most 2^53 bytes, got {}", size));
  }
  if (!bytes) {
    return std::nullopt;
  }
  if (*bytes < 0 || *bytes > base::kMaxExactBytes || (row.ranks && *row.ranks < 1)) {
    input.fail(kExpected);
  }
  // Columns stand in the order size, average, minimum, maximum; tests without the option for full
  // output print only the average.
  const std::size_t column = value == OsuValue::average ? 1 : value == OsuValue::min ? 2 : 3;
  if (words.size() <= column) {
    input.fail(words.size() < 2 ? kExpected : "no minimum and maximum columns: --value avg");
  }
  const auto time = parse_scaled(words[column], -6);
  if (!time) {
    input.fail(kExpected);
  }
  if (!measured_times().contains(*time)) {
    input.fail(fmt::format("time {} s, got {}", measured_times().text(), words[column]));
  }
  row.point.bytes = Bytes{*bytes};
  row.point.time = Seconds{*time};
  return row;
}

} // namespace

OsuLog import_osu(const std::string& file, const OsuOptions& options) {
  LineReader input(file, options.common.max_bytes);
  OsuLog log;
  log.file = input.name();
  log.name = result_name(options.common, file);
  std::optional<std::string> title; // empty if there is none
  std::optional<std::int64_t> ranks = options.ranks;
  for (TextLine line; input.next(line);) {
    const std::string_view text = trimmed(line.text);
    if (text.starts_with('#')) {
      if (text.find("OSU MPI") != std::string_view::npos) {
        title = read_title(text, input.name());
      }
      continue;
    }
    if (text.empty()) {
      continue;
    }
    const auto row = read_row(line, options.value, input);
    if (!row && !title) {
      input.fail(kExpected);
    }
    if (!row) {
      continue; // output of the job between the rows
    }
    if (row->ranks && ranks && *row->ranks != *ranks) {
      input.fail(fmt::format("{} ranks, expected {}", *row->ranks, *ranks));
    }
    // Rows "8,4096 12.5" name the ranks; they have to agree with each other and with the option.
    ranks = row->ranks ? row->ranks : ranks;
    log.points.push_back(row->point);
  }
  if (log.points.empty()) {
    throw InputError(input.name(), "", "no result rows found");
  }
  // What the user says goes before the title.
  log.op = options.op.value_or(title.value_or(""));
  if (log.op.empty()) {
    throw InputError(input.name(), "", "the file does not say which operation: give --op");
  }
  // A ping-pong test has two ranks by its nature.
  if (!ranks && log.op == "pingpong") {
    ranks = 2;
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
  SampleSet& set = samples.sets.emplace_back();
  set.op = log.op;
  // Which algorithm the library chose for a size is not in the log.
  set.algorithm = "mpi";
  set.ranks = log.ranks;
  for (const OsuPoint& point : log.points) {
    set.samples.push_back({whole_bytes(log, point), point.time.value, std::nullopt});
  }
  return samples;
}

} // namespace stepsim::io
