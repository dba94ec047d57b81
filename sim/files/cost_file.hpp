#pragma once
// Cost files (kind cost, MER 4.2): seconds of one message or exchange by its bytes, as measured.
// plan::make_table_cost makes the points monotone; here they are only read and checked (bytes > 0
// and strictly ascending, seconds > 0, at least two points).
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

struct CostPoints {
  std::string name;
  std::string op;                               // "" where the file gives none
  std::int64_t ranks{};                         // 0 where the file gives none
  std::vector<std::pair<double, double>> table; // bytes, seconds
  Json source{}; // a text or an object; null where the file gives none
};

// Throws InputError with all problems found.
[[nodiscard]] CostPoints parse_cost(const Json& json);
// The file with its header; parse_cost of it gives the same value.
[[nodiscard]] Json to_json(const CostPoints& cost);

// The value of a key `table`: [[bytes, seconds], ...], also inside problems and scenarios.
[[nodiscard]] std::vector<std::pair<double, double>> parse_cost_table(const Json& table,
                                                                      Problems& problems);

} // namespace stepsim::io
