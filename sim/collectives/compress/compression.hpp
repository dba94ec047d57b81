#pragma once
// Describes how a gradient is compressed before it is sent, as plain values: the method, its
// parameters and its costs. `compressed_exchange.hpp` gives the messages and times.
//
//   dense      m elements in the type of the gradient        M bytes
//   sparse     k = max(1, floor(density m)) entries of an index and a value, E = I + V bytes each:
//              V is the size of a value as sent, whatever its size in the gradient
//   codec      every value in fewer bits inside the ring     M / ratio on the wire
//   custom     formulas of a file give bytes and work        custom_compressor.hpp
//
// Sources: SPA 2, 8, 11 (sparse, low-rank, quantised), PIP 6 (codecs).

#include "collectives/compress/custom_compressor.hpp"

namespace stepsim::collectives {

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

// What a method sends; decides which keys apply to it.
//   dense      none, fp16: an ordinary all-reduce
//   codec      re-encoded at every hop of a ring (PIP 6)
//   sparse     selects k entries (density or k)
//   encoded    sends another form of the gradient without selecting: factors, signs, few bits, or
//              what a custom compressor makes of it
enum class CompressionKind { dense, codec, sparse, encoded };

// automatic: recursive_doubling if P is a power of two, else bruck.
enum class SparseAllgather { automatic, recursive_doubling, bruck, ring };
enum class SparseBroadcast { mst, flat };
enum class SupportOverlap { random, full, disjoint }; // overlap of selections; sparcml_*
enum class ResidualMask { final, per_round }; // SPA 7, collectives/operators/error_feedback.hpp
enum class SelectStream { compute, side };    // the selection delays backward, or runs next to it
inline constexpr auto kSparseAllgathers =
    base::words<SparseAllgather>({{SparseAllgather::automatic, "auto"}});
inline constexpr auto kSparseBroadcasts = base::words<SparseBroadcast>();
inline constexpr auto kSupportOverlaps = base::words<SupportOverlap>();
inline constexpr auto kResidualMasks = base::words<ResidualMask>();
inline constexpr auto kSelectStreams = base::words<SelectStream>();

// Costs in seconds; 0 = free (SPA 8.2). A rank selects k of m elements and sends k' entries. The
// counts m (`searched`), k, k' (`entries`), `merges` and `scattered` are those of
// CompressedExchange:
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

struct MatrixShape { // a tensor of powersgd; columns 1 = one-dimensional
  std::int64_t rows{};
  std::int64_t columns = 1;
  [[nodiscard]] bool operator==(const MatrixShape&) const = default;
};

struct Compression {
  CompressionMethod method = CompressionMethod::none;
  // Sparse methods have either a density in (0, 1] or k in 1..elements.
  std::optional<double> density;
  std::optional<std::int64_t> k;
  std::int64_t index_bytes = 4; // I: bytes of an index
  std::int64_t value_bytes = 4; // V: bytes of a value in an entry or a factor, as sent
  SparseAllgather allgather = SparseAllgather::automatic;
  SparseBroadcast broadcast = SparseBroadcast::mst;
  ResidualMask residual_mask = ResidualMask::final;
  SelectStream select_stream = SelectStream::compute;
  bool split_values_indices = false;     // two all-gathers instead of one
  bool round_barriers = false;           // a barrier after every reduce or exchange round
  std::vector<double> density_warmup;    // [epoch] density; ignored if k is given
  std::int64_t iterations_per_epoch = 0; // 0 = no warm-up
  CompressCosts costs;
  double slowdown = 1; // factor on the times that costs, or the formulas of custom, give
  // Used by codecs (PIP 6).
  double ratio = 1;      // r = M / bytes on the wire; codec_ratio() unless given
  double encode_Bps = 0; // uncompressed bytes per second; 0 = free
  double decode_Bps = 0;
  bool count_scale_bytes = false; // every message has 4 more bytes, for its scale
  bool scale_agreement = false;   // scales are all-reduced first; then no hop encodes or decodes
  // Used by single methods (SPA 11).
  double selected_ratio = 1;                               // k' / k of approximate selectors
  SupportOverlap support_overlap = SupportOverlap::random; // sparcml_rd, sparcml_split
  std::int64_t bits = 8;                                   // bits per quantised value
  std::int64_t bucket = 512;                               // values that share a scale
  std::int64_t rank = 0;                                   // powersgd, which requires it
  std::int64_t block = 0;                                  // omnireduce, which requires it
  std::int64_t dense_warmup_iterations = 512;              // ok_topk
  CustomCompressor custom;
  [[nodiscard]] bool operator==(const Compression&) const = default;
};

// A row of the table: a method, its kind, whether it has a schedule of messages (else only a closed
// form), the keys of `compression` and names of `--param` that apply to it, and a line of help.
struct CompressionRow {
  CompressionMethod method;
  std::string_view name;
  CompressionKind kind;
  bool simulated;
  std::span<const std::string_view> keys;
  std::string_view summary;
  // Assumptions of its times besides the keys; "" = none.
  std::string_view assumes = "";
  // Whether `compare --algorithms all` has the method. False for methods that need more keys, and
  // for variants of methods that are compared.
  bool compared = false;
  // Whether the method fixes the size of the values it sends, so that `value_bytes` of a scenario
  // is ignored.
  bool no_values = false;
};

[[nodiscard]] std::span<const CompressionRow> compression_table();
// Returns the names of all methods, in the order of the table.
[[nodiscard]] std::vector<std::string_view> compression_names();
[[nodiscard]] const CompressionRow& row(CompressionMethod method);
// Returns the row of this name, or null if there is none.
[[nodiscard]] const CompressionRow* find_compression(std::string_view name);
[[nodiscard]] bool has_key(const CompressionRow& row, std::string_view key);
// Returns the first method whose name continues `word`, as gtopk_tree continues gtopk; null if
// there is none.
[[nodiscard]] const CompressionRow* compression_family(std::string_view word);
// Returns the text `unknown compression method "gtopk"; did you mean "gtopk_tree"?`
[[nodiscard]] std::string unknown_compression(std::string_view word);
// Returns r of a codec without `ratio`, for values of `value_bytes`: truncate16 sends 2 bytes per
// value and quantize8 sends 1, so for 4-byte values r is 2 and 4. It is never below 1, and 1 for
// all other methods.
[[nodiscard]] double codec_ratio(CompressionMethod method, double value_bytes = 4);

// Returns k for m elements: 0 if m = 0; the given k, but at most m; or without a given k max(1,
// floor(density m)), computed in double (SPA 2).
[[nodiscard]] std::int64_t selected_entries(const Compression& compression, std::int64_t elements);
// Returns the density in iteration `index` (from 0) under the warm-up; empty if k is given.
[[nodiscard]] std::optional<double> density_at(const Compression& compression, std::int64_t index);

} // namespace stepsim::collectives
