// Compressors as data: the four exchanges against the formulas of INP 4.8, by every
// evaluator, and the work beside the wire.
#include "collectives/compress/custom_compressor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;

constexpr double kA = 1e-5;    // latency, s
constexpr double kB = 3.125e9; // bandwidth, bytes/s

base::Formula formula(std::string_view text) {
  return std::get<base::Formula>(base::Formula::parse(text, kCustomVariables));
}

Compression custom(CustomExchange exchange, const std::string& bytes) {
  Compression compression;
  compression.method = CompressionMethod::custom;
  compression.custom.exchange = exchange;
  compression.custom.bytes_per_worker = formula(bytes);
  return compression;
}

CompressedExchange exchange_of(const Compression& compression, std::uint32_t ranks,
                               std::int64_t elements) {
  Collective base;
  base.ranks = ranks;
  base.links.all = {kA, kA, 1 / kB};
  base.reduction_s_per_byte = 1e-9; // messages are merged, not added
  base.options.chunking = Chunking::real;
  return compressed_exchange(compression, {.elements = elements, .shapes = {}}, base);
}

double expected(CustomExchange exchange, double ranks, double bytes) {
  const double depth = std::bit_width(static_cast<unsigned>(ranks) - 1);
  switch (exchange) {
  case CustomExchange::ring:
    return 2 * (ranks - 1) * (kA + bytes / (ranks * kB));
  case CustomExchange::allgather:
    return (ranks - 1) * (kA + bytes / kB);
  case CustomExchange::server:
    return 2 * (kA + ranks * bytes / kB);
  case CustomExchange::tree:
    return 2 * depth * (kA + bytes / kB);
  }
  return 0;
}

constexpr std::array kExchanges{CustomExchange::ring, CustomExchange::allgather,
                                CustomExchange::server, CustomExchange::tree};

} // namespace

TEST_CASE("custom: P 16, 10 us, 25 Gb/s and 1 MB a worker take 0.9, 4.95, 10.26 and 2.64 ms") {
  constexpr std::array kMilliseconds{0.9, 4.95, 10.26, 2.64};
  for (std::size_t i = 0; i < kExchanges.size(); ++i) {
    const auto time = closed_form_seconds(exchange_of(custom(kExchanges[i], "1e6"), 16, 1000));
    REQUIRE(time.has_value());
    CHECK(*time * 1e3 == within(kMilliseconds[i], 1e-12));
  }
}

TEST_CASE("custom: every evaluator gives the formula of the exchange, on any number of ranks") {
  for (const CustomExchange exchange : kExchanges) {
    CAPTURE(kCustomExchanges[exchange]);
    for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 7U, 8U, 13U, 16U}) {
      CAPTURE(ranks);
      for (const std::int64_t elements : {1, 15, 16, 1'000'001}) {
        const Compression compression = custom(exchange, "4 * n + 12");
        const CompressedExchange made = exchange_of(compression, ranks, elements);
        const double time = expected(exchange, ranks, 4.0 * static_cast<double>(elements) + 12);
        for (const Method method : {Method::closed_form, Method::max_plus, Method::events}) {
          CHECK(exchange_time(made, compression, method).seconds == within(time, 1e-9));
        }
      }
    }
  }
}

TEST_CASE("custom: merges by the exchange, compressing and decompressing once per bucket") {
  for (const CustomExchange exchange : kExchanges) {
    for (const std::uint32_t ranks : {2U, 5U, 16U}) {
      Compression compression = custom(exchange, "n");
      compression.density = 0.25;
      compression.custom.compress_s = formula("n * 1e-9");
      compression.custom.merge_s = formula("density * 1e-3");
      compression.custom.decompress_s = formula("P * 1e-6");
      const double p = ranks;
      const double merges = exchange == CustomExchange::ring   ? (p - 1) / p
                            : exchange == CustomExchange::tree ? std::ceil(std::log2(p))
                                                               : p - 1;
      const CompressTimes times =
          compress_times(compression, exchange_of(compression, ranks, 1000), ranks);
      CHECK(times.select_s == within(1000 * 1e-9, 1e-12));
      CHECK(times.merge_s == within(merges * 0.25 * 1e-3, 1e-12));
      CHECK(times.scatter_s == within(p * 1e-6, 1e-12));
      CHECK(times.residual_s == 0);
      CHECK(times.staging_s == 0);
    }
  }
}

TEST_CASE("custom: one worker compresses and sends nothing, an empty bucket costs nothing") {
  Compression compression = custom(CustomExchange::tree, "n");
  compression.custom.compress_s = base::Formula(1e-3);
  compression.custom.merge_s = base::Formula(1e-3);
  const CompressedExchange alone = exchange_of(compression, 1, 1000);
  CHECK(closed_form_seconds(alone) == 0);
  CHECK(compress_times(compression, alone, 1).compress_s() == 1e-3);
  CHECK(compress_times(compression, alone, 1).merge_s == 0);
  const CompressedExchange empty = exchange_of(compression, 4, 0);
  CHECK(closed_form_seconds(empty) == 0);
  CHECK(compress_times(compression, empty, 4).compress_s() == 0);
}

TEST_CASE("custom: a value that is negative or no number is an error with its n and P") {
  const auto message = [](const std::string& bytes) -> std::string {
    try {
      (void)exchange_of(custom(CustomExchange::ring, bytes), 4, 10);
      return "";
    } catch (const SimulationError& error) {
      return error.what();
    }
  };
  CHECK(message("n - 13") == "custom: bytes_per_worker is -3 with n = 10, P = 4");
  CHECK(message("n / (P - 4)") ==
        "custom: bytes_per_worker is not a finite number with n = 10, P = 4");
}

} // namespace stepsim::collectives
