// The kind of a file is told by its first bytes: a brace or bracket is JSON, everything else CSV. A
// file of JSON Lines has a whole object in its first line.
#include "cli/plot/rows_figure.hpp"

#include "cli/shell/unit_text.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

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
    if (const io::Json* field = axis.find("field"); field != nullptr && field->is_string()) {
      out.varied.push_back(field->as_string());
    }
  }
}

void add_record(const io::Json& record, std::int64_t line, const std::string& path, PlotRows& out) {
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
  out.rows.push_back(io::flattened(record));
  out.rows.back().set_origin(nullptr, "", line);
}

void read_lines(std::string_view text, const std::string& path, PlotRows& out) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
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
  for (const char* key : {"notes", "warnings"}) {
    if (const io::Json* lines = tree.find(key); lines != nullptr && lines->is_array()) {
      for (const io::Json& line : lines->as_array()) {
        out.said.push_back(plain_cell(line));
      }
    }
  }
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
    add_record(record, record.line(), path, out);
  }
}

// Pointers of the axes become the names of their columns: the last token, or the whole pointer
// where two would be equal. A record without the value of an axis stands at no point of the sweep.
void name_axes(const std::string& path, PlotRows& out) {
  for (std::string& name : out.varied) {
    if (out.rows.empty() || out.rows.front().find(name) == nullptr) {
      name.erase(0, name.rfind('/') + 1);
    }
    for (const io::Json& row : out.rows) {
      if (row.find(name) == nullptr) {
        throw InputError(path, std::to_string(row.line()),
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
    add_record(record, rows[i].line, path, out);
  }
}

// The keys of a record that its throughput follows from.
bool is_of_step(std::string_view key) {
  return key == study::kIterationTime || key == "samples_per_s" || key == "speedup" ||
         key == "scaling_efficiency";
}

// "iteration_time_s" and "low": "iteration_time_low_s".
std::string key_of_end(const std::string& key, std::string_view end) {
  const std::size_t unit = std::min(key.rfind('_'), key.size());
  return key.substr(0, unit) + "_" + std::string(end) + key.substr(unit);
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
    if (const std::string kind = out.rows.front().text("kind"); !kind.empty()) {
      throw InputError(path, "/kind",
                       "this is a file of kind " + kind +
                           ": stepsim sweep, compare and collective write records");
    }
  }
  name_axes(path, out);
  return out;
}

io::Json cell_of(const io::Json& row, std::string_view key) {
  const io::Json* value = row.find(key);
  return value == nullptr ? io::Json() : *value;
}

bool matches(const io::Json& row, const KeyValue& wanted) {
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

bool matches_all(const io::Json& row, std::span<const KeyValue> wanted) {
  return std::ranges::all_of(wanted, [&](const KeyValue& each) { return matches(row, each); });
}

// Rows are grouped by the value of `by` when the curves are made; the other members find the row of
// a point again by the curve's label and the point's x.

std::vector<plot::Curve> CurveRows::curves() {
  std::vector<plot::Curve> out;
  for (const io::Json& row : rows_.rows) {
    const io::Json x = cell_of(row, request_.x);
    const io::Json y = cell_of(row, request_.y);
    if (!matches_all(row, request_.where) || !x.is_number() || !y.is_number()) {
      continue;
    }
    const std::string value = request_.by.empty() ? "" : plain_cell(cell_of(row, request_.by));
    auto curve = std::ranges::find(out, value, &plot::Curve::label);
    if (curve == out.end()) {
      curve = out.insert(out.end(), {.label = value, .rank = out.size()});
    }
    const auto [other, fresh] = at_x_[value].emplace(x.as_double(), &row);
    if (!fresh) {
      refuse_shared(*other->second, row);
    }
    curve->points.push_back({x.as_double(), y.as_double(), static_cast<std::size_t>(row.line())});
  }
  for (plot::Curve& curve : out) {
    std::ranges::stable_sort(curve.points, {}, &plot::Point::x);
  }
  return out;
}

plot::Guide CurveRows::ideal(const plot::Curve& curve) const {
  plot::Guide guide{.label = "ideal"};
  const std::string& y = request_.y;
  const bool times = quantity_of(y) == base::QuantityKind::time;
  const plot::Point& first = curve.points.front();
  for (const plot::Point& point : curve.points) {
    const io::Json efficiency = cell_of(row_at(curve, point), "scaling_efficiency");
    const double share = efficiency.is_number() ? efficiency.as_double() : 0;
    const double ideal = y == "scaling_efficiency"    ? 1
                         : is_of_step(y) && share > 0 ? (times ? point.y * share : point.y / share)
                         : times || is_share(y)       ? first.y
                                                      : first.y * point.x / first.x;
    guide.points.push_back({point.x, ideal});
  }
  return guide;
}

plot::Point CurveRows::knee(const plot::Curve& curve) const {
  const std::string& y = request_.y;
  const bool times = quantity_of(y) == base::QuantityKind::time;
  const bool efficiency = y == "scaling_efficiency";
  if (!efficiency && (is_share(y) || quantity_of(y) == base::QuantityKind::size)) {
    throw UsageError("--knee: " + y + " tells no throughput; give --y samples_per_s, speedup, " +
                     "scaling_efficiency or a time");
  }
  std::vector<plot::Point> throughputs = curve.points;
  for (plot::Point& point : throughputs) { // of steps of one length: twice the workers, twice
    point.y = times ? point.x / point.y : efficiency ? point.x * point.y : point.y;
  }
  for (const std::string_view key : {"speedup", "samples_per_s"}) {
    const auto value = [&](const plot::Point& point) { return cell_of(row_at(curve, point), key); };
    if (is_of_step(y) && std::ranges::all_of(curve.points, &io::Json::is_number, value)) {
      std::ranges::transform(curve.points, throughputs.begin(), [&](const plot::Point& point) {
        return plot::Point{point.x, value(point).as_double()};
      });
    }
  }
  const std::optional<plot::Point> found = plot::knee(throughputs);
  if (!found) {
    throw UsageError("--knee: needs the least " + request_.x + " and its double");
  }
  return *std::ranges::find(curve.points, found->x, &plot::Point::x);
}

plot::Band CurveRows::interval(const plot::Curve& curve) const {
  const bool rate = request_.y == "samples_per_s";
  const std::string key(rate ? study::kIterationTime : request_.y);
  const bool of_step = key == study::kIterationTime;
  plot::Band out{.label = request_.band_label.empty() ? "interval" : request_.band_label};
  for (const plot::Point& point : curve.points) {
    const io::Json& record = row_at(curve, point);
    const auto low = study::number_in(record, key_of_end(key, "low"));
    const auto high = study::number_in(record, key_of_end(key, "high"));
    if (!low || !high) {
      continue;
    }
    if (const auto level = study::number_in(record, "interval_level");
        of_step && level && request_.band_label.empty()) {
      out.label = base::percent(*level, 2) + " interval";
    }
    const double samples = point.y * study::number_in(record, key).value_or(0);
    out.points.push_back(rate ? plot::Band::At{point.x, samples / *high, samples / *low, point.row}
                              : plot::Band::At{point.x, *low, *high, point.row});
  }
  return out;
}

plot::Band CurveRows::band(const std::string& first) const {
  std::map<double, std::vector<double>> at_x;
  std::vector<KeyValue> others = request_.where; // its own key may have another value in curves
  std::erase_if(others, [&](const KeyValue& each) { return each.first == request_.band->first; });
  for (const io::Json& row : rows_.rows) {
    const io::Json x = cell_of(row, request_.x);
    const io::Json y = cell_of(row, request_.y);
    const bool of_first = request_.by.empty() || plain_cell(cell_of(row, request_.by)) == first;
    if (of_first && matches(row, *request_.band) && matches_all(row, others) && x.is_number() &&
        y.is_number()) {
      at_x[x.as_double()].push_back(y.as_double());
    }
  }
  constexpr double kLow = 0.05, kHigh = 0.95;
  plot::Band out{.label = request_.band_label};
  for (auto& [x, values] : at_x) {
    std::ranges::sort(values);
    out.points.push_back({x, base::quantile(values, kLow), base::quantile(values, kHigh)});
  }
  if (out.points.empty()) {
    throw UsageError("--band " + request_.band->first + "=" + request_.band->second +
                     ": no record has this value");
  }
  return out;
}

const io::Json& CurveRows::row_at(const plot::Curve& curve, const plot::Point& point) const {
  return *at_x_.at(curve.label).at(point.x);
}

// Names what tells the two rows apart: an axis of the sweep, else a word.
void CurveRows::refuse_shared(const io::Json& a, const io::Json& b) const {
  std::string key;
  for (const auto& [name, value] : b.as_object()) {
    const bool axis = std::ranges::find(rows_.varied, name) != rows_.varied.end();
    const bool differs = value != cell_of(a, name) && name != request_.y;
    if (differs && (axis || (key.empty() && value.is_string()))) {
      key = name;
    }
  }
  throw UsageError("--x " + request_.x + ": lines " + std::to_string(a.line()) + " and " +
                   std::to_string(b.line()) + " have the same value" +
                   (key.empty() ? "; choose records by --where KEY=VALUE"
                                : "; give --by " + key + " or --where " + key + "=VALUE"));
}

} // namespace stepsim::cli
