#pragma once
// How a gradient is made smaller before it is sent, as plain values: the method, its parameters and
// what compressing costs. `compressed_exchange.hpp` gives the messages and times.
//
//   dense      m elements, by the type of the gradient       M bytes
//   sparse     k = max(1, floor(density m)) entries of an index and a value, E = I + V bytes each:
//              V is the size of a value as it is sent, whatever the gradient's own
//   codec      every value in fewer bits inside the ring     M / ratio on the wire
//   custom     bytes and work as formulas of a file          custom_compressor.hpp
//
// Sources: SPA 2, 8, 11 (sparse, low-rank, quantised), PIP 6 (codecs).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "coll/compress/custom_compressor.hpp"

namespace stepsim::coll {

enum class CompressionMethod {
  none,
  fp16,
  truncate16,
  quantize8,
  custom_codec,
  custom,
  topk,
  dgc,
  gaussian_k,
  gtopk_tree,
  gtopk_butterfly,
  gtopk_exact,
  sparcml_rd,
  sparcml_split,
  topk_dsa,
  ok_topk,
  hierarchical_topk,
  powersgd,
  qsgd,
  signsgd,
  omnireduce,
};

// What a method is made of; decides which keys have a meaning.
//   dense      none, fp16: an ordinary all-reduce
//   codec      re-encoded at every hop of a ring (PIP 6)
//   sparse     selects k entries (density or k)
//   encoded    sends another form of the gradient without selecting: factors, signs, few bits, or
//              what a custom compressor makes of it
enum class CompressionKind { dense, codec, sparse, encoded };

// automatic: recursive_doubling for P = 2^K ranks, else bruck.
enum class SparseAllgather { automatic, recursive_doubling, bruck, ring };
enum class SparseBroadcast { mst, flat };
enum class SupportOverlap { random, full, disjoint }; // of the ranks' selections, sparcml_*
enum class ResidualMask { final, per_round };         // SPA 7, operators/error_feedback.hpp
enum class SelectStream { compute, side }; // selecting delays backward, or runs next to it
inline constexpr auto kSparseAllgathers =
    base::words<SparseAllgather>({{SparseAllgather::automatic, "auto"},
                                  {SparseAllgather::recursive_doubling, "recursive_doubling"},
                                  {SparseAllgather::bruck, "bruck"},
                                  {SparseAllgather::ring, "ring"}});
inline constexpr auto kSparseBroadcasts =
    base::words<SparseBroadcast>({{SparseBroadcast::mst, "mst"}, {SparseBroadcast::flat, "flat"}});
inline constexpr auto kSupportOverlaps =
    base::words<SupportOverlap>({{SupportOverlap::random, "random"},
                                 {SupportOverlap::full, "full"},
                                 {SupportOverlap::disjoint, "disjoint"}});
inline constexpr auto kResidualMasks = base::words<ResidualMask>(
    {{ResidualMask::final, "final"}, {ResidualMask::per_round, "per_round"}});
inline constexpr auto kSelectStreams =
    base::words<SelectStream>({{SelectStream::compute, "compute"}, {SelectStream::side, "side"}});

// Seconds; all 0 = free (SPA 8.2). With m elements that a rank searches, k entries selected, k'
// sent, and `merges` and `scattered` of compressed_exchange.hpp:
//   select    select_s + select_s_per_element m + select_s_per_entry k
//             n_log_n: select_s + select_s_per_element_log2 m log2 m
//   residual  residual_s_per_element m
//   staging   staging_s_per_element for every element of the gradient
//   merge     merges (merge_s + merge_s_per_entry k')
//   scatter   scatter_s + scatter_s_per_entry scattered
struct CompressCosts {
  bool n_log_n = false;
  double select_s{};
  double select_s_per_element{};
  double select_s_per_entry{};
  double select_s_per_element_log2{};
  double residual_s_per_element{};
  double staging_s_per_element{};
  double merge_s{};
  double merge_s_per_entry{};
  double scatter_s{};
  double scatter_s_per_entry{};
  [[nodiscard]] bool operator==(const CompressCosts&) const = default;
};

struct MatrixShape { // powersgd sees a tensor as rows x columns; columns 1 = one-dimensional
  std::int64_t rows{};
  std::int64_t columns = 1;
  [[nodiscard]] bool operator==(const MatrixShape&) const = default;
};

struct Compression {
  CompressionMethod method = CompressionMethod::none;
  // Sparse methods have one of the two: density in (0, 1], or k in 1..elements.
  std::optional<double> density;
  std::optional<std::int64_t> k;
  std::int64_t index_bytes = 4; // I
  std::int64_t value_bytes = 4; // V, of an entry or a factor as it is sent
  SparseAllgather allgather = SparseAllgather::automatic;
  SparseBroadcast broadcast = SparseBroadcast::mst;
  ResidualMask residual_mask = ResidualMask::final;
  SelectStream select_stream = SelectStream::compute;
  bool split_values_indices = false;     // two all-gathers instead of one
  bool round_barriers = false;           // a barrier after every reduce or exchange round
  std::vector<double> density_warmup;    // of the first epochs; not used if k is given
  std::int64_t iterations_per_epoch = 0; // 0 = no warm-up
  CompressCosts costs;
  // Codecs (PIP 6).
  double ratio = 1;      // r = M / wire bytes: `codec_ratio` unless given
  double encode_Bps = 0; // of uncompressed bytes; 0 = free
  double decode_Bps = 0;
  bool count_scale_bytes = false; // 4 bytes more in every message, for its scale
  bool scale_agreement = false;   // scales are all-reduced first; then no hop encodes or decodes
  // Of single methods (SPA 11).
  double selected_ratio = 1;                               // k' / k of approximate selectors
  SupportOverlap support_overlap = SupportOverlap::random; // sparcml_rd, sparcml_split
  std::int64_t bits = 8;                                   // of a quantised value
  std::int64_t bucket = 512;                               // values that share a scale
  std::int64_t rank = 0;                                   // powersgd, required there
  std::int64_t block = 0;                                  // omnireduce, required there
  std::int64_t dense_warmup_iterations = 512;              // ok_topk
  CustomCompressor custom;
  [[nodiscard]] bool operator==(const Compression&) const = default;
};

// One method: its kind, whether a schedule of messages exists (else closed form only), the keys of
// `compression` and names of `--param` that have a meaning for it, one line of help.
struct CompressionRow {
  CompressionMethod method;
  std::string_view name;
  CompressionKind kind;
  bool simulated;
  std::span<const std::string_view> keys;
  std::string_view summary;
  // What its times take for granted, besides its keys; "" = nothing.
  std::string_view assumes = "";
  // One of those that `compare --algorithms all` lines up; the others need more keys, or are
  // variants of these.
  bool compared = false;
  // What it sends has a size of its own: the value_bytes of a scenario count for nothing.
  bool no_values = false;
};

[[nodiscard]] std::span<const CompressionRow> compression_table();
// The names of all methods, in the order of the table.
[[nodiscard]] std::vector<std::string_view> compression_names();
[[nodiscard]] const CompressionRow& row(CompressionMethod method);
// Null if there is no such name.
[[nodiscard]] const CompressionRow* find_compression(std::string_view name);
[[nodiscard]] bool has_key(const CompressionRow& row, std::string_view key);
// The first method whose name goes on after `word`: gtopk_tree for gtopk; null if there is none.
[[nodiscard]] const CompressionRow* compression_family(std::string_view word);
// `unknown compression method "gtopk"; did you mean "gtopk_tree"?`
[[nodiscard]] std::string unknown_compression(std::string_view word);
// r of a codec unless `ratio` says otherwise: truncate16 sends 2 bytes a value, quantize8 one, so
// of 4-byte values r is 2 and 4. Values that are no larger stay: 1. Others: 1.
[[nodiscard]] double codec_ratio(CompressionMethod method, double value_bytes = 4);

// k of m elements: 0 for m = 0, else the given k but at most m, else max(1, floor(density m)) in
// double arithmetic (SPA 2).
[[nodiscard]] std::int64_t selected_entries(const Compression& compression, std::int64_t elements);
// Density in iteration `index` (from 0) under the warm-up; empty where k is given.
[[nodiscard]] std::optional<double> density_at(const Compression& compression, std::int64_t index);

} // namespace stepsim::coll
