#pragma once
// Cost files (kind cost, MER 4.2, INP 1.10): seconds of one message or exchange by its bytes,
// either as points of one operation or as one line for each operation and number of ranks.
// plan::make_table_cost makes points monotone; here they are only read and checked (bytes > 0 and
// strictly ascending, seconds > 0, at least two points).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// measured: a line through transfer times without waiting. bound: no exchange took longer than the
// line says, which is all that times with waiting tell.
enum class CostGrade { measured, bound };
inline constexpr auto kCostGrades =
    base::words<CostGrade>({{CostGrade::measured, "measured"}, {CostGrade::bound, "bound"}});

// T(bytes) = startup + bytes x per_byte of one operation, with the bus bandwidth that it stands
// for. The ends of an interval are those of 90 %, or of what a bound leaves open; empty where the
// measurement does not tell them.
struct LineCost {
  std::string op;
  std::int64_t ranks{};
  CostGrade grade{};
  double startup_s{}, per_byte_s{}, bus_bandwidth_Bps{};
  std::optional<double> startup_low_s, startup_high_s;
  std::optional<double> bus_bandwidth_low_Bps, bus_bandwidth_high_Bps;
  std::int64_t collectives{}; // measured ones
  double smallest_bytes{}, largest_bytes{};
};

struct CostPoints {
  std::string name;
  std::string op;                               // "" where the file gives none
  std::int64_t ranks{};                         // 0 where the file gives none
  std::vector<std::pair<double, double>> table; // bytes, seconds; empty where `costs` has elements
  Json source{}; // a text or an object; null where the file gives none
  std::vector<LineCost> costs{};
};

// Throws InputError with all problems found.
[[nodiscard]] CostPoints parse_cost(const Json& json);
// The file with its header; parse_cost of it gives the same value.
[[nodiscard]] Json to_json(const CostPoints& cost);

// The value of a key `table`: [[bytes, seconds], ...], also inside problems and scenarios.
[[nodiscard]] std::vector<std::pair<double, double>> parse_cost_table(const Json& table,
                                                                      Problems& problems);

} // namespace stepsim::io
