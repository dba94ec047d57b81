// Tables of rows, from either form of log, to one set of samples per operation. Bandwidths in the
// log follow from sizes and times; they are compared with what is computed here, because a
// difference means that the log was read wrongly.
#include "import/nccl/import_nccl_tests.hpp"

#include <fmt/core.h>

#include "nccl/node_links.hpp"

namespace stepsim::io {

namespace {

constexpr double kBusTolerance = 1e-3;

// Programs of nccl-tests and the operations that they measure.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTitles{{
    {"all_reduce_perf", "allreduce"},
    {"all_gather_perf", "allgather"},
    {"reduce_scatter_perf", "reduce_scatter"},
    {"broadcast_perf", "broadcast"},
    {"reduce_perf", "reduce"},
    {"alltoall_perf", "alltoall"},
    {"sendrecv_perf", "sendrecv"},
}};

// "" for a program whose operation stepsim does not have.
std::string_view op_of_title(std::string_view title) {
  const auto* found = std::ranges::find(kTitles, title, [](const auto& row) { return row.first; });
  return found == kTitles.end() ? std::string_view() : found->second;
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
  std::size_t wrong = 0;
  for (const NcclRow& row : table.rows) {
    const NcclHalf& half = row.halves[use];
    if (!half.present) {
      continue;
    }
    if (half.wrong > 0) {
      ++wrong;
      warnings.push_back(
          fmt::format("{}: {} wrong results at {} B, row left out", set.op, half.wrong, row.bytes));
      continue;
    }
    if (half.rounded) {
      warnings.push_back(fmt::format("{}: time of {} B has two digits only", set.op, row.bytes));
    }
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
    throw InputError(file, "", fmt::format("all {} rows report wrong results", wrong));
  }
}

} // namespace

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
  for (const NcclTable& table : tables) {
    if (table.rows.empty()) {
      continue;
    }
    rows = true;
    if (!table.warning.empty()) {
      samples.warnings.push_back(table.warning);
    }
    const std::string_view known = op_of_title(table.title);
    if (!table.title.empty() && known.empty()) {
      samples.warnings.push_back(table.title + ": no operation of ours, left out");
      continue;
    }
    if (known.empty() && !options.op) {
      throw InputError(input.name, "", "the log does not say which operation: give --op");
    }
    if (!known.empty() && options.op && *options.op != known) {
      continue;
    }
    SampleSet set;
    set.op = known.empty() ? *options.op : std::string(known);
    set.algorithm = "nccl";
    set.ranks = table.ranks > 0 ? table.ranks : options.ranks.value_or(0);
    if (set.ranks < 1) {
      throw InputError(input.name, "", "the log does not say how many ranks: give --ranks");
    }
    if (table.devices.size() > 1) {
      throw InputError(input.name, "",
                       "two devices in one set: " + *table.devices.begin() + ", " +
                           *table.devices.rbegin() + "; split the file");
    }
    set.device = table.devices.empty() ? "" : *table.devices.begin();
    set.dtype = table.dtype;
    const bool equal = std::ranges::all_of(
        table.hosts, [&](const auto& host) { return host.second == table.hosts.begin()->second; });
    if (!table.hosts.empty() && equal) {
      set.gpus_per_node = table.hosts.begin()->second;
    }
    samples.skipped += table.skipped;
    append_rows(table, options.column, input.name, set, samples.warnings);
    compare_busbw(table, set, samples.warnings);
    samples.sets.push_back(std::move(set));
  }
  if (!rows) {
    throw InputError(input.name, "", "no result rows found");
  }
  if (samples.sets.empty()) {
    throw InputError(input.name, "", "no table of " + options.op.value_or("a known operation"));
  }
  samples.source = make_source("nccl-tests", options.common);
  samples.source.files.push_back(input.file);
  return samples;
}

} // namespace stepsim::io
