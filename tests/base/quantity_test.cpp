#include "base/quantity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"

using namespace stepsim::base;
using QuantityKind::count, QuantityKind::flops, QuantityKind::rate, QuantityKind::ratio,
    QuantityKind::size, QuantityKind::amount;

namespace {

double value(std::string_view text, QuantityKind kind, BareNumber bare = BareNumber::refused) {
  const QuantityResult result = parse_quantity(text, kind, bare);
  if (const auto* error = std::get_if<std::string>(&result)) {
    FAIL(text << ": " << *error);
  }
  return std::get<double>(result);
}

std::string error(std::string_view text, QuantityKind kind) {
  const QuantityResult result = parse_quantity(text, kind);
  if (const auto* number = std::get_if<double>(&result)) {
    FAIL(text << " was read as " << *number);
  }
  return std::get<std::string>(result);
}

std::vector<double> values(std::string_view text, QuantityKind kind) {
  const QuantityListResult result = parse_quantity_list(text, kind);
  if (const auto* message = std::get_if<std::string>(&result)) {
    FAIL(text << ": " << *message);
  }
  return std::get<std::vector<double>>(result);
}

std::string list_error(std::string_view text, QuantityKind kind) {
  const QuantityListResult result = parse_quantity_list(text, kind);
  REQUIRE_MESSAGE(std::holds_alternative<std::string>(result), text);
  return std::get<std::string>(result);
}

constexpr QuantityKind kKinds[] = {QuantityKind::time, size, rate, flops, ratio, count};

} // namespace

TEST_CASE("quantities have their exact SI values") {
  CHECK(value("25Gbps", rate) == 3.125e9);
  CHECK(value("25 Gb/s", rate) == 3.125e9);
  CHECK(value("3.1GB/s", rate) == 3.1e9);
  CHECK(value("1GiB/s", rate) == 1073741824.0);
  CHECK(value("25MiB", size) == 26214400.0);
  CHECK(value("25MB", size) == 25000000.0);
  CHECK(value("5us", QuantityKind::time) == 5e-6);
  CHECK(value("5\xC2\xB5s", QuantityKind::time) == 5e-6);
  CHECK(value("5\xCE\xBCs", QuantityKind::time) == 5e-6);
  CHECK(value("1.5min", QuantityKind::time) == 90.0);
  CHECK(value("3d", QuantityKind::time) == 259200.0);
  CHECK(value("300B", amount) == 3e11);
  CHECK(value("1.5M", amount) == 1.5e6);
  CHECK(value("15T", amount) == 1.5e13);
  CHECK(value("12", amount) == 12.0);
  CHECK(value("90%", ratio) == 0.9);
  CHECK(value("0.9", ratio) == 0.9);
  CHECK(value("16", count) == 16.0);
  CHECK(value("312TFlop/s", flops) == 3.12e14);
  CHECK(value("+1.5e3 us", QuantityKind::time) == 1.5e-3);
  CHECK(value("111111111.1111111B/s", rate) == 111111111.1111111);
  CHECK(value("0", QuantityKind::time) == 0.0);
  CHECK(value("0e999999999s", QuantityKind::time) == 0.0);
}

TEST_CASE("lists share the last unit and ranges are expanded") {
  CHECK(values("1,10,40Gbps", rate) == std::vector{1.25e8, 1.25e9, 5e9});
  CHECK(values("5,500us", QuantityKind::time) == std::vector{5e-6, 5e-4});
  CHECK(values("1,10Mbps,40Gbps", rate) == std::vector{1.25e5, 1.25e6, 5e9});
  CHECK(values("128:4096:x2", count) == std::vector{128., 256., 512., 1024., 2048., 4096.});
  CHECK(values("4:64:x2", count) == std::vector{4., 8., 16., 32., 64.});
  CHECK(values("1:8:x1.5", count) == std::vector{1., 2., 3., 5., 8.}); // 1.5, 2.25, 3.375, ..
  CHECK(values("1:9:+2", count) == std::vector{1., 3., 5., 7., 9.});
  CHECK(values("1:10:+2", count) == std::vector{1., 3., 5., 7., 9.});
}

TEST_CASE("a range of sizes takes its unit from its end") {
  const std::vector<double> sizes = values("1MiB:512MiB:x2", size);
  REQUIRE(sizes.size() == 10);
  CHECK(sizes.front() == 0x1p20);
  CHECK(sizes.back() == 0x1p29);
  CHECK(values("1:3MiB:+1", size) == std::vector{0x1p20, 2 * 0x1p20, 3 * 0x1p20});
  CHECK(values("10:30:+10Gbps", rate) == values("10,20,30Gbps", rate));
  CHECK(values("5,10:30:+10Gbps", rate) == values("5,10,20,30Gbps", rate));
  CHECK(values("1KiB:2KiB:+512B", size) == std::vector{1024., 1536., 2048.});
}

TEST_CASE("the end of a range is included when rounding misses it by less than 1e-9") {
  const std::vector<double> tenths = values("0.1:0.7:+0.1", ratio);
  REQUIRE(tenths.size() == 7);
  CHECK(tenths.back() == 0.7);
  const std::vector<double> steps = values("1us:1s:x10", QuantityKind::time);
  REQUIRE(steps.size() == 7);
  CHECK(steps.back() == 1.0);
}

TEST_CASE("what is no quantity is refused with the reason") {
  CHECK(error("10", rate) == "unit missing (Mbps, Gbps, MB/s, GB/s, B/s)");
  CHECK(error("5", QuantityKind::time) == "unit missing (s, ms, us, ns)");
  CHECK(value("1048576", size) == 0x1p20); // nccl-tests prints bytes without their unit
  CHECK(value("1e6", size) == 1e6);
  CHECK(error("1M", size) == "unknown unit, did you mean MB (1000000 B) or MiB (1048576 B)?");
  CHECK(error("-1us", QuantityKind::time) == "must be >= 0, got -1us");
  CHECK(error("1e400s", QuantityKind::time) == "number out of range");
  CHECK(error("1e308GB/s", rate) == "number out of range");
  CHECK(error("5 usec", QuantityKind::time) == "unknown unit (s, ms, us, ns)");
  CHECK(error("5 mss", QuantityKind::time) == "unknown unit, did you mean ms?");
  CHECK(error("10GBPS", rate) == "unknown unit, did you mean Gbps (bits) or GB/s (bytes)?");
  CHECK(error("10gbps", rate) == "unknown unit, did you mean Gbps (bits) or GB/s (bytes)?");
  CHECK(error("1KB", size) == "unknown unit, did you mean kB (1000 B) or KiB (1024 B)?");
  CHECK(error("1mb", size) == "unknown unit, did you mean MB (1000000 B) or MiB (1048576 B)?");
  CHECK(error("nan s", QuantityKind::time) == "not a number: \"nan s\"");
  CHECK(error("inf", ratio) == "not a number: \"inf\"");
  CHECK(error("", QuantityKind::time) == "empty");
  CHECK(error("1.5B", size) == "not a whole number of bytes");
  CHECK(error("8388608TiB", size) == "must be below 2^63 bytes");
  CHECK(error("1.5", count) == "not a whole number");
  CHECK(error("1e3", count) == "not a whole number");
  CHECK(error("4k", count) == "a count takes no unit, got k");
  CHECK(error("1,000s", QuantityKind::time).starts_with("unknown unit"));
  CHECK(error("5us", size) == "us is a unit of time, needs one of B, kB, MB, GB, KiB, MiB, GiB");
}

TEST_CASE("a bare number is in the SI unit where a JSON pointer allows it") {
  CHECK(value("1.25e9", rate, BareNumber::si) == 1.25e9);
  CHECK(value("0.5", QuantityKind::time, BareNumber::si) == 0.5);
}

TEST_CASE("wrong lists and ranges name the entry") {
  CHECK(list_error("1,10,40gbps", rate) ==
        "40gbps: unknown unit, did you mean Gbps (bits) or GB/s (bytes)?");
  CHECK(list_error("1,,3", count) == "empty entry in the list");
  const std::string forms = "a range is FIRST:LAST:+STEP or FIRST:LAST:xFACTOR, a list A,B,C";
  CHECK(list_error("4:64", count) == forms);
  CHECK(list_error("4:64:2", count) == forms);
  CHECK(list_error("64:4:x2", count) == "the range ends before it starts");
  CHECK(list_error("0:4:x2", count) == "a geometric range must start above 0");
  CHECK(list_error("1:4:x1", count) == "the factor of a range must be > 1");
  CHECK(list_error("1:4:+0", count) == "the step of a range must be > 0");
  CHECK(list_error("1:4:+1.5", count) == "not a whole number");
  CHECK(list_error("1:20000000:+1", count) == "more than 10000000 values");
  CHECK(list_error("1s:2s:+1e-300s", QuantityKind::time) == "more than 10000000 values");
}

TEST_CASE("format then parse is the identity for every unit") {
  constexpr std::uint64_t kSeed = 20260131;
  INFO("seed " << kSeed);
  RandomStream random({.seed = kSeed});
  for (const QuantityKind kind : kKinds) {
    for (const std::string_view unit : units(kind)) {
      const double one = value(std::string("1").append(unit), kind);
      for (int i = 0; i < 200; ++i) {
        // Sizes are whole bytes: multiples of the unit.
        const double number = kind == size ? static_cast<double>(random.integer(0, 4'000'000))
                                           : std::exp(random.uniform(-30.0, 30.0));
        const double quantity = number * one;
        const std::string text = format_quantity(quantity, kind, unit);
        CAPTURE(text);
        CHECK(std::abs(value(text, kind) - quantity) <= 1e-15 * quantity);
      }
    }
  }
}

TEST_CASE("random text never crashes the parser and never gives a wrong number") {
  constexpr std::uint64_t kSeed = 7;
  INFO("seed " << kSeed);
  static constexpr std::string_view kAlphabet = "0123456789.eE+-x:, usmGMkKiBbp/%\xC2\xB5nahf\t";
  RandomStream random({.seed = kSeed});
  std::size_t accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (std::int64_t n = random.integer(0, 12); n > 0; --n) {
      text += kAlphabet[static_cast<std::size_t>(
          random.integer(0, static_cast<std::int64_t>(kAlphabet.size()) - 1))];
    }
    for (const QuantityKind kind : kKinds) {
      CAPTURE(text);
      const QuantityListResult result = parse_quantity_list(text, kind);
      if (const auto* list = std::get_if<std::vector<double>>(&result)) {
        ++accepted;
        REQUIRE(!list->empty());
        REQUIRE(std::isfinite(list->front()));
        REQUIRE(list->front() >= 0.0);
      }
    }
  }
  CHECK(accepted > 1000); // the alphabet makes valid quantities, too
}

TEST_CASE("a key's suffix tells the kind of its quantity") {
  CHECK(kind_of_key("latency_s") == QuantityKind::time);
  CHECK(kind_of_key("bandwidth_Bps") == rate);
  CHECK(kind_of_key("bucket_bytes") == size);
  CHECK(kind_of_key("select_s_per_element") == QuantityKind::time);
  CHECK(kind_of_key("flops_Ps") == flops);
  CHECK(!kind_of_key("per_byte_s"));
  CHECK(!kind_of_key("nodes"));
  CHECK(kind_of_key("tokens") == amount);
  CHECK(si_unit(rate) == "bytes/s");
}

TEST_CASE("people read quantities with four digits and a fitting unit") {
  CHECK(readable_seconds(0.018044) == "18.04 ms");
  CHECK(readable_seconds(5e-6) == "5.000 us");
  CHECK(readable_seconds(90.0) == "90.00 s");
  CHECK(readable_seconds(0.0) == "0 s");
  CHECK(readable_seconds(2e-12) == "0.002000 ns");
  // The interval is in the unit of the time, on whichever side of a unit its ends are.
  CHECK(readable_seconds(0.4144879, Band{0.3447845, 0.6537035, 0.8}) ==
        "414.5 ms (344.8 to 653.7, 80 %)");
  CHECK(readable_seconds(1.25, Band{0.8, 2, 0.95}) == "1.250 s (0.8000 to 2.000, 95 %)");
  CHECK(readable_duration(90.0) == "1.500 min");
  CHECK(readable_duration(1071360, Band{1002240, 1200960, 0.8}) ==
        "12.40 days (11.60 to 13.90, 80 %)");
  CHECK(readable_amount(3e11) == "300 B");
  CHECK(readable_amount(1142857) == "1.143 M");
  CHECK(readable_amount(212.07) == "212.1");
  CHECK(readable_band({0.5, 1.5, 0.8}, 100) == "(50.00 to 150.0, 80 %)");
  CHECK(readable_bytes(26214400) == "26.21 MB");
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(999) == "999 B");
  CHECK(readable_rate(3.125e9) == "3.125 GB/s");
  CHECK(readable_rate(111111111.1111111) == "111.1 MB/s");
}
