#include "sweep/record_columns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "json/json_text.hpp"

namespace stepsim::study {

namespace {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();
constexpr std::int8_t kNoFlag = -1;

// The code of a text in this block. Texts seldom change from point to point.
std::uint16_t code_of(ColumnCells& cells, std::size_t i, std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if (i > 0 && cells.codes[i - 1] > 0 && cells.texts[cells.codes[i - 1] - 1U] == text) {
    return cells.codes[i - 1];
  }
  const auto found = std::ranges::find(cells.texts, text);
  if (found == cells.texts.end()) {
    cells.texts.emplace_back(text);
    return static_cast<std::uint16_t>(cells.texts.size());
  }
  return static_cast<std::uint16_t>(found - cells.texts.begin() + 1);
}

std::string_view text_of(const ColumnCells& cells, std::size_t i) {
  const std::uint16_t code = cells.codes[i];
  return code == 0 ? std::string_view() : std::string_view(cells.texts[code - 1U]);
}

// A list of counts as a text, "[3,1]"; nothing for an empty one.
std::string counts_text(const std::vector<std::int64_t>& counts) {
  std::string text;
  for (const std::int64_t count : counts) {
    text += text.empty() ? '[' : ',';
    base::append_integer(text, count);
  }
  return text.empty() ? text : text + ']';
}

std::vector<std::int64_t> counts_of(std::string_view text) {
  std::vector<std::int64_t> counts;
  while (!text.empty()) {
    text.remove_prefix(1); // bracket or comma
    std::int64_t count{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    if (read.ec == std::errc{}) {
      counts.push_back(count);
    }
    text.remove_prefix(std::min(text.find(','), text.size()));
  }
  return counts;
}

ColumnType type_of(const SummaryField& field) {
  return field.is_number()                                  ? ColumnType::number
         : std::holds_alternative<SummaryFlag>(field.value) ? ColumnType::flag
                                                            : ColumnType::word;
}

// Numbers as numbers; everything else by its text.
void set_axis_values(RecordColumn& column, const std::vector<io::Json>& values) {
  const bool integers = std::ranges::all_of(values, &io::Json::is_integer);
  const bool numbers = std::ranges::all_of(values, &io::Json::is_number);
  column.type = integers ? ColumnType::integer : numbers ? ColumnType::number : ColumnType::word;
  for (const io::Json& value : values) {
    if (integers) {
      column.integers.push_back(value.as_integer());
    } else if (numbers) {
      column.numbers.push_back(value.as_double());
    } else {
      column.texts.push_back(value.is_string() ? value.as_string() : io::compact(value));
    }
  }
}

// Numbers are set by RecordColumns::set.
void set_figure(ColumnCells& cells, std::size_t i, const SummaryField& field,
                const Summary& summary) {
  if (const auto* flag = std::get_if<SummaryFlag>(&field.value)) {
    const std::optional<bool>& value = summary.**flag;
    cells.flags[i] = value ? static_cast<std::int8_t>(*value) : kNoFlag;
  } else if (const auto* word = std::get_if<SummaryWord>(&field.value)) {
    cells.codes[i] = code_of(cells, i, summary.**word);
  } else if (const auto* counts = std::get_if<SummaryCounts>(&field.value)) {
    cells.codes[i] = code_of(cells, i, counts_text(summary.**counts));
  }
}

void get_figure(const ColumnCells& cells, std::size_t i, const SummaryField& field,
                Summary& summary) {
  if (const auto* number = std::get_if<SummaryNumber>(&field.value)) {
    const double value = cells.numbers[i];
    summary.** number = std::isnan(value) ? std::optional<double>() : value;
  } else if (const auto* flag = std::get_if<SummaryFlag>(&field.value)) {
    const std::int8_t value = cells.flags[i];
    summary.** flag = value == kNoFlag ? std::optional<bool>() : value != 0;
  } else if (const auto* word = std::get_if<SummaryWord>(&field.value)) {
    (summary.**word).assign(text_of(cells, i));
  } else {
    summary.*std::get<SummaryCounts>(field.value) = counts_of(text_of(cells, i));
  }
}

} // namespace

// In the order of the columns of a CSV file.
RecordColumns::RecordColumns(const Sweep& sweep)
    : strides_(sweep.grid.strides()), replications_(sweep.grid.replications) {
  if (!sweep.sample().empty()) {
    throw UsageError("records of collectives hold lists and objects, which a binary file does not: "
                     "write .jsonl or .csv");
  }
  using Source = Records::Source;
  const auto add = [&](std::string key, ColumnType type, Source source) -> RecordColumn& {
    RecordColumn& column = columns_.emplace_back();
    column.key = std::move(key);
    column.type = type;
    column.source = source;
    return column;
  };
  add("point", ColumnType::integer, Source::point);
  add("status", ColumnType::word, Source::status);
  const std::vector<std::string> names = sweep.varied();
  for (std::size_t a = 0; a < names.size(); ++a) {
    RecordColumn& column = add(names[a], {}, Source::axis);
    column.axis = a;
    set_axis_values(column, sweep.grid.axes[a].values);
  }
  if (replications_ > 1) {
    add("replication", ColumnType::integer, Source::replication);
  }
  std::vector<const SummaryField*> fields;
  for (const SummaryField& field : kSummaryFields) {
    fields.push_back(&field);
  }
  std::ranges::sort(fields, {}, &SummaryField::key);
  for (const SummaryField* field : fields) {
    add(std::string(field->key), type_of(*field), Source::summary).field = field;
  }
  add("method", ColumnType::word, Source::method);
  add("error", ColumnType::word, Source::error);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const SummaryField* field = columns_[c].field;
    const auto* number = field == nullptr ? nullptr : std::get_if<SummaryNumber>(&field->value);
    if (number != nullptr) {
      numbers_.push_back({c, *number});
    } else {
      others_.push_back(c);
    }
  }
}

void RecordColumns::resize(ColumnBlock& block, std::size_t size) const {
  block.size = size;
  block.columns.resize(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    ColumnCells& cells = block.columns[c];
    switch (columns_[c].type) {
    case ColumnType::number:
      cells.numbers.resize(size);
      break;
    case ColumnType::integer:
      cells.integers.resize(size);
      break;
    case ColumnType::flag:
      cells.flags.resize(size);
      break;
    case ColumnType::word:
      cells.codes.resize(size);
      cells.texts.clear();
      break;
    }
  }
}

void RecordColumns::set(ColumnBlock& block, std::size_t i, std::int64_t point,
                        const PointOutcome& outcome) const {
  static const Summary kNoFigures{};
  const bool failed = !outcome.error.empty();
  const Summary& summary = failed ? kNoFigures : outcome.summary;
  for (const NumberColumn& column : numbers_) {
    const std::optional<double>& value = summary.*column.member;
    block.columns[column.index].numbers[i] = value && std::isfinite(*value) ? *value : kNull;
  }
  for (const std::size_t c : others_) {
    const RecordColumn& column = columns_[c];
    ColumnCells& cells = block.columns[c];
    switch (column.source) {
    case Records::Source::point:
      cells.integers[i] = point;
      break;
    case Records::Source::status:
      cells.codes[i] = code_of(cells, i, failed ? "error" : "ok");
      break;
    case Records::Source::axis: {
      const auto at = static_cast<std::size_t>(point / strides_[column.axis + 1]);
      if (column.type == ColumnType::number) {
        cells.numbers[i] = column.numbers[at % column.numbers.size()];
      } else if (column.type == ColumnType::integer) {
        cells.integers[i] = column.integers[at % column.integers.size()];
      } else {
        cells.codes[i] = code_of(cells, i, column.texts[at % column.texts.size()]);
      }
      break;
    }
    case Records::Source::replication:
      cells.integers[i] = point % replications_;
      break;
    case Records::Source::summary:
      set_figure(cells, i, *column.field, summary);
      break;
    case Records::Source::method:
      cells.codes[i] = code_of(cells, i, failed ? std::string_view() : outcome.method);
      break;
    case Records::Source::error:
      cells.codes[i] = code_of(cells, i, outcome.error);
      break;
    case Records::Source::record: // of texts only
    case Records::Source::member:
      break;
    }
  }
}

void RecordColumns::get(const ColumnBlock& block, std::size_t i, PointOutcome& outcome) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const RecordColumn& column = columns_[c];
    const ColumnCells& cells = block.columns[c];
    if (column.source == Records::Source::summary) {
      get_figure(cells, i, *column.field, outcome.summary);
    } else if (column.source == Records::Source::method) {
      outcome.method.assign(text_of(cells, i));
    } else if (column.source == Records::Source::error) {
      outcome.error.assign(text_of(cells, i));
    }
  }
}

std::int64_t RecordColumns::point(const ColumnBlock& block, std::size_t i) const {
  return block.columns.front().integers[i];
}

} // namespace stepsim::study
