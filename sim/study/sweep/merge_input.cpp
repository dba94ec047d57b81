#include "study/sweep/merge_input.hpp"

#include <iterator>
#include <limits>

#include "base/error.hpp"
#include "document/json_parse.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

namespace {

// Headers may come from damaged files, so that every number has its range before anything is
// counted with it.
std::int64_t header_integer(const MergeInput& input, std::string_view key, std::int64_t least,
                            std::int64_t most) {
  const io::Json* value = input.header.find(key);
  if (value == nullptr || !value->is_integer()) {
    throw InputError(input.path, "1", "no sweep output: the header has no " + std::string(key));
  }
  if (value->as_integer() < least || value->as_integer() > most) {
    throw InputError(input.path, "1",
                     std::string(key) + " must be in [" + std::to_string(least) + ", " +
                         std::to_string(most) + "], got " + std::to_string(value->as_integer()));
  }
  return value->as_integer();
}

// The most points that the axes of the header can have: all combinations, replicated. Zipped axes
// have fewer; which ones are zipped is not in the header.
std::int64_t most_points(const MergeInput& input) {
  const io::Json* axes = input.header.find("axes");
  if (axes == nullptr || !axes->is_array()) {
    throw InputError(input.path, "1", "no sweep output: the header has no axes");
  }
  std::int64_t points = kMostReplications;
  for (const io::Json& axis : axes->as_array()) {
    const io::Json* values = axis.find("values");
    if (values == nullptr || !values->is_array() || values->as_array().empty()) {
      throw InputError(input.path, "1", "no sweep output: an axis of the header has no values");
    }
    if (__builtin_mul_overflow(points, std::ssize(values->as_array()), &points)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return points;
}

void read_totals(MergeInput& input) {
  const io::Json* hash = input.header.find("grid_hash");
  if (hash == nullptr || !hash->is_string()) {
    throw InputError(input.path, "1", "no sweep output: the header has no grid_hash");
  }
  input.total = header_integer(input, "points_total", 1, most_points(input));
  input.shard.count = header_integer(input, "shards", 1, kMostShards);
  input.shard.index = header_integer(input, "shard", 0, input.shard.count - 1);
}

} // namespace

void MergeInput::advance() {
  const std::int64_t before = mark.point;
  mark = {};
  std::string_view next;
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
  if (mark.point % shard.count != shard.index) {
    throw InputError(path, "",
                     "point " + std::to_string(mark.point) + " is not of shard " +
                         std::to_string(shard.index) + '/' + std::to_string(shard.count));
  }
}

MergeInput open_merge_input(const std::string& path) {
  MergeInput input;
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
  read_totals(input);
  if (input.format == RecordFormat::csv) {
    if (!input.reader->next(line, RecordFormat::jsonl)) {
      throw InputError(path, "", "no complete header: run this shard again");
    }
    input.columns = line;
  }
  input.advance();
  return input;
}

} // namespace stepsim::study
