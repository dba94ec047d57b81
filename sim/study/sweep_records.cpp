#include "study/sweep_records.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/number_text.hpp"

namespace stepsim::study {

namespace {

// RFC 4180: quoted where it holds a comma, a quote or a line end.
void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    out += c;
    if (c == '"') {
      out += '"';
    }
  }
  out += '"';
}

} // namespace

Records::Records(const Grid& grid, RecordFormat format)
    : format_(format), replications_(grid.replications), strides_(grid.strides()) {
  io::Array axes;
  for (const Axis& axis : grid.axes) {
    io::Array values(axis.values.begin(), axis.values.end());
    axes.push_back(io::Json(io::Object{{"field", axis.pointer}, {"values", std::move(values)}}));
    std::vector<std::string>& texts = axis_texts_.emplace_back();
    for (const io::Json& value : axis.values) {
      append_json(texts.emplace_back(), value);
    }
  }
  axes_ = io::Json(std::move(axes));

  std::vector<Column> summary;
  const auto fields = summary_fields();
  for (const auto& [key, value] : flat_summary(Summary{})) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const SummaryField& field) { return field.key == key; });
    const bool is_number = found != fields.end();
    summary.push_back({key, is_number ? Source::number : Source::other, 0,
                       is_number ? found->value : nullptr, ""});
  }
  const auto by_key = [](const Column& a, const Column& b) { return a.key < b.key; };
  std::sort(summary.begin(), summary.end(), by_key);

  if (format == RecordFormat::jsonl) {
    columns_.push_back({"record", Source::record, 0, nullptr, ""});
  }
  columns_.push_back({"point", Source::point, 0, nullptr, ""});
  columns_.push_back({"status", Source::status, 0, nullptr, ""});
  const std::vector<std::string> names = grid.field_names();
  for (std::size_t a = 0; a < names.size(); ++a) {
    columns_.push_back({names[a], Source::axis, a, nullptr, ""});
  }
  if (replications_ > 1) {
    columns_.push_back({"replication", Source::replication, 0, nullptr, ""});
  }
  columns_.insert(columns_.end(), summary.begin(), summary.end());
  columns_.push_back({"method", Source::method, 0, nullptr, ""});
  columns_.push_back({"error", Source::error, 0, nullptr, ""});
  if (format == RecordFormat::jsonl) {
    std::sort(columns_.begin(), columns_.end(), by_key);
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::string& prefix = columns_[c].prefix;
    prefix.append(c > 0 ? "," : (format == RecordFormat::jsonl ? "{" : ""));
    if (format == RecordFormat::jsonl) {
      io::append_compact(prefix, io::Json(columns_[c].key));
      prefix += ':';
    }
  }
}

std::string Records::header(std::string_view tool, std::string_view grid_hash,
                            const Shard& shard) const {
  const io::Json json(io::Object{{"record", "header"},
                                 {"schema_version", 1},
                                 {"tool", tool},
                                 {"points_total", points()},
                                 {"grid_hash", grid_hash},
                                 {"shard", shard.index},
                                 {"shards", shard.count},
                                 {"axes", axes_}});
  std::string text = format_ == RecordFormat::csv ? "# " : "";
  io::append_compact(text, json);
  text += '\n';
  if (format_ == RecordFormat::csv) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      text += c > 0 ? "," : "";
      append_text(text, columns_[c].key);
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
  append_csv_text(out, text);
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

void Records::append_value(std::string& out, const Column& column, std::int64_t point,
                           const PointOutcome& outcome) const {
  const bool json = format_ == RecordFormat::jsonl;
  const bool failed = !outcome.error.empty();
  const std::string_view null = json ? "null" : "";
  switch (column.source) {
  case Source::record:
    out += "\"point\"";
    return;
  case Source::point:
    base::append_integer(out, point);
    return;
  case Source::status:
    out += json ? (failed ? "\"error\"" : "\"ok\"") : (failed ? "error" : "ok");
    return;
  case Source::axis: {
    const auto& texts = axis_texts_[column.axis];
    out += texts[static_cast<std::size_t>(point / strides_[column.axis + 1]) % texts.size()];
    return;
  }
  case Source::replication:
    base::append_integer(out, point % replications_);
    return;
  case Source::number: {
    const std::optional<double>& value = outcome.summary.*column.number;
    if (failed || !value || !std::isfinite(*value)) {
      out += null;
    } else {
      base::append_shortest(out, *value);
    }
    return;
  }
  case Source::other: {
    // The few keys that are words or truth values.
    const Summary& summary = outcome.summary;
    if (failed) {
      out += null;
    } else if (column.key == "bottleneck" || column.key == "baseline") {
      const std::string& text = column.key == "bottleneck" ? summary.bottleneck : summary.baseline;
      if (text.empty()) {
        out += null;
      } else {
        append_text(out, text);
      }
    } else {
      for (const auto& [key, value] : flat_summary(summary)) {
        if (key == column.key) {
          append_json(out, value);
        }
      }
    }
    return;
  }
  case Source::method:
    if (failed || outcome.method.empty()) {
      out += null;
    } else {
      append_text(out, outcome.method);
    }
    return;
  case Source::error:
    if (failed) {
      append_text(out, outcome.error);
    } else {
      out += null;
    }
    return;
  }
}

void Records::append(std::string& out, std::int64_t point, const PointOutcome& outcome) const {
  for (const Column& column : columns_) {
    out += column.prefix;
    append_value(out, column, point, outcome);
  }
  out += format_ == RecordFormat::jsonl ? "}\n" : "\n";
}

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

} // namespace stepsim::study
