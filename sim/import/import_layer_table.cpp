// Columns are found by name, in any order; the name of a column of times says its unit. One row is
// one layer. All bad rows are reported together, as in every file of many rows.
#include "import/import_layer_table.hpp"

#include "document/csv.hpp"
#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

namespace {

// A column of the wrong unit makes every row wrong; after this many nobody reads on.
constexpr std::size_t kMostProblems = 20;

// What a column can hold; several names may mean one.
enum class Column { name, params, bytes, forward, backward, dtype, tensors };

struct ColumnName {
  std::string_view text;
  Column column;
  int exponent = 0; // of ten: the unit of a time in seconds
};
constexpr std::array kColumns{
    ColumnName{"name", Column::name},
    ColumnName{"params", Column::params},
    ColumnName{"bytes", Column::bytes},
    ColumnName{"dtype", Column::dtype},
    ColumnName{"tensors", Column::tensors},
    ColumnName{"fwd_s", Column::forward, 0},
    ColumnName{"fwd_ms", Column::forward, -3},
    ColumnName{"fwd_us", Column::forward, -6},
    ColumnName{"forward_s", Column::forward, 0},
    ColumnName{"forward_ms", Column::forward, -3},
    ColumnName{"forward_us", Column::forward, -6},
    ColumnName{"bwd_s", Column::backward, 0},
    ColumnName{"bwd_ms", Column::backward, -3},
    ColumnName{"bwd_us", Column::backward, -6},
    ColumnName{"backward_s", Column::backward, 0},
    ColumnName{"backward_ms", Column::backward, -3},
    ColumnName{"backward_us", Column::backward, -6},
};

// Which column of the table holds what; a place for each Column.
// Places are positions in the rows, empty for columns that the table does not have.
struct Header {
  std::array<std::optional<std::size_t>, 7> place;
  std::vector<const ColumnName*> names;

  [[nodiscard]] std::optional<std::size_t> at(Column column) const {
    return place[static_cast<std::size_t>(column)];
  }
};

// One problem of a row; the caller adds the line.
struct RowProblem {
  std::string message;
};

// Throws InputError for columns that are unknown, missing or there twice.
Header read_header(const CsvRow& row, const std::string& file) {
  const std::string line = std::to_string(row.line);
  Header header;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const std::string_view text = trimmed(row.fields[i]);
    const auto known = std::ranges::find(kColumns, text, &ColumnName::text);
    if (known == kColumns.end()) {
      std::array<std::string_view, kColumns.size()> words;
      std::ranges::transform(kColumns, words.begin(), &ColumnName::text);
      throw InputError(file, line,
                       "unknown column " + base::shown_value(text) +
                           base::did_you_mean(text, words));
    }
    auto& place = header.place[static_cast<std::size_t>(known->column)];
    if (place) {
      throw InputError(file, line,
                       "columns " + std::string(header.names[*place]->text) + " and " +
                           std::string(text) + " say the same");
    }
    place = i;
    header.names.push_back(&*known);
  }
  const auto require = [&](bool present, std::string_view what) {
    if (!present) {
      throw InputError(file, line, "missing column: " + std::string(what));
    }
  };
  require(header.at(Column::name).has_value(), "name");
  require(header.at(Column::params) || header.at(Column::bytes), "params or bytes");
  require(header.at(Column::forward).has_value(), "a forward time (fwd_s, fwd_ms, fwd_us)");
  require(header.at(Column::backward).has_value(), "a backward time (bwd_s, bwd_ms, bwd_us)");
  return header;
}

std::string quoted(std::string_view text) { return '"' + base::shown_value(text) + '"'; }

// One row to one layer; what is wrong with it leaves as a RowProblem, and the next row goes on.
class RowReader {
public:
  RowReader(const Header& header, const CsvRow& row) : header_(header), row_(row) {}

  layers::Layer layer() const {
    if (row_.fields.size() != header_.names.size()) {
      throw RowProblem{
          fmt::format("expected {} fields, got {}", header_.names.size(), row_.fields.size())};
    }
    layers::Layer layer;
    layer.name = *text(Column::name);
    if (layer.name.empty()) {
      throw RowProblem{"name: required"};
    }
    layer.forward = time(Column::forward);
    layer.backward = time(Column::backward);
    const DtypeWord type = item_type();
    const auto elements = count(Column::params, type.bytes);
    const auto bytes = count(Column::bytes, 1);
    if (!elements && !bytes) {
      throw RowProblem{"give params or bytes"};
    }
    if (elements && bytes && *bytes != *elements * type.bytes) {
      // Two columns that contradict each other: no telling which of them is right.
      throw RowProblem{fmt::format("bytes {} but params {} x {}", *bytes, *elements, type.bytes)};
    }
    // Either column is enough.
    layer.gradient_bytes = Bytes{bytes ? *bytes : *elements * type.bytes};
    add_tensors(layer, type);
    return layer;
  }

private:
  // Empty optional if the column is absent.
  [[nodiscard]] std::optional<std::string_view> text(Column column) const {
    const auto place = header_.at(column);
    return place ? std::optional(trimmed(row_.fields[*place])) : std::nullopt;
  }
  // As the table calls it, so that a message names the column that its reader sees.
  [[nodiscard]] std::string name_of(Column column) const {
    return std::string(header_.names[*header_.at(column)]->text);
  }

  // By the unit in the name of the column, exactly: digits are moved, not multiplied.
  [[nodiscard]] Seconds time(Column column) const {
    const std::string_view field = *text(column);
    const auto value = parse_scaled(field, header_.names[*header_.at(column)]->exponent);
    if (!value) {
      throw RowProblem{name_of(column) + ": not a number: " + quoted(field)};
    }
    if (*value < 0) {
      throw RowProblem{name_of(column) + ": must be >= 0, got " + std::string(field)};
    }
    return {*value};
  }

  // Bounded so that bytes stay exact in a double.
  [[nodiscard]] std::int64_t whole(std::string_view field, const std::string& name,
                                   std::int64_t item_bytes) const {
    const auto value = parse_whole(field);
    if (!value) {
      throw RowProblem{name + ": not a whole number: " + quoted(field)};
    }
    if (*value < 0 || *value > base::kMaxExactBytes / item_bytes) {
      throw RowProblem{fmt::format("{}: must be in 0..{}, got {}", name,
                                   base::kMaxExactBytes / item_bytes, field)};
    }
    return *value;
  }

  // Empty if the column or its field is.
  [[nodiscard]] std::optional<std::int64_t> count(Column column, std::int64_t item_bytes) const {
    const auto field = text(column);
    if (!field || field->empty()) {
      return std::nullopt;
    }
    return whole(*field, name_of(column), item_bytes);
  }

  // float32 where the table does not say.
  [[nodiscard]] DtypeWord item_type() const {
    const std::string_view given = text(Column::dtype).value_or("");
    const std::string_view word = given.empty() ? "float32" : given;
    const std::int64_t bytes = layers::dtype_bytes(word);
    if (bytes == 0) {
      throw RowProblem{"dtype: unknown type " + base::shown_value(word) +
                       base::did_you_mean(word, layers::dtype_words())};
    }
    return {word, bytes};
  }

  // PyTorch registers a weight before its bias; backward makes the gradient of the bias first.
  // Registration order in the table, gradient-ready order (reversed) in the trace.
  void add_tensors(layers::Layer& layer, const DtypeWord& type) const {
    const std::int64_t total = layer.gradient_bytes->value;
    const auto add = [&](std::int64_t elements) {
      layer.tensors.insert(layer.tensors.begin(), tensor_of(elements, type));
    };
    const std::string_view list = text(Column::tensors).value_or("");
    if (list.find(';') == std::string_view::npos) {
      const std::int64_t tensors = list.empty() ? 1 : whole(list, "tensors", type.bytes);
      if (tensors == 0 && total > 0) {
        throw RowProblem{fmt::format("tensors: none, the layer has {} bytes", total)};
      }
      if (tensors == 1 && total > 0 && total % type.bytes == 0) {
        add(total / type.bytes);
      }
      return; // more: their sizes are unknown, the layer's is not
    }
    // "4096;64": the sizes of the layer's tensors, which have to be all of it.
    std::int64_t sum = 0;
    for (const std::string_view part : split(list, ';')) {
      const std::int64_t elements = whole(trimmed(part), "tensors", type.bytes);
      add(elements);
      sum += elements * type.bytes;
      if (sum > base::kMaxExactBytes) {
        break;
      }
    }
    if (sum != total) {
      throw RowProblem{fmt::format("tensors: {} bytes, the layer has {}", sum, total)};
    }
  }

  const Header& header_;
  const CsvRow& row_;
};

} // namespace

layers::Trace import_layer_table(const std::string& file, const ImportOptions& options) {
  const ImportedText input = read_import(file, options.max_bytes);
  const std::vector<CsvRow> rows = parse_csv(input.text, input.name);
  if (rows.empty()) {
    throw InputError(input.name, "", "no header row");
  }
  const Header header = read_header(rows.front(), input.name);
  if (rows.size() == 1) {
    throw InputError(input.name, "", "no layer rows found");
  }
  layers::Trace trace;
  trace.name = result_name(options, file);
  // The source says which file and which tool, so that the trace can be made again.
  trace.source = make_source("layer-table", options);
  // Times stay those of layers; a layer whose tensors are unknown is sent as one gradient.
  trace.granularity = layers::Granularity::tensor; // the rows list them, or are one each
  trace.source->files.push_back(input.file);
  std::vector<base::Problem> problems;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    try {
      trace.layers.push_back(RowReader(header, rows[i]).layer());
    } catch (const RowProblem& problem) {
      if (problems.size() < kMostProblems) {
        problems.push_back({input.name, std::to_string(rows[i].line), problem.message});
      }
    }
  }
  if (!problems.empty()) {
    throw InputError(std::move(problems));
  }
  return trace;
}

} // namespace stepsim::io
