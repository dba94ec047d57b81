#pragma once
// A compressor described by a file: the bytes that each worker sends for a bucket, the exchange,
// and the seconds of its work (INP 4.8). Bytes and seconds are formulas of
//     n         elements of the bucket
//     P         ranks
//     density   the fraction of elements that is kept, if the file gives one
//
// With b bytes per worker, latency a and bandwidth B:
//
//   exchange    seconds                                    merges on the longest path
//   ring        2 (P-1) (a + b / (P B))                    (P-1) / P: P-1 merges of b / P bytes
//   allgather   (P-1) (a + b / B)                          P-1
//   server      2 (a + P b / B)                            P-1
//   tree        2 ceil(log2 P) (a + b / B)                 ceil(log2 P)

#include "base/formula.hpp"
#include "base/words.hpp"

namespace stepsim::collectives {

enum class CustomExchange { ring, allgather, server, tree };
inline constexpr auto kCustomExchanges = base::words<CustomExchange>();

// The variables of a formula; their values are passed in this order.
inline constexpr std::array<std::string_view, 3> kCustomVariables{"n", "P", "density"};
inline constexpr std::size_t kDensityVariable = 2;

struct CustomCompressor {
  std::string name; // "" = none
  CustomExchange exchange = CustomExchange::ring;
  base::Formula bytes_per_worker; // b
  base::Formula compress_s;       // before the exchange
  base::Formula merge_s;          // merges two messages of b bytes
  base::Formula decompress_s;     // after the exchange
  [[nodiscard]] bool operator==(const CustomCompressor&) const = default;
};

// Returns the value of one formula of the compressor. Throws SimulationError `custom:
// bytes_per_worker is -3 with n = 10, P = 4` if it is negative or not finite.
[[nodiscard]] double custom_value(const CustomCompressor& compressor,
                                  base::Formula CustomCompressor::*formula, std::int64_t elements,
                                  std::uint32_t ranks, double density);

// Returns the merges on the longest path, in units of messages of b bytes.
[[nodiscard]] double custom_merges(CustomExchange exchange, std::uint32_t ranks);

// A formula of a compressor and its key in a file.
struct CustomKey {
  std::string_view key;
  base::Formula CustomCompressor::*formula;
};
inline constexpr std::array kCustomFormulas{
    CustomKey{"bytes_per_worker", &CustomCompressor::bytes_per_worker},
    CustomKey{"compress_s", &CustomCompressor::compress_s},
    CustomKey{"merge_s", &CustomCompressor::merge_s},
    CustomKey{"decompress_s", &CustomCompressor::decompress_s},
};

} // namespace stepsim::collectives
