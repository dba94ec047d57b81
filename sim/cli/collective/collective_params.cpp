// Values are texts without a type: the kind of the row says whether one is a word, a switch, a
// number or a list of shapes.
#include "cli/collective/collective_flags.hpp"

#include "cli/shell/flag_values.hpp"
#include "cli/text/key_text.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

namespace stepsim::cli {

namespace {

using base::QuantityKind;
using io::Key;
using io::KeyKind;

// "64x32,100": [[64, 32], [100]]
io::Json shapes_json(std::string_view text, std::string_view value) {
  io::Array shapes;
  for (const std::string_view tensor : io::split(value)) {
    io::Array& shape = shapes.emplace_back(io::Array()).as_array();
    for (const std::string_view each : io::split(tensor, 'x')) {
      const auto size = base::parse_quantity(each, QuantityKind::count);
      const double* length = std::get_if<double>(&size);
      if (length == nullptr || *length < 1) {
        throw UsageError("--param " + base::shown_value(text) +
                         ": must be shapes like 64x32,100 of whole_number sizes");
      }
      shape.emplace_back(static_cast<std::int64_t>(*length));
    }
  }
  return shapes;
}

// The words of a word or a switch; none for everything else.
std::vector<std::string_view> words_of(const Key& row) {
  return row.kind == KeyKind::boolean ? std::vector<std::string_view>{"false", "true"}
                                      : row.words.all();
}

io::Json value_json(const Key& row, std::string_view text, std::string_view value) {
  if (row.kind == KeyKind::list) {
    return shapes_json(text, value);
  }
  if (const auto known = words_of(row); !known.empty()) {
    if (std::ranges::find(known, value) == known.end()) {
      throw UsageError("--param: " + base::unknown_word(row.name, value, known));
    }
    return row.kind == KeyKind::boolean ? io::Json(value == "true") : io::Json(value);
  }
  const auto parsed = base::parse_quantity(value, quantity_of(row));
  const double* number = std::get_if<double>(&parsed);
  if (number == nullptr && row.kind == KeyKind::either) { // a formula, which the reader checks
    return io::Json(value);
  }
  if (number == nullptr || !row.range.contains(*number)) {
    throw UsageError("--param " + base::shown_value(text) + ": " +
                     (number == nullptr ? std::get<std::string>(parsed)
                                        : row.range.text() + ", got " + base::shortest(*number)));
  }
  return number_json(row, *number);
}

} // namespace

void set_param(io::Json& tree, std::string_view text, std::span<const Param> params) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError("--param " + base::shown_value(text) + ": must be NAME=VALUE");
  }
  const std::string_view name = text.substr(0, equals);
  const auto name_of = [](const Param& param) { return param.row->name; };
  const Param& param = base::row_named(params, name_of, name, "--param: ", "parameter");
  io::assign(tree, param.pointer, value_json(*param.row, text, text.substr(equals + 1)));
}

std::string params_description(std::span<const Param> params) {
  std::string text = "Rare switches, repeatable:";
  for (const auto& [pointer, row] : params) {
    text.append(" ").append(row->name);
    if (const auto words = words_of(*row); !words.empty()) {
      text.append(" ").append(base::joined(words, " or "));
    }
    const std::string value = default_text(*row);
    text += value.empty() ? ";" : " (" + value + ");";
  }
  text.back() = '.';
  return text;
}

// As in files: the end of the name tells the unit.
QuantityKind quantity_of(const Key& row) {
  return base::kind_of_key(row.name).value_or(row.kind == KeyKind::integer ? QuantityKind::count
                                                                           : QuantityKind::ratio);
}

io::Json number_json(const Key& row, double value) {
  return row.kind == KeyKind::integer ? io::Json(static_cast<std::int64_t>(value))
                                      : io::Json(value);
}

} // namespace stepsim::cli
