#pragma once
// Cost files (kind cost, MER 4.2, INP 1.10): the seconds of one message or exchange as a function
// of its bytes, as points of one operation, or as one line per operation and number of ranks.
// Points are only checked here (at least two, bytes > 0 and strictly ascending, seconds > 0);
// buckets::make_table_cost makes them monotone.

#include "document/reader.hpp"

namespace stepsim::io {

// measured: a line through transfer times without waiting. bound: an upper bound on the time of
// every exchange, because the measured times contain waiting.
enum class CostGrade { measured, bound };
inline constexpr auto kCostGrades = base::words<CostGrade>();

// T(bytes) = startup + bytes x per_byte of one operation, and the bus bandwidth that follows from
// it. An interval is the 90 % interval, or the range that a bound leaves open; an end that the
// measurement does not determine is empty.
struct LineCost {
  std::string op;
  std::int64_t ranks{};
  CostGrade grade{};
  double startup_s{}, per_byte_s{}, bus_bandwidth_Bps{};
  std::optional<double> startup_low_s, startup_high_s;
  std::optional<double> bus_bandwidth_low_Bps, bus_bandwidth_high_Bps;
  std::int64_t collectives{};               // number of measured collectives
  double smallest_bytes{}, largest_bytes{}; // range of the sizes that were measured
};

struct CostPoints {
  std::string name;
  std::string op;                               // "" if the file gives none
  std::int64_t ranks{};                         // 0 if the file gives none
  std::vector<std::pair<double, double>> table; // bytes, seconds; empty if `costs` has elements
  Json source{};                                // a text or an object; null if the file gives none
  std::vector<LineCost> costs{};
};

// Throws InputError with all problems found.
[[nodiscard]] CostPoints parse_cost(const Json& json);
// The file with its header; parse_cost() of the result gives an equal value.
[[nodiscard]] Json to_json(const CostPoints& cost);

// Reads the value of a key `table`, [[bytes, seconds], ...], of a cost file, a problem file or a
// scenario. Adds what is wrong with it to `problems`.
[[nodiscard]] std::vector<std::pair<double, double>> parse_cost_table(const Json& table,
                                                                      Problems& problems);

} // namespace stepsim::io
