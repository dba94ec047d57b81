// The kind of a file is told by its first bytes: a brace or bracket is JSON, everything else CSV. A
// file of JSON Lines has a whole object in its first line.
#include "cli/plot/rows_figure.hpp"

#include "document/csv.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"

namespace stepsim::cli {

namespace {

// The name of the scenario and the pointers of the axes.
void read_header(const io::Json& header, PlotRows& out) {
  out.header = header;
  if (const io::Json* scenario = header.find("scenario")) {
    out.name = scenario->text("name");
  }
  const io::Json* axes = header.find("axes");
  if (axes == nullptr || !axes->is_array()) {
    return;
  }
  for (const io::Json& axis : axes->as_array()) {
    const io::Json* field = axis.find("field");
    if (field != nullptr && field->is_string()) {
      out.varied.push_back(field->as_string());
    }
  }
}

void add_record(const io::Json& record, std::size_t line, const std::string& path, PlotRows& out) {
  if (!record.is_object()) {
    throw InputError(path, std::to_string(line), "must be a record, a JSON object");
  }
  const io::Json* kind = record.find("record");
  if (kind != nullptr && *kind == io::Json("header")) {
    read_header(record, out);
    return;
  }
  if (kind != nullptr && *kind != io::Json("point")) { // sums and crossings of collective
    return;
  }
  const io::Json* status = record.find("status");
  if ((status != nullptr && *status == io::Json("error")) || !record.text("error").empty()) {
    ++out.failed;
    return;
  }
  out.rows.push_back({line, io::flattened(record)});
}

void read_lines(std::string_view text, const std::string& path, PlotRows& out) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.find_first_not_of(" \t\r") != line.npos) {
      add_record(io::parse_json(line, path + ":" + std::to_string(number)), number, path, out);
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

void read_document(std::string_view text, const std::string& path, PlotRows& out) {
  const io::Json tree = io::parse_json(text, path);
  out.best_by = tree.is_object() ? tree.text("best_by") : "";
  const io::Json* list = tree.is_array() ? &tree : nullptr;
  for (const char* key : {"rows", "curve", "points"}) {
    const io::Json* found = tree.find(key);
    list = list == nullptr && found != nullptr && found->is_array() ? found : list;
  }
  if (list == nullptr) {
    add_record(tree, 1, path, out);
    return;
  }
  for (const io::Json& record : list->as_array()) {
    add_record(record, static_cast<std::size_t>(record.line()), path, out);
  }
}

// Pointers of the axes become the names of their columns: the last token, or the whole pointer
// where two would be equal. A record without the value of an axis stands at no point of the sweep.
void name_axes(const std::string& path, PlotRows& out) {
  for (std::string& name : out.varied) {
    if (out.rows.empty() || out.rows.front().record.find(name) == nullptr) {
      name.erase(0, name.rfind('/') + 1);
    }
    for (const PlotRow& row : out.rows) {
      if (row.record.find(name) == nullptr) {
        throw InputError(path, std::to_string(row.line),
                         "the record has no " + base::shown_value(name) + ", an axis of the sweep");
      }
    }
  }
  if (!out.name.empty() && !out.varied.empty()) {
    const auto words = [](const std::string& name) { return key_axis(name, 0).axis.title; };
    out.name += ", with " + base::listed(out.varied, words, ", ", " and ") + " varied";
  }
}

io::Json csv_value(const std::string& text) {
  if (text.empty()) {
    return {};
  }
  if (const auto whole = base::parse_number<std::int64_t>(text)) {
    return *whole;
  }
  if (text.front() == '\'' && io::is_formula(std::string_view(text).substr(1))) {
    return text.substr(1);
  }
  const auto number = base::parse_number<double>(text);
  return number ? io::Json(*number) : io::Json(text);
}

void read_table(std::string_view text, const std::string& path, PlotRows& out) {
  constexpr std::string_view kComment = "# ";
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.starts_with("# {")) { // the header record of a sweep
    read_header(io::parse_json(first.substr(kComment.size()), path), out);
  }
  const std::vector<io::CsvRow> rows = io::parse_csv(text, path);
  if (rows.empty()) {
    throw InputError(path, "", "no records");
  }
  const std::vector<std::string>& keys = rows.front().fields;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    io::Json record(io::Object{});
    if (rows[i].fields.size() != keys.size()) {
      throw InputError(path, std::to_string(rows[i].line),
                       std::to_string(rows[i].fields.size()) + " cells, the first row has " +
                           std::to_string(keys.size()));
    }
    for (std::size_t cell = 0; cell < keys.size(); ++cell) {
      record.set(keys[cell], csv_value(rows[i].fields[cell]));
    }
    add_record(record, static_cast<std::size_t>(rows[i].line), path, out);
  }
}

} // namespace

PlotRows read_plot_rows(const std::string& text, const std::string& path) {
  PlotRows out;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : text[start];
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  if (first == '{' && line.find_last_of('}') != std::string_view::npos) {
    read_lines(text, path, out);
  } else if (first == '{' || first == '[') {
    read_document(text, path, out);
  } else {
    read_table(text, path, out);
  }
  if (out.rows.size() == 1 && out.header.is_null()) { // or no record at all
    if (const std::string kind = out.rows.front().record.text("kind"); !kind.empty()) {
      throw InputError(path, "/kind",
                       "this is a file of kind " + kind +
                           ": stepsim sweep, compare and collective write records");
    }
  }
  name_axes(path, out);
  return out;
}

io::Json cell_of(const PlotRow& row, std::string_view key) {
  const io::Json* value = row.record.find(key);
  return value == nullptr ? io::Json() : *value;
}

bool matches(const PlotRow& row, const KeyValue& wanted) {
  const io::Json value = cell_of(row, wanted.first);
  if (value.is_number()) {
    if (plain_cell(value) == wanted.second) {
      return true;
    }
    const auto number = base::parse_quantity(
        wanted.second, base::kind_of_key(wanted.first).value_or(base::QuantityKind::ratio),
        base::BareNumber::si);
    const double* found = std::get_if<double>(&number);
    return found != nullptr && std::abs(*found - value.as_double()) <= 1e-9 * std::abs(*found);
  }
  return plain_cell(value) == wanted.second;
}

bool matches_all(const PlotRow& row, std::span<const KeyValue> wanted) {
  return std::ranges::all_of(wanted, [&](const KeyValue& each) { return matches(row, each); });
}

} // namespace stepsim::cli
