// Values of flags have no quotes and no types, so that their kind is guessed in a fixed order:
// JSON, then a number with a unit that the key allows, then a text. A value that begins like JSON
// and is none is an error instead of a text, because it is a typing error.
#include "study/sweep/grid.hpp"

#include <fmt/core.h>

#include <array>
#include <cctype>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

using base::QuantityKind;

// "/a/b=rest": pointer and rest.
std::pair<std::string, std::string_view> split_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError(base::shown_value(text) + ": must be POINTER=VALUE");
  }
  const std::string pointer(text.substr(0, equals));
  if (!pointer.starts_with('/') || pointer.ends_with('/')) {
    throw UsageError(base::shown_value(pointer) +
                     ": not a JSON pointer (/cluster/nodes, /communication/schedule)");
  }
  return {pointer, text.substr(equals + 1)};
}

std::optional<io::Json> as_json(std::string_view text) {
  try {
    return io::parse_json(text, "");
  } catch (const InputError& error) {
    const char first = text.empty() ? ' ' : text.front();
    if (first == '[' || first == '{' || first == '"') {
      throw UsageError(base::shown_value(text) + ": not valid JSON (" + error.what() + ")");
    }
    return std::nullopt;
  }
}

// "-3", ".5" and "+4" begin as numbers, too; "nodes.json" does not.
bool starts_as_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t+-.");
  return first != std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(text[first])) != 0;
}

// Commas outside of brackets and strings: `1,[2,3],"a,b"` has three parts.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

io::Json number_json(double value, QuantityKind kind) {
  if (kind == QuantityKind::size || kind == QuantityKind::count || kind == QuantityKind::amount) {
    return {static_cast<std::int64_t>(value)};
  }
  return {value};
}

// Numbers without a unit keep their JSON form (3 or 3.0).
// All or none: if one entry has a unit, the list parser has to see all of them.
bool append_plain_numbers(std::string_view text, std::vector<io::Json>& values) {
  const std::size_t before = values.size();
  for (const std::string_view part : split_list(text)) {
    auto json = as_json(part);
    if (!json || !json->is_number()) {
      values.resize(before);
      return false;
    }
    values.push_back(std::move(*json));
  }
  return true;
}

// `text`: entries that all start as numbers, of a key with unit `kind`, or none.
// A key without a unit that is not known is tried as a count and then as a ratio: "1:9:+2" gives
// whole numbers, "0.1:0.9:+0.2" does not parse as counts. What is neither is a name that happens to
// begin with a digit, unless it is a range of digits.
void append_numbers(std::string_view pointer, std::string_view text,
                    std::optional<QuantityKind> kind, std::vector<io::Json>& values) {
  if (kind != QuantityKind::size && append_plain_numbers(text, values)) {
    return;
  }
  const auto integers = takes_integers(pointer);
  std::string wrong;
  for (const bool whole : {integers.value_or(true), integers.value_or(false)}) {
    const QuantityKind tried = kind.value_or(whole ? QuantityKind::count : QuantityKind::ratio);
    auto parsed = base::parse_quantity_list(text, tried, base::BareNumber::si);
    if (const auto* numbers = std::get_if<std::vector<double>>(&parsed)) {
      for (const double number : *numbers) {
        values.push_back(number_json(number, tried));
      }
      return;
    }
    wrong = std::get<std::string>(parsed);
  }
  const bool only_digits = text.find_first_not_of("0123456789.,:+-xe") == std::string_view::npos;
  if (kind || (only_digits && text.find(':') != std::string_view::npos)) {
    throw UsageError(std::string(pointer) + "=" + base::shown_value(text) + ": " + wrong);
  }
  for (const std::string_view part : split_list(text)) {
    values.emplace_back(part); // "2nodes.json", a file name
  }
}

std::optional<QuantityKind> kind_of(std::string_view pointer) {
  return base::kind_of_key(io::pointer_tokens(pointer).back());
}

// Shards are told by the user or by the environment of a job. Anything irregular is refused: a
// guess that is wrong would leave points out or compute them twice, which shows only when the
// shards are merged.

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

Shard checked(std::int64_t index, std::int64_t count, const std::string& text) {
  if (count < 1) {
    throw UsageError("--shard " + text + ": needs at least one shard");
  }
  if (count > kMostShards) {
    throw UsageError("--shard " + text + ": more than " + std::to_string(kMostShards) + " shards");
  }
  if (index < 0 || index >= count) {
    throw UsageError("--shard " + text + ": index must be 0.." + std::to_string(count - 1));
  }
  return {index, count};
}

// A variable that must be there and be a whole number.
// A batch system sets all of its variables; if one is missing, something else has set the others.
std::int64_t variable(const Environment& environment, const std::string& name) {
  const char* text = environment(name.c_str());
  if (text == nullptr) {
    throw UsageError("--shard auto: " + name + " is not set: give --shard explicitly");
  }
  const auto value = whole_number(text);
  if (!value) {
    throw UsageError("--shard auto: " + name + "=" + base::shown_value(text) +
                     " is no whole number: give --shard explicitly");
  }
  return *value;
}

// An array such as 0-9:2 has its tasks in equal steps; lists such as 1,5,7 have not, and the
// position of a task in them cannot be computed from its number.
std::optional<Shard> array_part(const Environment& environment) {
  if (environment("SLURM_ARRAY_TASK_ID") == nullptr) {
    return std::nullopt;
  }
  const std::int64_t id = variable(environment, "SLURM_ARRAY_TASK_ID");
  const std::int64_t min = variable(environment, "SLURM_ARRAY_TASK_MIN");
  const std::int64_t max = variable(environment, "SLURM_ARRAY_TASK_MAX");
  const std::int64_t step = variable(environment, "SLURM_ARRAY_TASK_STEP");
  const std::int64_t count = variable(environment, "SLURM_ARRAY_TASK_COUNT");
  const bool regular = step >= 1 && id >= min && id <= max && (id - min) % step == 0 &&
                       (max - min) / step + 1 == count;
  if (!regular) {
    throw UsageError(fmt::format("--shard auto: the job array is no regular range (task {} of "
                                 "{}..{}, step {}, {} tasks): give --shard explicitly",
                                 id, min, max, step, count));
  }
  return Shard{(id - min) / step, count};
}

// Not SLURM_NTASKS: in a batch script started with -n 2 it is 2 while one process runs.
// A launcher may start several processes per array task; each is a shard of its own.
std::optional<Shard> rank_part(const Environment& environment) {
  static constexpr std::array<std::array<const char*, 2>, 3> kLaunchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
  for (const auto& [rank, size] : kLaunchers) {
    if (environment(rank) != nullptr && environment(size) != nullptr) {
      return checked(variable(environment, rank), variable(environment, size),
                     std::string("auto (") + rank + ", " + size + ")");
    }
  }
  return std::nullopt;
}

} // namespace

Axis parse_over(std::string_view text) {
  auto [pointer, list] = split_assignment(text);
  const auto kind = kind_of(pointer);
  Axis axis{pointer, {}};
  const std::vector<std::string_view> parts = split_list(list);
  for (std::size_t i = 0; i < parts.size();) {
    if (!starts_as_number(parts[i])) {
      if (parts[i].empty()) {
        throw UsageError(pointer + ": empty value in \"" + base::shown_value(list) + "\"");
      }
      axis.values.push_back(axis_value(pointer, as_json(parts[i]).value_or(io::Json(parts[i]))));
      ++i;
      continue;
    }
    // A run of numbers goes to the list parser as a whole, so that a unit reaches those before it.
    std::size_t last = i;
    while (last + 1 < parts.size() && starts_as_number(parts[last + 1])) {
      ++last;
    }
    const char* begin = parts[i].data();
    const char* end = parts[last].data() + parts[last].size();
    append_numbers(pointer, {begin, static_cast<std::size_t>(end - begin)}, kind, axis.values);
    i = last + 1;
  }
  return axis;
}

// A text with a comma stays one text: `--set` gives one value.
std::pair<std::string, io::Json> parse_set(std::string_view text) {
  auto [pointer, value] = split_assignment(text);
  if (auto json = as_json(value)) {
    return {pointer, std::move(*json)};
  }
  std::vector<io::Json> values;
  if (starts_as_number(value) && value.find(',') == std::string_view::npos) {
    append_numbers(pointer, value, kind_of(pointer), values);
  }
  if (values.size() == 1) {
    return {pointer, std::move(values.front())};
  }
  return {pointer, io::Json(value)};
}

Shard parse_shard(std::string_view text) {
  const std::string shown = base::shown_value(text);
  const std::size_t slash = text.find('/');
  const auto index = whole_number(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : whole_number(text.substr(slash + 1));
  if (!index || !count) {
    throw UsageError("--shard " + shown + ": must be INDEX/COUNT (0/4) or auto");
  }
  return checked(*index, *count, shown);
}

Shard shard_from_environment(const Environment& environment) {
  const auto array = array_part(environment);
  const auto rank = rank_part(environment);
  if (!array && !rank) {
    throw UsageError("--shard auto: neither a job array nor an MPI launcher in the environment: "
                     "give --shard explicitly");
  }
  const Shard a = array.value_or(Shard{});
  const Shard s = rank.value_or(Shard{});
  std::int64_t count{};
  if (__builtin_mul_overflow(a.count, s.count, &count) || count > kMostShards) {
    throw UsageError("--shard auto: too many shards");
  }
  return {a.index * s.count + s.index, count};
}

// Different shards must never write to the same file, so that the name is changed even if it holds
// no "{shard}". A leading dot of a hidden file is no extension.
std::string shard_file_name(const std::string& name, const Shard& shard) {
  const std::string text = std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  static constexpr std::string_view kPlace = "{shard}";
  std::string result = name;
  if (result.find(kPlace) != std::string::npos) {
    for (std::size_t at = result.find(kPlace); at != std::string::npos;
         at = result.find(kPlace, at + text.size())) {
      result.replace(at, kPlace.size(), text);
    }
    return result;
  }
  if (shard.count == 1 || name == "-") {
    return name;
  }
  const std::size_t slash = name.rfind('/');
  const std::size_t base_begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > base_begin;
  result.insert(has_extension ? dot : name.size(), ".shard-" + text);
  return result;
}

} // namespace stepsim::study
