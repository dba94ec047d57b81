// A record is its columns one after the other, each with a prefix that was made once. Text cells of
// axis values are made once, too, so that only numbers are formatted per point.
#include "study/sweep/sweep_records.hpp"

#include <cmath>

#include "base/random.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

namespace stepsim::study {

// A direct-mapped cache by the bits of the number: a collision overwrites, and -0.0 and 0.0 are two
// entries. The text is the shortest one that reads back as the same number.
void NumberTexts::append(std::string& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  Entry& entry = entries_[base::mix64(bits) % entries_.size()];
  if (entry.bits != bits) {
    const auto written =
        std::to_chars(entry.text.data(), entry.text.data() + entry.text.size(), value);
    entry.bits = bits;
    entry.size = static_cast<std::uint8_t>(written.ptr - entry.text.data());
  }
  out.append(entry.text.data(), entry.size);
}

// JSON keys are sorted so that a record reads the same whoever writes it; CSV columns have the
// order of a reader, with the figures sorted.
Records::Records(const Sweep& sweep, RecordFormat format, std::span<const std::string> chosen)
    : format_(format), replications_(sweep.grid.replications), strides_(sweep.grid.strides()) {
  const Grid& grid = sweep.grid;
  io::Array axes;
  for (const Axis& axis : grid.axes) {
    io::Array values(axis.values.begin(), axis.values.end());
    axes.push_back(io::Json(io::Object{{"field", axis.pointer}, {"values", std::move(values)}}));
    std::vector<std::string>& texts = axis_texts_.emplace_back();
    for (const io::Json& value : axis.values) {
      const io::Json* name =
          value.is_object() ? value.find("name") : nullptr; // a schedule of one's own
      append_json(texts.emplace_back(), name != nullptr ? *name : value);
    }
  }
  axes_ = io::Json(std::move(axes));

  std::vector<Column> columns;
  const auto add = [&](std::string key, Source source) {
    columns.push_back({std::move(key), source, 0, nullptr, "", "", ""});
  };
  if (format == RecordFormat::jsonl) {
    add("record", Source::record);
  }
  add("point", Source::point);
  add("status", Source::status);
  const std::vector<std::string> names = sweep.varied();
  for (std::size_t a = 0; a < names.size(); ++a) {
    columns.push_back({names[a], Source::axis, a, nullptr, "", "", ""});
  }
  if (replications_ > 1) {
    add("replication", Source::replication);
  }
  const auto summary_begin = static_cast<std::ptrdiff_t>(columns.size());
  const io::Object sample = sweep.sample();
  for (const SummaryField& field : kSummaryFields) {
    if (sample.empty()) {
      columns.push_back({std::string(field.key), Source::summary, 0, &field, "", "", ""});
    }
  }
  // In CSV every number of an object has its own column, and a list has none.
  for (const auto& [key, value] : sample) {
    const bool csv = format == RecordFormat::csv;
    if (csv && value.is_object()) {
      for (const auto& [part, number] : value.as_object()) {
        columns.push_back({key + "_" + part, Source::member, 0, nullptr, key, part, ""});
      }
    } else if (key != "method" && !(csv && value.is_array())) {
      columns.push_back({key, Source::member, 0, nullptr, key, "", ""});
    }
  }
  const auto by_key = [](const Column& a, const Column& b) { return a.key < b.key; };
  std::sort(columns.begin() + summary_begin, columns.end(), by_key);
  if (!chosen.empty()) {
    const std::vector<Column> all(columns.begin() + summary_begin, columns.end());
    columns.resize(static_cast<std::size_t>(summary_begin));
    for (const std::string& key : chosen) {
      columns.push_back(base::row_named(all, &Column::key, key, "--columns: ", "figure"));
    }
    chosen_ = io::Array(chosen.begin(), chosen.end());
  }
  add("method", Source::method);
  add("error", Source::error);
  if (format == RecordFormat::jsonl) {
    std::sort(columns.begin(), columns.end(), by_key);
  }
  // Keys and separators are the text before a value.
  const bool json = format == RecordFormat::jsonl;
  end_ = json ? "{" : "";
  for (Column& column : columns) {
    end_.append(keys_.empty() ? "" : ",");
    keys_.push_back(column.key);
    if (json) {
      io::append_compact(end_, io::Json(column.key));
      end_ += ':';
    }
    column.prefix = std::exchange(end_, std::string());
    columns_.push_back(std::move(column));
  }
  end_.append(json ? "}\n" : "\n");
}

std::string Records::header(std::string_view tool, std::string_view grid_hash, const Shard& shard,
                            const io::Object& base) const {
  io::Json json(io::Object{{"record", "header"},
                           {"schema_version", 1},
                           {"tool", tool},
                           {"points_total", points()},
                           {"grid_hash", grid_hash},
                           {"shard", shard.index},
                           {"shards", shard.count},
                           {"axes", axes_}});
  if (!chosen_.is_null()) {
    json.set("columns", chosen_);
  }
  for (const auto& [key, value] : base) {
    json.set(key, value);
  }
  std::string text = format_ == RecordFormat::csv ? "# " : "";
  io::append_compact(text, json);
  text += '\n';
  if (format_ == RecordFormat::csv) {
    for (std::size_t c = 0; c < keys_.size(); ++c) {
      text += c > 0 ? "," : "";
      append_text(text, keys_[c]);
    }
    text += '\n';
  }
  return text;
}

// A text cell: JSON string, or RFC 4180 field, quoted where it must be.
void Records::append_text(std::string& out, std::string_view text) const {
  if (format_ == RecordFormat::jsonl) {
    io::append_compact(out, io::Json(text));
    return;
  }
  io::append_csv_cell(out, text);
}

// A text cell, null if empty; words of ours need no escapes.
void Records::append_word(std::string& out, std::string_view word) const {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (word.empty()) {
    out += format_ == RecordFormat::jsonl ? "null" : "";
  } else if (format_ == RecordFormat::jsonl && std::all_of(word.begin(), word.end(), is_plain)) {
    out += '"';
    out += word;
    out += '"';
  } else {
    append_text(out, word);
  }
}

// Records are flat: a list or an object becomes its text.
void Records::append_json(std::string& out, const io::Json& value) const {
  if (value.is_array() || value.is_object()) {
    append_text(out, io::compact(value));
  } else if (value.is_string()) {
    append_text(out, value.as_string());
  } else if (format_ == RecordFormat::jsonl || !value.is_null()) {
    io::append_compact(out, value);
  }
}

namespace {

// Appends the number, or null if there is none or it is beyond the range of numbers.
void append_number(std::string& out, const std::optional<double>& value, std::string_view null,
                   NumberTexts& numbers) {
  if (value && std::isfinite(*value)) {
    numbers.append(out, *value);
  } else if (!null.empty()) {
    out += null;
  }
}

} // namespace

// As `flat_summary`, but for numbers that are beyond their range.
void Records::append_summary(std::string& out, const SummaryField& field, const Summary& summary,
                             NumberTexts& numbers) const {
  const std::string_view null = format_ == RecordFormat::jsonl ? "null" : "";
  if (const auto* number = std::get_if<SummaryNumber>(&field.value)) {
    append_number(out, summary.**number, null, numbers);
  } else if (const auto* flag = std::get_if<SummaryFlag>(&field.value)) {
    const std::optional<bool>& value = summary.**flag;
    out += value ? std::string_view(*value ? "true" : "false") : null;
  } else if (const auto* word = std::get_if<SummaryWord>(&field.value)) {
    append_word(out, summary.**word);
  } else if (const auto* parts = std::get_if<SummaryParts>(&field.value);
             parts != nullptr && (summary.**parts).empty()) {
    out += format_ == RecordFormat::jsonl ? "[]" : "";
  } else { // a list
    const io::Json list = figure_json(summary, field);
    if (format_ == RecordFormat::jsonl) {
      io::append_compact(out, list);
    } else if (!list.as_array().empty()) {
      append_json(out, list);
    }
  }
}

// A compressed exchange that is a formula has null in place of an object.
void Records::append_member(std::string& out, const Column& column, const io::Json& record) const {
  const io::Json* value = record.find(column.member);
  if (value != nullptr && !column.part.empty()) {
    value = value->find(column.part);
  }
  if (format_ == RecordFormat::jsonl) {
    io::append_compact(out, value != nullptr ? *value : io::Json());
  } else if (value != nullptr) {
    append_json(out, *value);
  }
}

void Records::append_value(std::string& out, const Column& column, std::int64_t point,
                           const PointOutcome& outcome, NumberTexts& numbers) const {
  const bool failed = !outcome.error.empty();
  switch (column.source) {
  case Source::record:
    append_word(out, "point");
    return;
  case Source::point:
    base::append_integer(out, point);
    return;
  case Source::status:
    append_word(out, failed ? "error" : "ok");
    return;
  case Source::axis: {
    const auto& texts = axis_texts_[column.axis];
    out += texts[static_cast<std::size_t>(point / strides_[column.axis + 1]) % texts.size()];
    return;
  }
  case Source::replication:
    base::append_integer(out, point % replications_);
    return;
  case Source::summary:
    if (failed) {
      out += format_ == RecordFormat::jsonl ? "null" : "";
    } else {
      append_summary(out, *column.field, outcome.summary, numbers);
    }
    return;
  case Source::member:
    append_member(out, column, failed ? io::Json() : outcome.collective);
    return;
  case Source::method:
    append_word(out, failed ? "" : outcome.method);
    return;
  case Source::error:
    append_word(out, outcome.error);
    return;
  }
}

void Records::append(std::string& out, std::int64_t point, const PointOutcome& outcome,
                     NumberTexts& numbers) const {
  const std::string_view null = format_ == RecordFormat::jsonl ? "null" : "";
  for (const Column& column : columns_) {
    if (column.prefix.size() == 1) { // a comma
      out.push_back(column.prefix.front());
    } else {
      out += column.prefix;
    }
    const bool is_figure = column.source == Source::summary && outcome.error.empty();
    const auto* number = is_figure ? std::get_if<SummaryNumber>(&column.field->value) : nullptr;
    if (number != nullptr) { // most columns
      append_number(out, outcome.summary.**number, null, numbers);
    } else {
      append_value(out, column, point, outcome, numbers);
    }
  }
  out += end_;
}

// Used on every line when a sweep is resumed or merged; parsing JSON would take longer than many
// points take to run.
RecordMark record_mark(std::string_view line, RecordFormat format) {
  // In a flat record an unescaped `"point":` can only be the key.
  static constexpr std::string_view kPoint = "\"point\":";
  RecordMark mark;
  std::string_view rest = line;
  if (format == RecordFormat::jsonl) {
    const std::size_t at = line.find(kPoint);
    if (at == std::string_view::npos || !line.starts_with('{') || !line.ends_with('}')) {
      return mark;
    }
    rest = line.substr(at + kPoint.size());
    mark.failed = line.find("\"status\":\"error\"") != std::string_view::npos;
  }
  std::int64_t point{};
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), point);
  if (result.ec != std::errc{} || point < 0) {
    return mark;
  }
  if (format == RecordFormat::csv) {
    const auto behind = rest.substr(static_cast<std::size_t>(result.ptr - rest.data()));
    mark.failed = behind.starts_with(",error,");
    if (!mark.failed && !behind.starts_with(",ok,")) {
      return mark;
    }
  }
  mark.point = point;
  return mark;
}

bool is_sweep_output(std::string_view head) {
  return head.starts_with("{\"axes\":[") || head.starts_with("# {\"axes\":[");
}

} // namespace stepsim::study
