// Tables of rows, from either form of log, to one set of samples per operation. Bandwidths in the
// log follow from sizes and times; they are compared with what is computed here, because a
// difference means that the log was read wrongly.

#include "import/nccl/import_nccl_tests.hpp"

#include "document/json_text.hpp"
#include "nccl/node_links.hpp"

namespace stepsim::io {

namespace {

constexpr double kBusTolerance = 1e-3;

// Programs of nccl-tests and the operations that they measure. A name that is a part of others
// comes last.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPrograms{{
    {"all_reduce_perf", "allreduce"},
    {"all_gather_perf", "allgather"},
    {"reduce_scatter_perf", "reduce_scatter"},
    {"broadcast_perf", "broadcast"},
    {"bcast_perf", "broadcast"},
    {"alltoall_perf", "alltoall"},
    {"sendrecv_perf", "sendrecv"},
    {"reduce_perf", "reduce"},
}};

// "allreduce_job02.sh.nccl" -> "allreduce"; "" for a name with no operation or with several.
std::string_view op_of_file_name(std::string_view path) {
  const auto letters = [](std::string_view text) {
    std::string kept = lower_case(text);
    std::erase_if(kept, [](char c) { return c < 'a' || c > 'z'; });
    return kept;
  };
  std::string name = letters(path.substr(path.find_last_of('/') + 1));
  std::string_view found;
  for (const auto& [program, op] : kPrograms) {
    const std::string word = letters(program.substr(0, program.find("_perf")));
    for (std::size_t at = 0; (at = name.find(word)) != std::string::npos;) {
      if (!found.empty() && found != op) {
        return "";
      }
      found = op;
      name.replace(at, word.size(), "-");
    }
  }
  return found;
}

// The logged average against the mean over all rows and both halves.
void compare_busbw(const NcclTable& table, const SampleSet& set,
                   std::vector<std::string>& warnings) {
  double sum = 0;
  std::size_t count = 0;
  for (const NcclRow& row : table.rows) {
    for (const NcclHalf& half : row.halves) {
      for (const double time : half.times_s) {
        sum += static_cast<double>(row.bytes) / time * bus_factor(set.op, set.ranks) /
               static_cast<double>(half.times_s.size());
      }
      count += half.present ? 1 : 0;
    }
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(count, 1));
  if (table.logged_busbw && std::abs(mean - *table.logged_busbw) > kBusTolerance * mean) {
    warnings.push_back(set.op + ": average bus bandwidth " + base::significant(mean / 1e9) +
                       " GB/s from sizes and times, the log says " +
                       base::significant(*table.logged_busbw / 1e9));
  }
}

// Rows with wrong results are left out: their times are those of something else.
void append_rows(const NcclTable& table, NcclColumn column, const std::string& file, SampleSet& set,
                 std::vector<std::string>& warnings) {
  const auto wanted = static_cast<std::size_t>(column);
  const bool lone = std::ranges::none_of(
      table.rows, [&](const NcclRow& row) { return row.halves[wanted].present; });
  const std::size_t use = lone ? 1 - wanted : wanted;
  if (lone) {
    warnings.push_back(set.op + ": the log has no " + std::string(kNcclColumns[column]) +
                       " times; its only column is taken");
  }
  set.column = kNcclColumns[static_cast<NcclColumn>(use)];
  std::int64_t wrong = 0;
  std::int64_t rounded = 0;
  std::int64_t others = 0;
  const std::string& kind = table.rows.front().kind;
  for (const NcclRow& row : table.rows) {
    const NcclHalf& half = row.halves[use];
    if (!half.present) {
      continue;
    }
    if (row.kind != kind) {
      ++others;
      continue;
    }
    if (half.wrong > 0) {
      ++wrong;
      continue;
    }
    rounded += half.rounded ? 1 : 0;
    for (std::size_t i = 0; i < half.times_s.size(); ++i) {
      Sample& sample = set.samples.emplace_back();
      sample.bytes = static_cast<double>(row.bytes);
      sample.time_s = half.times_s[i];
      if (half.times_s.size() > 1) {
        sample.pass = static_cast<std::int64_t>(i);
      }
    }
  }
  if (set.samples.empty() && wrong > 0) {
    throw InputError(file, "",
                     wrong == 1 ? "its only row reports wrong results"
                                : fmt::format("all {} rows report wrong results", wrong));
  }
  const auto left = [&](std::int64_t rows, const std::string& what) {
    return std::pair(rows > 0, set.op + ": " + counted(rows, "row") + what);
  };
  add_where(
      warnings,
      {left(wrong, " with wrong results left out"),
       left(others, " of other types or reductions than " + kind + " left out: split the file"),
       left(table.interrupted, " interrupted by other output or the end of the log left out"),
       left(rounded, " with times of two digits only")});
}

// Whether the rows, by their column redop, cannot be of the operation. Exchanges print anything.
bool contradicts(std::string_view redop, std::string_view op) {
  const bool adds = op == "allreduce" || op == "reduce" || op == "reduce_scatter";
  const bool moves = op == "allgather" || op == "broadcast" || op == "alltoall";
  return redop.empty() ? false : redop == "none" ? adds : moves;
}

// The ranks of one operation: those of a group. Of a list that is cut the last number counts, if
// --ranks does not say more.
void set_ranks(const NcclTable& table, std::optional<std::int64_t> given, const std::string& file,
               SampleSet& set, std::vector<std::string>& warnings) {
  const auto fail = [&](const std::string& message) { throw InputError(file, "", message); };
  if (table.twice) {
    fail(fmt::format("rank {} is listed twice: several runs in one log (a program built without "
                     "MPI=1 runs once per process); split the file",
                     *table.twice));
  }
  const auto listed = static_cast<std::int64_t>(table.ranks.size());
  const std::int64_t last = listed > 0 ? *table.ranks.rbegin() : -1;
  set.ranks = std::max(given.value_or(0), last + 1);
  if (set.ranks < 1) {
    fail("the log does not say how many ranks: give --ranks");
  }
  if (listed <= last && table.groups.size() > 1) {
    fail(fmt::format("the list of ranks is cut, and has {} groups: give the whole log",
                     table.groups.size()));
  }
  if (listed <= last || listed == 0) {
    if (given != set.ranks) {
      warnings.push_back(fmt::format("{}: {} listed, the last is rank {}: {} ranks are taken "
                                     "(--ranks)",
                                     set.op, base::counted(listed, "rank"), last, set.ranks));
    }
    return;
  }
  std::set<std::int64_t> sizes, per_host;
  for (const auto& [group, hosts] : table.groups) {
    std::int64_t size = 0;
    for (const auto& [host, ranks] : hosts) {
      size += ranks;
      per_host.insert(ranks);
    }
    sizes.insert(size);
  }
  if (sizes.size() > 1) {
    fail(fmt::format("groups of {} to {} ranks: which of them the times are of is not in the log",
                     *sizes.begin(), *sizes.rbegin()));
  }
  set.ranks = *sizes.begin();
  if (per_host.size() == 1) {
    set.gpus_per_node = *per_host.begin();
  }
  if (table.groups.size() > 1) {
    warnings.push_back(fmt::format("{}: {} operations of {} at once (NCCL_TESTS_SPLIT): a time is "
                                   "that of one beside the others",
                                   set.op, table.groups.size(), base::counted(set.ranks, "rank")));
  }
}

// The JSON form, written with -J (IO 6.2). Operation from the program in `args`, ranks by the list
// of devices; numbers may be the text "nan", truth values are texts. `env` is not looked at.

std::optional<double> number_of(const Json& tree, std::string_view key) {
  const Json* value = tree.find(key);
  if (value == nullptr || !value->is_number()) {
    return std::nullopt;
  }
  return value->as_double();
}

// Seconds of a time that the log gives in microseconds.
// Times that no program can have measured are errors, as in every file of samples.
double measured_seconds(const Json& place, std::optional<double> microseconds) {
  const double seconds = microseconds.value_or(0) * 1e-6;
  if (!measured_times().contains(seconds)) {
    throw InputError(std::string(place.file()), place.pointer(),
                     "time " + measured_times().text() + " s");
  }
  return seconds;
}

// Out-of-place or in-place, which some programs do not have.
NcclHalf read_half(const Json& row, std::string_view key) {
  NcclHalf half;
  const Json* json = row.find(key);
  if (json == nullptr || !json->is_object()) {
    return half;
  }
  half.present = true;
  half.wrong = number_of(*json, "nwrong").value_or(0);
  const Json* times = resolve(row, "/" + std::string(key) + "_per_iter/times_us");
  if (times != nullptr && times->is_array() && !times->as_array().empty()) {
    for (const Json& time : times->as_array()) {
      half.times_s.push_back(measured_seconds(
          time, time.is_number() ? std::optional(time.as_double()) : std::nullopt));
    }
    return half;
  }
  const auto time =
      json->find("time") != nullptr ? number_of(*json, "time") : number_of(*json, "cpu_time");
  half.times_s.push_back(measured_seconds(*json, time));
  return half;
}

// One entry per rank.
void read_devices(const Json& tree, NcclTable& table) {
  const Json* devices = resolve(tree, "/config/devices");
  devices = devices != nullptr ? devices : tree.find("devices");
  if (devices == nullptr || !devices->is_array()) {
    return;
  }
  for (const Json& device : devices->as_array()) {
    const auto whole = [&](std::string_view key, std::size_t otherwise) {
      const Json* value = device.find(key);
      return value != nullptr && value->is_integer() ? value->as_integer()
                                                     : static_cast<std::int64_t>(otherwise);
    };
    table.add_rank(whole("rank", table.ranks.size()), whole("group", 0), device.text("hostname"));
    if (const std::string kind = device.text("device_info"); !kind.empty()) {
      table.devices.insert(kind);
    }
  }
}

// Reads the JSON form, written with -J (IO 6.2).
// One table per file, because the program writes one at a time. Throws InputError as parse_json()
// does, and for members of `results` that are missing or out of range.
std::vector<NcclTable> read_nccl_json(std::string_view text, const std::string& file) {
  const Json tree = parse_json(text, file);
  NcclTable table;
  // The name of the program is the last part of its path.
  if (const Json* first = resolve(tree, "/args/0"); first != nullptr && first->is_string()) {
    const std::string& program = first->as_string();
    table.title = program.substr(program.find_last_of('/') + 1);
  }
  if (const Json* version = tree.find("version");
      version != nullptr && *version != Json(2) && *version != Json(3)) {
    table.warning = "version " + compact(*version) + " of the log is unknown: it is read as 3";
  }
  read_devices(tree, table);
  const Json* average = tree.find("average_bus_bandwidth");
  if (const auto value = average == nullptr ? std::nullopt : number_of(*average, "bandwidth")) {
    table.logged_busbw = *value * 1e9;
  }
  Problems problems;
  Fields fields(tree, problems);
  for (const Json& json : fields.array("results", true)) {
    NcclRow row;
    Fields result(json, problems);
    row.bytes = result.integer("size", between(0, static_cast<double>(base::kMaxExactBytes)));
    row.halves = {read_half(json, "out_of_place"), read_half(json, "in_place")};
    row.kind = kind_of(json.text("type"), json.text("redop"));
    if (table.dtype.empty()) {
      table.dtype = json.text("type");
      table.redop = json.text("redop");
    }
    table.rows.push_back(std::move(row));
  }
  problems.throw_if_any();
  return {std::move(table)};
}

} // namespace

std::string_view op_of_program(std::string_view name) {
  const auto* found = std::ranges::find_if(kPrograms, [&](const auto& row) {
    return name == row.first ||
           (name.starts_with(row.first) && name.substr(row.first.size()).starts_with('_'));
  });
  return found == kPrograms.end() ? std::string_view() : found->second;
}

void NcclTable::add_rank(std::int64_t rank, std::int64_t group, const std::string& host) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (rank < 0 || rank >= kMost) {
    return;
  }
  if (!ranks.insert(rank).second) {
    twice = rank;
  }
  ++groups[group][host];
}

double bus_factor(std::string_view op, std::int64_t ranks) {
  const auto operation = nccl::kOperations.find(op);
  return operation ? nccl::bus_share(*operation, static_cast<double>(ranks)) : 1.0;
}

Samples import_nccl_tests(const std::string& file, const NcclTestsOptions& options) {
  const ImportedText input = read_import(file, options.common.max_bytes);
  const std::size_t begin = input.text.find_first_not_of(" \t\r\n");
  // By content: both forms have names that end in anything.
  const bool is_json = begin != std::string::npos && input.text[begin] == '{';
  const std::vector<NcclTable> tables =
      is_json ? read_nccl_json(input.text, input.name)
              : read_nccl_text(input.text, input.name, options.skip_bad_times);
  Samples samples;
  samples.file = input.name;
  samples.name = result_name(options.common, file);
  bool rows = false;
  std::int64_t interrupted = 0;
  std::string others; // programs of tables that are left out
  for (const NcclTable& table : tables) {
    interrupted += table.interrupted;
    if (table.rows.empty()) {
      continue;
    }
    rows = true;
    if (!table.warning.empty()) {
      samples.warnings.push_back(table.warning);
    }
    std::string_view known = op_of_program(table.title);
    if (!table.title.empty() && known.empty()) {
      samples.warnings.push_back(table.title + ": no operation of ours, left out");
      others.append(others.empty() ? " (" : ", ").append(table.title);
      continue;
    }
    if (known.empty() && !options.op) {
      known = op_of_file_name(file);
      if (known.empty()) {
        throw InputError(input.name, "",
                         "the log does not say which operation: give --op, or the file a name that "
                         "does (allreduce.log)");
      }
      samples.warnings.push_back(std::string(known) + ": the operation is from the file's name");
    }
    if (!known.empty() && options.op && *options.op != known) {
      others.append(others.empty() ? " (" : ", ").append(table.title);
      continue;
    }
    SampleSet set;
    set.op = known.empty() ? *options.op : std::string(known);
    if (op_of_program(table.title).empty() && contradicts(table.redop, set.op)) {
      throw InputError(input.name, "",
                       "redop " + table.redop + " in the rows: they are not of " + set.op);
    }
    set.algorithm = "nccl";
    set_ranks(table, options.ranks, input.name, set, samples.warnings);
    if (table.devices.size() > 1) {
      throw InputError(input.name, "",
                       "two devices in one set: " + *table.devices.begin() + ", " +
                           *table.devices.rbegin() + "; split the file");
    }
    set.device = table.devices.empty() ? "" : *table.devices.begin();
    set.dtype = table.dtype;
    samples.skipped += table.skipped;
    append_rows(table, options.column, input.name, set, samples.warnings);
    compare_busbw(table, set, samples.warnings);
    samples.sets.push_back(std::move(set));
  }
  if (!rows) {
    throw InputError(input.name, "",
                     interrupted == 0
                         ? "no result rows found"
                         : fmt::format("all {} rows are interrupted by other output", interrupted));
  }
  if (samples.sets.empty()) {
    throw InputError(input.name, "",
                     "no table of " + options.op.value_or("a known operation") + others + ")");
  }
  samples.source = make_source("nccl-tests", options.common);
  samples.source.files.push_back(input.file);
  return samples;
}

} // namespace stepsim::io
