#pragma once
// Quantities as users type them in flags: NUMBER [blanks] UNIT, units case-sensitive, results in SI
// (seconds, bytes, bytes per second, FLOP/s, a ratio, a count).
//     25Gbps = 3.125e9    25MiB = 26214400    5us = 5e-6    90% = 0.9
// Lists `1,10,40Gbps` (an entry without a unit takes that of the next entry that has one) and
// ranges `4:64:x2` (geometric), `1:9:+2` (arithmetic), the end included if hit within 1e-9
// relative. In a range the start and the step take the unit of the end; an end without one takes
// that of the step. Negative numbers are refused, and sizes and counts are whole. Errors are
// returned as the text behind `--flag VALUE: `. JSON files hold such texts too, wherever a key has
// a unit or is a fraction; a bare number there is in the unit that the key names.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepsim::base {

enum class QuantityKind { time, size, rate, flops, ratio, count };

// refused: a bare number needs its unit (except 0); SI: it is taken in the SI unit, as in values
// that are set through a JSON pointer. Counts are always bare; ratios and sizes (bytes) may be.
enum class BareNumber { refused, si };

using QuantityResult = std::variant<double, std::string>;                  // value or error
using QuantityListResult = std::variant<std::vector<double>, std::string>; // values or error
inline constexpr std::size_t kMaxQuantityValues = 10'000'000;              // of a list

// One value in SI units, or the text of what is wrong with it.
[[nodiscard]] QuantityResult parse_quantity(std::string_view text, QuantityKind kind,
                                            BareNumber bare = BareNumber::refused);
[[nodiscard]] QuantityListResult parse_quantity_list(std::string_view text, QuantityKind kind,
                                                     BareNumber bare = BareNumber::refused);

// The kind that a JSON key's suffix tells: latency_s, size_bytes, bandwidth_Bps, flops_Ps, and
// times per element such as select_s_per_element. None for other keys, also for per_byte_s.
[[nodiscard]] std::optional<QuantityKind> kind_of_key(std::string_view key);
// "seconds", "bytes", "bytes/s", "FLOP/s", "1" (ratio, count).
[[nodiscard]] std::string_view si_unit(QuantityKind kind);
// Every unit of a kind, alternative spellings too, in the order of the table; none for counts.
[[nodiscard]] std::vector<std::string_view> units(QuantityKind kind);

// The value in one of the units above, shortest form, parsed back to the same value within 1e-15:
// format_quantity(3.125e9, rate, "Gbps") = "25Gbps". The unit must exist (asserted).
[[nodiscard]] std::string format_quantity(double value, QuantityKind kind, std::string_view unit);

// For people, 4 significant digits in the unit that fits: "18.04 ms", "26.21 MB", "3.125 GB/s".
[[nodiscard]] std::string readable_seconds(double seconds);
[[nodiscard]] std::string readable_bytes(double bytes);
// The same for a size that somebody chose: whole MiB where it is one, "25 MiB".
[[nodiscard]] std::string readable_size(std::int64_t bytes);
[[nodiscard]] std::string readable_rate(double bytes_per_second);

} // namespace stepsim::base
