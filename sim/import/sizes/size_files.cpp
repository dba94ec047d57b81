// The log is a text of keys and lists, whose quotes and brackets differ between a printed
// dictionary and JSON: values are the digits, blanks and commas behind a key.
#include "import/sizes/size_files.hpp"

#include <cctype>

#include "base/statistics.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::string_view, 3> kSizeColumns{"name", "elements", "dtype"};
constexpr std::int64_t kMostTableElements = std::int64_t{1} << 50;

// The product of a shape; several inputs are sent as one message and summed up.
std::int64_t elements_of(const Json& shapes, const std::string& file) {
  const auto fail = [&]() -> std::int64_t {
    throw InputError(file, shapes.pointer(), "must be a list of shapes, as [[1024, 1000]]");
  };
  if (!shapes.is_array()) {
    return fail();
  }
  std::int64_t sum = 0;
  for (const Json& shape : shapes.as_array()) {
    if (!shape.is_array()) {
      return fail();
    }
    std::int64_t product = 1;
    for (const Json& size : shape.as_array()) {
      if (!size.is_integer() || size.as_integer() < 0 ||
          (size.as_integer() > 0 && product > kMostElements / size.as_integer())) {
        return fail();
      }
      product *= size.as_integer();
    }
    sum += product;
    if (sum > kMostElements) {
      return fail();
    }
  }
  return sum;
}

bool same(const FlightRecord::AllReduce& a, const FlightRecord::AllReduce& b) {
  return a.elements == b.elements && a.dtype == b.dtype;
}

constexpr std::int64_t kMostBucketBytes = std::int64_t{1} << 53;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The lists behind a key: "0 1, 2 3" and "[[0, 1], [2, 3]]" are both {{0, 1}, {2, 3}}, and
// "[8, 9]" is {{8}, {9}}. Empty if the key is not there or has no value.
std::vector<std::vector<std::int64_t>> lists_of(const ImportedText& input, std::string_view key) {
  std::size_t at = input.text.find(key);
  while (at != std::string::npos &&
         ((at > 0 && is_word(input.text[at - 1])) ||
          (at + key.size() < input.text.size() && is_word(input.text[at + key.size()])))) {
    at = input.text.find(key, at + 1);
  }
  std::vector<std::vector<std::int64_t>> lists;
  if (at == std::string::npos) {
    return lists;
  }
  std::size_t i = at + key.size();
  while (i < input.text.size() &&
         std::string_view("\"' :=\t").find(input.text[i]) != std::string_view::npos) {
    ++i;
  }
  int depth = 0;
  bool nested = false;
  bool next = true; // the number that follows begins a list
  std::string digits;
  const auto end_number = [&] {
    if (digits.empty()) {
      return;
    }
    const auto number = parse_whole(digits);
    if (!number || *number < 0 || *number > kMostBucketBytes) {
      throw InputError(input.name, "",
                       std::string(key) + ": must be whole numbers from 0 to 2^53, got " +
                           base::shown_value(digits));
    }
    if (next) {
      lists.emplace_back();
    }
    lists.back().push_back(*number);
    next = false;
    digits.clear();
  };
  for (; i < input.text.size(); ++i) {
    const char c = input.text[i];
    if (c >= '0' && c <= '9') {
      digits += c;
      continue;
    }
    end_number();
    if (c == ',') {
      next = next || !nested;
    } else if (c == '[') {
      nested = ++depth > 1;
      next = true;
    } else if (c == ']') {
      next = true;
      if (--depth <= 0) {
        break;
      }
    } else if (c != ' ' && !(depth > 0 && (c == '\n' || c == '\r' || c == '\t'))) {
      break;
    }
  }
  // A list without brackets ends with its line, its quotes, the dictionary or a comma and the next
  // key.
  const std::string_view rest = std::string_view(input.text).substr(std::min(i, input.text.size()));
  const auto* const colon = std::ranges::find_if_not(rest, is_word);
  const bool ends = rest.empty() ||
                    std::string_view("]\"'})\r\n").find(rest.front()) != std::string_view::npos ||
                    (next && colon != rest.begin() && colon != rest.end() && *colon == ':');
  const bool has_begun = !lists.empty() || !digits.empty();
  if (depth > 0 || (has_begun && !ends)) {
    throw InputError(input.name, "",
                     std::string(key) + ": must be lists of whole numbers, got " +
                         (i < input.text.size()
                              ? base::shown_value(std::string_view(input.text).substr(i, 1))
                              : std::string("the end of the file")));
  }
  end_number();
  return lists;
}

std::vector<std::vector<std::int64_t>> first_of(const ImportedText& input, std::string_view rebuilt,
                                                std::string_view first) {
  auto lists = lists_of(input, rebuilt);
  return lists.empty() ? lists_of(input, first) : lists;
}

} // namespace

SizeTable read_size_table(const std::string& path, std::uint64_t max_bytes) {
  const ImportedText input = read_import(path, max_bytes);
  const std::vector<CsvRow> rows = parse_csv(input.text, input.name);
  SizeTable table;
  table.file = input.name;
  table.source = input.file;
  const auto refuse = [&](const CsvRow& row, const std::string& message) {
    throw InputError(input.name, std::to_string(row.line), message);
  };
  std::array<std::optional<std::size_t>, kSizeColumns.size()> place;
  for (std::size_t i = 0; !rows.empty() && i < rows.front().fields.size(); ++i) {
    const std::string_view text = trimmed(rows.front().fields[i]);
    const auto column = std::ranges::find(kSizeColumns, text);
    if (column == kSizeColumns.end()) {
      refuse(rows.front(), "unknown column " + base::shown_value(text) +
                               base::did_you_mean(text, kSizeColumns) +
                               ": the header is name,elements[,dtype]");
    }
    auto& found = place[static_cast<std::size_t>(column - kSizeColumns.begin())];
    if (found) {
      refuse(rows.front(), "column " + std::string(text) + " is there twice");
    }
    found = i;
  }
  if (rows.empty() || !place[0] || !place[1]) {
    throw InputError(input.name, "1", "the header must be name,elements[,dtype]");
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (row.fields.size() != rows.front().fields.size()) {
      refuse(row, "expected " + std::to_string(rows.front().fields.size()) + " fields, got " +
                      std::to_string(row.fields.size()));
    }
    const std::string_view elements = trimmed(row.fields[*place[1]]);
    const auto count = parse_whole(elements);
    if (!count || *count < 1 || *count > kMostTableElements) {
      refuse(row,
             "elements: must be a whole number from 1 to 2^50, got " + base::shown_value(elements));
    }
    NamedSize size{std::string(trimmed(row.fields[*place[0]])), *count, ""};
    const std::string_view dtype = place[2] ? trimmed(row.fields[*place[2]]) : std::string_view();
    if (!dtype.empty()) {
      const auto word = dtype_of_pytorch(dtype);
      if (!word) {
        refuse(row, "dtype: unknown element type " + base::shown_value(dtype));
      }
      size.dtype = word->word;
    }
    table.rows.push_back(std::move(size));
  }
  if (table.rows.empty()) {
    throw InputError(input.name, "", "no rows behind the header");
  }
  return table;
}

FlightRecord read_flight_record(const std::string& path, std::uint64_t max_bytes) {
  FlightRecord record;
  const ImportedText input = read_import(path, max_bytes);
  record.file = input.name;
  record.source = input.file;
  const Json root = parse_json(input.text, input.name);
  const Json* entries = root.find("entries");
  if (entries == nullptr || !entries->is_array()) {
    throw InputError(record.file, "", "no entries: not a dump of PyTorch's flight recorder");
  }
  for (const Json& entry : entries->as_array()) {
    const Json* shapes = entry.find("input_sizes");
    if (!entry.text("profiling_name").ends_with(":all_reduce") || shapes == nullptr) {
      continue; // other collectives, barriers and transfers between two ranks
    }
    FlightRecord::AllReduce& call = record.all_reduces.emplace_back();
    call.elements = elements_of(*shapes, record.file);
    const Json* dtype = resolve(entry, "/input_dtypes/0");
    call.dtype = dtype != nullptr && dtype->is_string() ? dtype->as_string() : "";
    const Json* created = entry.find("time_created_ns");
    call.created_ns = created != nullptr && created->is_integer() ? created->as_integer() : 0;
  }
  if (record.all_reduces.empty()) {
    throw InputError(record.file, "", "no all-reduce among its entries");
  }
  return record;
}

std::vector<FlightRecord::AllReduce> step_of(const FlightRecord& record, std::size_t per_step) {
  const auto& calls = record.all_reduces;
  const auto refuse = [&](const std::string& why) {
    throw InputError(record.file, "",
                     fmt::format("{} all-reduces, of which a step of the trace has {}: {}",
                                 calls.size(), per_step, why));
  };
  if (per_step == 0 || calls.size() < 2 * per_step) {
    refuse("two steps are needed");
  }
  if (std::ranges::any_of(calls, [](const auto& call) { return call.created_ns == 0; })) {
    refuse("each needs time_created_ns, since a pause tells where a step begins");
  }
  // Pauses before the calls at each place within a step; the first call has none.
  std::size_t place = 0;
  double longest = -1;
  for (std::size_t p = 0; p < per_step; ++p) {
    std::vector<double> pauses;
    for (std::size_t i = p == 0 ? per_step : p; i < calls.size(); i += per_step) {
      // Exact for times of today, and defined for any.
      pauses.push_back(static_cast<double>(static_cast<long double>(calls[i].created_ns) -
                                           static_cast<long double>(calls[i - 1].created_ns)));
    }
    if (const double pause = base::median(pauses); pause > longest) {
      longest = pause;
      place = p;
    }
  }
  // The last step that begins there and is whole.
  const std::size_t whole = (calls.size() - place) / per_step;
  const std::size_t first = place + (whole - 1) * per_step;
  std::vector<FlightRecord::AllReduce> step(calls.begin() + static_cast<std::ptrdiff_t>(first),
                                            calls.begin() +
                                                static_cast<std::ptrdiff_t>(first + per_step));
  for (std::size_t i = std::max(first, per_step); i < first + per_step; ++i) {
    if (!same(calls[i], calls[i - per_step])) {
      refuse("they do not repeat");
    }
  }
  return step;
}

DdpLog read_ddp_log(const std::string& path, std::uint64_t max_bytes) {
  const ImportedText input = read_import(path, max_bytes);
  DdpLog log;
  log.file = input.name;
  log.source = input.file;
  for (const auto& list : first_of(input, "rebuilt_bucket_sizes", "bucket_sizes")) {
    log.bucket_bytes.insert(log.bucket_bytes.end(), list.begin(), list.end());
  }
  if (log.bucket_bytes.empty()) {
    throw InputError(input.name, "",
                     "neither rebuilt_bucket_sizes nor bucket_sizes: the values of "
                     "model._get_ddp_logging_data() are needed");
  }
  log.parameters = first_of(input, "rebuilt_per_bucket_param_indices", "per_bucket_param_indices");
  if (!log.parameters.empty() && log.parameters.size() != log.bucket_bytes.size()) {
    throw InputError(input.name, "",
                     std::to_string(log.bucket_bytes.size()) + " bucket sizes, but indices of " +
                         std::to_string(log.parameters.size()) + " buckets");
  }
  for (const auto& list : lists_of(input, "prev_iteration_grad_ready_order_indices")) {
    log.ready_order.insert(log.ready_order.end(), list.begin(), list.end());
  }
  return log;
}

} // namespace stepsim::io
