#pragma once
// Shows the varied fields of flat records in readable units, for the cells and headings of tables.
#include <span>
#include <string>
#include <vector>

#include "cli/shell/document.hpp"
#include "document/json.hpp"

namespace stepsim::cli {

// The names of varied fields in a table: the last token of the pointer, or the whole pointer where
// two fields would have the same name.
[[nodiscard]] std::vector<std::string> field_names(std::span<const std::string> varied);

// How a varied field is shown: "bandwidth [Gb/s]", values times `factor`.
struct FieldLook {
  std::string heading;
  double factor = 1;
};

// The heading and the factor of a field, by the unit at the end of its name.
[[nodiscard]] FieldLook field_look(const std::string& field);

// The cell of a varied field. Integers and decimal fractions without a unit stay as they were
// written.
[[nodiscard]] std::string varied_cell(const io::Json& row, const std::string& field, double factor);

// For Column::show: the interval of the iteration time, "(344.8 to 653.7, 80 %)"; "" without one.
[[nodiscard]] std::string band_cell(const io::Json& record, const Column& column);

} // namespace stepsim::cli
