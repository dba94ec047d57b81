#include "cli/text/record_cells.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "cli/shell/table.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

// "/cluster/nodes" -> "nodes"; a name without a slash stays.
std::string last_token(const std::string& field) { return field.substr(field.rfind('/') + 1); }

// The fields as a table names them: the last token of a pointer, or the whole pointer where two
// fields would have the same name.
std::vector<std::string> field_names(std::span<const std::string> varied) {
  std::vector<std::string> names;
  for (const std::string& field : varied) {
    const auto same = std::ranges::count(varied, last_token(field), last_token);
    names.push_back(same > 1 ? field : last_token(field));
  }
  return names;
}

// The unit follows from the end of the key; counts, ratios and words have none.
FieldLook field_look(const std::string& field) {
  const auto with = [&](std::string_view suffix, const char* unit, double factor) {
    std::string name = field;
    if (name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
    return FieldLook{name + " [" + unit + "]", factor};
  };
  const auto kind = base::kind_of_key(field.substr(field.rfind('/') + 1));
  if (!kind) {
    return {field, 1};
  }
  switch (*kind) {
  case base::QuantityKind::time:
    return with("_s", "us", 1e6);
  case base::QuantityKind::rate:
    return with("_Bps", "Gb/s", 8e-9);
  case base::QuantityKind::size:
    return with("_bytes", "MB", 1e-6);
  case base::QuantityKind::flops:
    return with("_Ps", "TFlop/s", 1e-12);
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
  case base::QuantityKind::amount:
    break;
  }
  return {field, 1};
}

// Integers and decimal fractions without a unit stay as they were written.
std::string varied_cell(const io::Json& row, const std::string& field, double factor) {
  const auto number = study::number_in(row, field);
  if (!number) {
    return base::shown_value(in_full(row, {field, field}));
  }
  return factor == 1 ? io::compact(*row.find(field)) : cell(*number * factor);
}

std::string band_cell(const io::Json& record, const Column& column) {
  const auto band = study::band_in(record);
  return band ? base::readable_band(*band, column.factor) : "";
}

} // namespace stepsim::cli
