// Two forms of one thing. The JSON form reports all problems at once; the CSV form stops at the
// first bad line, because a shifted column would make a problem of every line behind it.
// Points of a cost file as they were measured. Nothing is interpolated or smoothed here: a measured
// curve may fall with the bytes, and buckets::make_table_cost alone decides what planners see of
// it.
#include "scenario/files/samples_file.hpp"

#include "document/csv.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::string_view, 8> kColumns{"op",     "algorithm", "ranks",  "bytes",
                                                   "time_s", "pass",      "column", "start_up"};

// Bytes must be whole numbers: they come from buffers that somebody allocated.
constexpr auto kPoint = members<&Sample::bytes, &Sample::time_s, &Sample::pass>;
// Unknown device, element type and column are null; `algorithm` and `gpus_per_node` are left out
// instead, because their absence has a meaning to the fit.
constexpr auto kSet =
    members<&SampleSet::op, &SampleSet::algorithm, &SampleSet::ranks, nullable<&SampleSet::device>,
            nullable<&SampleSet::dtype>, nullable<&SampleSet::column>,
            unless_default<&SampleSet::start_up>, &SampleSet::gpus_per_node>;

SampleSet parse_set(Fields& fields) {
  SampleSet set = read_members(kSet, fields);
  set.samples = read_members(kPoint, fields, "points");
  return set;
}

// The row of a column: columns have the names of the keys of a set or of a point.
const Key& row_of(std::string_view column) {
  const Key* key = find_key(keys::kSampleSet.front(), column);
  return key != nullptr ? *key : *find_key(keys::kSample.front(), column);
}

// Where the known columns stand in the rows of a CSV file.
class CsvColumns {
public:
  CsvColumns(const CsvRow& heading, const std::string& file) : file_(file) {
    for (std::size_t i = 0; i < heading.fields.size(); ++i) {
      const std::string word(trimmed(heading.fields[i]));
      const auto* known = std::ranges::find(kColumns, word);
      if (known == kColumns.end()) {
        fail(heading.line, base::unknown_word("column", word, kColumns));
      }
      auto& place = places_[static_cast<std::size_t>(known - kColumns.begin())];
      if (place) {
        fail(heading.line, "column " + word + " appears twice");
      }
      place = i;
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (row_of(kColumns[i]).is_required && !places_[i]) {
        fail(heading.line, "no column " + std::string(kColumns[i]));
      }
    }
  }

  // "" where the file has no such column.
  // Optional columns may be missing altogether or be empty in single rows; both read as "".
  [[nodiscard]] std::string_view text(const CsvRow& row, std::string_view column) const {
    const auto index =
        static_cast<std::size_t>(std::ranges::find(kColumns, column) - kColumns.begin());
    return places_[index] ? trimmed(row.fields[*places_[index]]) : std::string_view();
  }
  [[nodiscard]] double number(const CsvRow& row, std::string_view column) const {
    const Range range = row_of(column).range;
    const std::string_view word = text(row, column);
    const auto value = parse_real(word);
    if (!value) {
      fail(row.line, std::string(column) + ": not a number: \"" + base::shown_value(word) + "\"");
    }
    if (!range.contains(*value)) {
      fail(row.line, std::string(column) + " " + range.text() + ", got " + std::string(word));
    }
    return *value;
  }
  // The range has been checked by then and lies within 2^53, so that the cast is defined.
  [[nodiscard]] std::int64_t integer(const CsvRow& row, std::string_view column) const {
    const double value = number(row, column);
    if (value != static_cast<double>(static_cast<std::int64_t>(value))) {
      fail(row.line, fmt::format("{} must be an integer, got {}", column, text(row, column)));
    }
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] void fail(std::int64_t line, const std::string& message) const {
    throw InputError(file_, std::to_string(line), message);
  }

private:
  const std::string& file_;
  std::array<std::optional<std::size_t>, kColumns.size()> places_;
};

// The set that a row belongs to; sets in the order of their first rows.
// A linear search: logs have tens of sets, and rows of one set usually follow each other.
SampleSet& set_of(std::vector<SampleSet>& sets, SampleSet wanted) {
  const auto found = std::ranges::find_if(sets, [&](const SampleSet& set) {
    return set.op == wanted.op && set.algorithm == wanted.algorithm && set.ranks == wanted.ranks &&
           set.column == wanted.column && set.start_up == wanted.start_up;
  });
  return found != sets.end() ? *found : sets.emplace_back(std::move(wanted));
}

constexpr auto kLine =
    members<&LineCost::op, &LineCost::ranks, &LineCost::grade, &LineCost::startup_s,
            &LineCost::per_byte_s, &LineCost::bus_bandwidth_Bps, nullable<&LineCost::startup_low_s>,
            nullable<&LineCost::startup_high_s>, nullable<&LineCost::bus_bandwidth_low_Bps>,
            nullable<&LineCost::bus_bandwidth_high_Bps>, unless_default<&LineCost::collectives>,
            unless_default<&LineCost::smallest_bytes>, unless_default<&LineCost::largest_bytes>>;

// Two costs of the same exchange would leave open which one counts.
std::vector<LineCost> parse_line_costs(std::span<const Json> list, Problems& problems) {
  std::vector<LineCost> costs;
  for (const Json& json : list) {
    Fields fields(json, problems, keys::kLineCost.front());
    LineCost cost = read_members(kLine, fields);
    fields.no_more();
    if (std::ranges::any_of(costs, [&](const LineCost& other) {
          return other.op == cost.op && other.ranks == cost.ranks;
        })) {
      problems.refuse(json, "{} with {} ranks appears twice", cost.op, cost.ranks);
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

} // namespace

Samples parse_samples(const Json& json) {
  FileFields fields(json, keys::kSamples);
  Samples samples;
  samples.file = json.file();
  samples.name = fields.string("name", "");
  fields.object("source", [&](Fields& part) { samples.source = read_source(part); });
  samples.sets = fields.each("sets", parse_set);
  samples.warnings = parse_warnings(fields);
  fields.finish();
  return samples;
}

// A row belongs to a set by operation, algorithm, ranks, column and start-up, so that a file may
// list several benchmarks mixed or one after the other. Device and element type have no columns.
Samples parse_samples_csv(std::string_view text, const std::string& file) {
  const std::vector<CsvRow> rows = parse_csv(text, file);
  if (rows.empty()) {
    throw InputError(file, "", "no rows");
  }
  const CsvColumns columns(rows.front(), file);
  Samples samples;
  samples.file = file;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    if (row.fields.size() != rows.front().fields.size()) {
      columns.fail(row.line, fmt::format("expected {} fields, got {}", rows.front().fields.size(),
                                         row.fields.size()));
    }
    SampleSet wanted;
    wanted.op = columns.text(row, "op");
    if (std::ranges::find(kSampleOps, wanted.op) == kSampleOps.end()) {
      columns.fail(row.line, base::unknown_word("operation", wanted.op, kSampleOps));
    }
    wanted.algorithm = columns.text(row, "algorithm");
    wanted.ranks = columns.integer(row, "ranks");
    wanted.column = columns.text(row, "column");
    if (const std::string_view word = columns.text(row, "start_up"); !word.empty()) {
      const auto start_up = links::kStartUps.find(word);
      if (!start_up) {
        columns.fail(row.line, base::unknown_word("start_up", word, links::kStartUps.all()));
      }
      wanted.start_up = *start_up;
    }
    Sample sample{
        static_cast<double>(columns.integer(row, "bytes")), columns.number(row, "time_s"), {}};
    if (!columns.text(row, "pass").empty()) {
      sample.pass = columns.integer(row, "pass");
    }
    set_of(samples.sets, std::move(wanted)).samples.push_back(sample);
  }
  if (samples.sets.empty()) {
    throw InputError(file, "", "no rows");
  }
  return samples;
}

// `head` may end in the middle of the file, so that nothing is parsed: the first line that is
// neither blank nor a comment decides.
bool looks_like_samples(std::string_view head) {
  for (const TextLine& line : lines_of(head)) {
    const std::string_view text = trimmed(line.text);
    if (text.empty() || text.starts_with('#')) {
      continue;
    }
    if (text.starts_with('{')) {
      return head.find("\"sets\"") != std::string_view::npos;
    }
    return text.find("op") != std::string_view::npos &&
           text.find("time_s") != std::string_view::npos;
  }
  return false;
}

// A JSON file starts with a brace, a CSV header never does.
Samples read_samples(const std::string& path, std::string_view importer) {
  ImportOptions options;
  options.importer = importer;
  const ImportedText input = read_import(path, options.max_bytes);
  const std::size_t begin = input.text.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && input.text[begin] == '{';
  Samples samples = is_json ? parse_samples(parse_json(input.text, input.name))
                            : parse_samples_csv(input.text, input.name);
  if (samples.source.format.empty()) {
    samples.source = make_source("samples", options);
    samples.source.files.push_back(input.file);
  }
  if (samples.name.empty()) {
    samples.name = stem_of(path);
  }
  return samples;
}

Json to_json(const Samples& samples) {
  Array sets = write_each(samples.sets, [](const SampleSet& set) {
    Json entry = write_members(kSet, keys::kSampleSet.front(), set);
    entry.set("points", write_members(kPoint, keys::kSample.front(), set.samples));
    return entry;
  });
  Json json = file_json(keys::kSamples);
  json.set("name", samples.name);
  json.set("source", to_json(samples.source));
  json.set("sets", std::move(sets));
  json.set("warnings", list_of(samples.warnings));
  return json;
}

std::string to_csv(const Samples& samples) {
  std::string text;
  const auto line = [&](const std::array<std::string, kColumns.size() - 1>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += i == 0 ? "" : ",";
      append_csv_cell(text, cells[i]);
    }
    text += '\n';
  };
  line({"op", "algorithm", "ranks", "bytes", "time_s", "pass", "column"});
  for (const SampleSet& set : samples.sets) {
    for (const Sample& each : set.samples) {
      line({set.op, set.algorithm, std::to_string(set.ranks), base::shortest(each.bytes),
            base::shortest(each.time_s), each.pass ? std::to_string(*each.pass) : "", set.column});
    }
  }
  return text;
}

// A row that cannot be read still counts as the predecessor of the next one, by its bytes where
// they could be read, so that one wrong row makes one problem and not one per row behind it.
std::vector<std::pair<double, double>> parse_cost_table(const Json& table, Problems& problems,
                                                        bool may_fall) {
  std::vector<std::pair<double, double>> points;
  if (!table.is_array()) {
    problems.add(table, "must be a list of [bytes, seconds], got " + shown(table));
    return points;
  }
  double last = 0;
  for (const Json& row : table.as_array()) {
    if (!row.is_array() || row.as_array().size() != 2) {
      problems.add(row, "must be a pair [bytes, seconds]");
      continue;
    }
    const Range range = keys::kCostNumber.front().range;
    const auto bytes = checked_number(row.as_array()[0], range, problems);
    const auto seconds = checked_number(row.as_array()[1], range, problems);
    if (bytes && *bytes <= last) {
      problems.add(row.as_array()[0],
                   "bytes must be strictly ascending, got " + shown(row.as_array()[0]));
    } else if (!may_fall && seconds && !points.empty() && *seconds < points.back().second) {
      problems.add(row.as_array()[1],
                   "seconds must not fall from point to point, got " + shown(row.as_array()[1]));
    } else if (bytes && seconds) {
      points.emplace_back(*bytes, *seconds);
    }
    last = bytes.value_or(last);
  }
  if (table.as_array().size() < keys::kCostTable.least) {
    problems.refuse(table, "needs at least {} points", keys::kCostTable.least);
  }
  return points;
}

// `source` is kept as it stands, a text or an object of any form: it is only written back, so that
// a file that is read and written again loses nothing.
CostPoints parse_cost(const Json& json) {
  FileFields fields(json, keys::kCostFile);
  CostPoints cost;
  cost.name = fields.string("name", "");
  cost.op = fields.text("op");
  cost.ranks = fields.optional_integer("ranks").value_or(0);
  if (const Json* source = fields.any("source")) {
    cost.source = *source;
  }
  const Json* table = fields.any("table");
  const bool lines = fields.any("costs") != nullptr;
  if (table != nullptr && lines) {
    fields.problems().add(json, "give either table or costs");
  } else if (table != nullptr) {
    cost.table = parse_cost_table(*table, fields.problems());
  } else if (lines) {
    cost.costs = parse_line_costs(fields.list("costs", "cost"), fields.problems());
    for (const char* key : {"op", "ranks"}) {
      fields.refuse_if(fields.has(key), key,
                       "belongs to a table: each element of costs has its own");
    }
  } else if (json.is_object()) {
    fields.refuse("table", "required (a list of [bytes, seconds])");
  }
  fields.finish();
  return cost;
}

// Keys that the file left out are left out again, so that reading and writing are inverse.
Json to_json(const CostPoints& cost) {
  Json json = file_json(keys::kCostFile);
  set_given(json, "name", cost.name);
  set_given(json, "op", cost.op);
  set_given(json, "ranks", cost.ranks);
  set_given(json, "source", cost.source);
  if (!cost.costs.empty()) {
    json.set("costs", write_members(kLine, keys::kLineCost.front(), cost.costs));
    return json;
  }
  json.set("table", write_each(cost.table, [](const auto& point) {
             return Array{point.first, point.second};
           }));
  return json;
}

} // namespace stepsim::io
