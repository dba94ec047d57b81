#include "study/sweep_merge.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "io/json.hpp"
#include "study/sweep_output.hpp"

namespace stepsim::study {

namespace {

// One input, positioned at its next record.
struct Input {
  std::string path;
  std::unique_ptr<RowReader> reader;
  RecordFormat format = RecordFormat::jsonl;
  io::Json header;
  std::string columns; // second line of CSV
  std::int64_t total = 0;
  Shard shard;
  std::string row;
  RecordMark mark; // of `row`; point -1 at the end

  // Incomplete last rows count as absent.
  void advance() {
    std::string_view next;
    const std::int64_t before = mark.point;
    mark = {};
    if (!reader->next(next, format)) {
      return;
    }
    row.assign(next);
    mark = record_mark(row, format);
    if (mark.point <= before || mark.point >= total) {
      throw InputError(path, "",
                       "the record behind point " + std::to_string(before) +
                           " is out of order or damaged");
    }
  }
};

std::int64_t header_integer(const Input& input, std::string_view key) {
  const io::Json* value = input.header.find(key);
  if (value == nullptr || !value->is_integer() || value->as_integer() < 0) {
    throw InputError(input.path, "1", "no sweep output: the header has no " + std::string(key));
  }
  return value->as_integer();
}

Input open_input(const std::string& path) {
  Input input;
  input.path = path;
  input.reader = std::make_unique<RowReader>(path);
  std::string_view line;
  if (!input.reader->next(line, RecordFormat::jsonl)) {
    throw InputError(path, "", "no complete header: run this shard again");
  }
  if (line.starts_with("# ")) {
    input.format = RecordFormat::csv;
    line.remove_prefix(2);
  }
  try {
    input.header = io::parse_json(line, path);
  } catch (const InputError&) {
    throw InputError(path, "1", "no sweep output");
  }
  const io::Json* hash = input.header.find("grid_hash");
  if (hash == nullptr || !hash->is_string()) {
    throw InputError(path, "1", "no sweep output: the header has no grid_hash");
  }
  input.total = header_integer(input, "points_total");
  input.shard = {header_integer(input, "shard"), header_integer(input, "shards")};
  if (input.format == RecordFormat::csv) {
    if (!input.reader->next(line, RecordFormat::jsonl)) {
      throw InputError(path, "", "no complete header: run this shard again");
    }
    input.columns = line;
  }
  input.advance();
  return input;
}

std::string hash_of(const Input& input) { return input.header.find("grid_hash")->as_string(); }

void check_same_sweep(const Input& a, const Input& b) {
  if (hash_of(a) != hash_of(b)) {
    throw InputError(b.path, "",
                     "grid_hash " + hash_of(b) + " differs from " + a.path + " " + hash_of(a) +
                         ": not the same sweep");
  }
  if (a.format != b.format) {
    throw InputError(b.path, "", "JSON Lines and CSV cannot be merged with each other");
  }
  if (a.shard.count != b.shard.count) {
    throw InputError(b.path, "",
                     "is one of " + std::to_string(b.shard.count) + " shards, " + a.path +
                         " one of " + std::to_string(a.shard.count));
  }
  io::Json left = a.header;
  io::Json right = b.header;
  left.set("shard", 0);
  right.set("shard", 0);
  if (io::compact(left) != io::compact(right) || a.columns != b.columns) {
    throw InputError(b.path, "", "its header differs from that of " + a.path);
  }
}

std::string merged_header(const Input& input) {
  io::Json header = input.header;
  header.set("shard", 0);
  header.set("shards", 1);
  const bool csv = input.format == RecordFormat::csv;
  return (csv ? "# " : "") + io::compact(header) + "\n" + (csv ? input.columns + "\n" : "");
}

// The record of `point`, or null; all inputs that hold it step on.
const std::string* take(std::vector<Input>& inputs, std::int64_t point, std::string& row,
                        bool& failed) {
  const Input* first = nullptr;
  for (Input& input : inputs) {
    if (input.mark.point != point) {
      continue;
    }
    if (first == nullptr) {
      first = &input;
      row = input.row;
      failed = input.mark.failed;
    } else if (input.row != row) {
      throw InputError(input.path, "",
                       "point " + std::to_string(point) + " differs between " + first->path +
                           " and " + input.path);
    }
    input.advance();
  }
  return first == nullptr ? nullptr : &row;
}

void add_missing(MergeReport& report, std::int64_t point) {
  if (!report.missing.empty() && report.missing.back().second + 1 == point) {
    ++report.missing.back().second;
  } else {
    report.missing.emplace_back(point, point);
  }
}

} // namespace

MergeReport merge_sweeps(const std::vector<std::string>& shards, const std::string& output) {
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  std::vector<Input> inputs;
  for (const std::string& path : shards) {
    inputs.push_back(open_input(path));
    check_same_sweep(inputs.front(), inputs.back());
  }
  if (inputs.empty()) {
    throw UsageError("merge: give the files of the shards");
  }
  MergeReport report;
  report.points = inputs.front().total;
  const std::int64_t count = inputs.front().shard.count;
  std::set<std::int64_t> absent;
  const std::string copy =
      output == "-" ? "" : output + ".unfinished-" + std::to_string(static_cast<long>(getpid()));
  std::string text; // standard output gets nothing before all points are there
  try {
    std::unique_ptr<SweepOutput> out =
        copy.empty() ? std::make_unique<SweepOutput>(&text)
                     : std::make_unique<SweepOutput>(copy, SweepOutput::Open::create);
    std::string block = merged_header(inputs.front());
    std::string row;
    for (std::int64_t point = 0; point < report.points; ++point) {
      bool failed = false;
      if (take(inputs, point, row, failed) == nullptr) {
        add_missing(report, point);
        absent.insert(point % count);
        continue;
      }
      report.failed += failed ? 1 : 0;
      block.append(row).append("\n");
      if (block.size() >= kBlock) {
        out->write(block);
        block.clear();
      }
    }
    out->write(block);
    out->close();
    for (const std::int64_t index : absent) {
      report.shards_to_run.push_back({index, count});
    }
    if (copy.empty() && report.missing.empty()) {
      SweepOutput("-", SweepOutput::Open::append).write(text);
    } else if (!copy.empty() && !report.missing.empty()) {
      ::unlink(copy.c_str());
    } else if (!copy.empty() && std::rename(copy.c_str(), output.c_str()) != 0) {
      throw SimulationError(output + ": write failed");
    }
  } catch (...) {
    if (!copy.empty()) {
      ::unlink(copy.c_str());
    }
    throw;
  }
  return report;
}

} // namespace stepsim::study
