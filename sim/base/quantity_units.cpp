#include "base/collected.hpp"
#include "base/quantity.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cmath>

namespace stepsim::base {

namespace {

using enum QuantityKind;

constexpr double kBit = 0.125;

constexpr auto kUnits = std::to_array<Unit>({
    {"ns", time, -9, 1},        {"us", time, -6, 1},
    {"\xC2\xB5s", time, -6, 1}, // micro sign
    {"\xCE\xBCs", time, -6, 1}, // Greek mu
    {"ms", time, -3, 1},        {"s", time, 0, 1},
    {"min", time, 0, 60},       {"h", time, 0, 3600},
    {"d", time, 0, 86400},      {"days", time, 0, 86400},
    {"B", size, 0, 1},          {"kB", size, 3, 1},
    {"MB", size, 6, 1},         {"GB", size, 9, 1},
    {"TB", size, 12, 1},        {"KiB", size, 0, 0x1p10},
    {"MiB", size, 0, 0x1p20},   {"GiB", size, 0, 0x1p30},
    {"TiB", size, 0, 0x1p40},   {"bps", rate, 0, kBit},
    {"kbps", rate, 3, kBit},    {"Mbps", rate, 6, kBit},
    {"Gbps", rate, 9, kBit},    {"Tbps", rate, 12, kBit},
    {"bit/s", rate, 0, kBit},   {"kbit/s", rate, 3, kBit},
    {"Mbit/s", rate, 6, kBit},  {"Gbit/s", rate, 9, kBit},
    {"Tbit/s", rate, 12, kBit}, {"b/s", rate, 0, kBit},
    {"kb/s", rate, 3, kBit},    {"Mb/s", rate, 6, kBit},
    {"Gb/s", rate, 9, kBit},    {"Tb/s", rate, 12, kBit},
    {"B/s", rate, 0, 1},        {"kB/s", rate, 3, 1},
    {"MB/s", rate, 6, 1},       {"GB/s", rate, 9, 1},
    {"TB/s", rate, 12, 1},      {"KiB/s", rate, 0, 0x1p10},
    {"MiB/s", rate, 0, 0x1p20}, {"GiB/s", rate, 0, 0x1p30},
    {"MBps", rate, 6, 1},       {"GBps", rate, 9, 1},
    {"Flop/s", flops, 0, 1},    {"GFlop/s", flops, 9, 1},
    {"TFlop/s", flops, 12, 1},  {"PFlop/s", flops, 15, 1},
    {"%", ratio, -2, 1},        {"K", amount, 3, 1},
    {"M", amount, 6, 1},        {"B", amount, 9, 1},
    {"G", amount, 9, 1},        {"T", amount, 12, 1},
});

constexpr std::array<std::string_view, 4> kCommonTime{"s", "ms", "us", "ns"};
constexpr std::array<std::string_view, 7> kCommonSize{"B", "kB", "MB", "GB", "KiB", "MiB", "GiB"};
constexpr std::array<std::string_view, 5> kCommonRate{"Mbps", "Gbps", "MB/s", "GB/s", "B/s"};
constexpr std::array<std::string_view, 3> kCommonFlops{"GFlop/s", "TFlop/s", "PFlop/s"};
constexpr std::array<std::string_view, 1> kCommonRatio{"%"};
constexpr std::array<std::string_view, 4> kAmounts{"K", "M", "B", "T"};

// What belongs to a kind: what its units are units of, its SI unit, and its common units.
struct KindRow {
  std::string_view name, si;
  std::span<const std::string_view> common;
};
constexpr std::array kKinds{
    // in the order of the kinds
    KindRow{"time", "seconds", kCommonTime}, KindRow{"size", "bytes", kCommonSize},
    KindRow{"rate", "bytes/s", kCommonRate}, KindRow{"speed of computing", "FLOP/s", kCommonFlops},
    KindRow{"ratio", "1", kCommonRatio},     KindRow{"", "1", {}},
    KindRow{"amount", "1", kAmounts}};
static_assert(kKinds.size() == static_cast<std::size_t>(amount) + 1);

const KindRow& row_of(QuantityKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

double in_unit(double value, const Unit& unit) {
  return value / std::pow(10.0, unit.exponent) / unit.factor;
}

// The last of `names` (ascending) that leaves a number >= 1, else the first.
const Unit& fitting_unit(double value, QuantityKind kind, std::span<const std::string_view> names) {
  const Unit* chosen = find_unit(names.front(), kind);
  for (const std::string_view name : names) {
    const Unit* unit = find_unit(name, kind);
    chosen = std::abs(in_unit(value, *unit)) >= 1.0 ? unit : chosen;
  }
  return *chosen;
}

std::string readable(double value, QuantityKind kind, std::span<const std::string_view> names) {
  const Unit& unit = fitting_unit(value, kind, names);
  return significant(in_unit(value, unit)) + " " + std::string(unit.name);
}

std::string readable_time(double seconds, const std::optional<Band>& band,
                          std::span<const std::string_view> names) {
  if (seconds == 0.0) {
    return "0 s";
  }
  const std::string text = readable(seconds, time, names);
  return band ? text + " " + readable_band(*band, in_unit(1, fitting_unit(seconds, time, names)))
              : text;
}

} // namespace

const Unit* find_unit(std::string_view name, QuantityKind kind) {
  return base::found_if(kUnits,
                        [&](const Unit& unit) { return unit.kind == kind && unit.name == name; });
}

std::span<const std::string_view> common_units(QuantityKind kind) { return row_of(kind).common; }

std::string_view kind_name_of_unit(std::string_view name) {
  const auto* found = std::ranges::find(kUnits, name, &Unit::name);
  return found == kUnits.end() ? std::string_view() : row_of(found->kind).name;
}

std::string two_readings(std::string_view name, QuantityKind kind) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr std::string_view kPrefixes = "kmgt";
  const std::size_t index = lower.empty() ? std::string_view::npos : kPrefixes.find(lower[0]);
  if (index == std::string_view::npos) {
    return {};
  }
  const char decimal = "kMGT"[index];
  const char binary = "KMGT"[index];
  const std::string tail = lower.substr(1);
  if (kind == size && (tail == "b" || tail.empty())) {
    std::int64_t thousands = 1;
    for (std::size_t i = 0; i <= index; ++i) {
      thousands *= 1000;
    }
    return std::string{decimal} + "B (" + std::to_string(thousands) + " B) or " +
           std::string{binary} + "iB (" + std::to_string(std::int64_t{1} << (10 * (index + 1))) +
           " B)";
  }
  if (kind == rate && (tail == "bps" || tail == "b/s" || tail == "bits" || tail == "bit" ||
                       tail == "bit/s" || tail == "b" || tail.empty())) {
    return std::string{decimal} + "bps (bits) or " + std::string{decimal} + "B/s (bytes)";
  }
  return {};
}

std::vector<std::string_view> units(QuantityKind kind) {
  return base::collected_if<std::string_view>(
      kUnits, [&](const Unit& unit) { return unit.kind == kind; }, &Unit::name);
}

std::optional<QuantityKind> kind_of_key(std::string_view key) {
  if (key.ends_with("per_byte_s")) {
    return std::nullopt; // seconds per byte
  }
  if (key.ends_with("flops_Ps")) {
    return flops;
  }
  if (key.ends_with("_Bps")) {
    return rate;
  }
  if (key.ends_with("_bytes") || key == "bytes") {
    return size;
  }
  if (key.ends_with("_s") || key.find("_s_per_e") != std::string_view::npos) {
    return time;
  }
  return key == "samples" || key == "tokens" ? std::optional(amount) : std::nullopt;
}

std::string_view si_unit(QuantityKind kind) { return row_of(kind).si; }

std::string format_quantity(double value, QuantityKind kind, std::string_view unit) {
  const Unit* found = find_unit(unit, kind);
  assert(found != nullptr && "the unit belongs to the kind");
  // Powers of ten up to 10^22 are exact doubles: one rounding, or two with a factor.
  const double scale = std::pow(10.0, std::abs(found->exponent));
  const double number = found->exponent < 0 ? value * scale : value / scale;
  return shortest(number / found->factor) + std::string(unit);
}

std::string readable_seconds(double seconds, const std::optional<Band>& band) {
  static constexpr std::array<std::string_view, 4> kNames{"ns", "us", "ms", "s"};
  return readable_time(seconds, band, kNames);
}

std::string readable_duration(double seconds, const std::optional<Band>& band) {
  static constexpr std::array<std::string_view, 4> kNames{"s", "min", "h", "days"};
  return readable_time(seconds, band, kNames);
}

std::string readable_amount(double value) {
  const Unit& unit = fitting_unit(value, amount, kAmounts);
  const bool bare = std::abs(value) < 1e3;
  const std::string number = shortest(rounded_to(bare ? value : in_unit(value, unit), 4));
  return bare ? number : number + " " + std::string(unit.name);
}

std::string readable_band(const Band& band, double factor) {
  return "(" + significant(band.low * factor) + " to " + significant(band.high * factor) + ", " +
         percent(band.level, 2) + ")";
}

std::string readable_bytes(double bytes) {
  static constexpr std::array<std::string_view, 5> kNames{"B", "kB", "MB", "GB", "TB"};
  return bytes < 1000.0 && bytes == std::trunc(bytes) ? shortest(bytes) + " B"
                                                      : readable(bytes, size, kNames);
}

std::string readable_size(std::int64_t bytes) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  return bytes > 0 && bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB"
                                        : readable_bytes(static_cast<double>(bytes));
}

std::string readable_rate(double bytes_per_second) {
  static constexpr std::array<std::string_view, 5> kNames{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return readable(bytes_per_second, rate, kNames);
}

} // namespace stepsim::base
