#include "collectives/compress/compression.hpp"

#include <cassert>
#include <cmath>

#include "base/collected.hpp"

namespace stepsim::collectives {
namespace {

using Compressor = CompressionMethod;
using Words = std::span<const std::string_view>;
constexpr auto kDense = CompressionKind::dense;
constexpr auto kCodec = CompressionKind::codec;
constexpr auto kSparse = CompressionKind::sparse;
constexpr auto kEncoded = CompressionKind::encoded;
constexpr bool kCompared = true;
constexpr bool kNoValues = true;

// The keys of several methods, then those of one: sets are joined when the program is compiled.
constexpr std::array<std::string_view, 0> kNothing{};
constexpr std::array<std::string_view, 3> kCommon{"baseline", "costs", "value_bytes"};
constexpr std::array<std::string_view, 2> kHalf{"baseline", "value_bytes"};
constexpr std::array<std::string_view, 6> kSelecting{
    "density", "k", "index_bytes", "select_stream", "density_warmup", "iterations_per_epoch"};
constexpr std::array<std::string_view, 6> kCodecKeys{
    "ratio", "encode_Bps", "decode_Bps", "count_scale_bytes", "scale_agreement", "baseline"};
constexpr std::array<std::string_view, 1> kRatio{"selected_ratio"};
constexpr std::array<std::string_view, 2> kGather{"allgather", "split_values_indices"};
constexpr std::array<std::string_view, 2> kRounds{"round_barriers", "residual_mask"};
constexpr std::array<std::string_view, 1> kBroadcast{"broadcast"};
constexpr std::array<std::string_view, 1> kOverlap{"support_overlap"};
constexpr std::array<std::string_view, 1> kDenseStart{"dense_warmup_iterations"};
constexpr std::array<std::string_view, 1> kStream{"select_stream"};
constexpr std::array<std::string_view, 2> kLowRank{"rank", "shapes"};
constexpr std::array<std::string_view, 2> kBits{"bits", "bucket"};
constexpr std::array<std::string_view, 1> kBlock{"block"};
constexpr std::array<std::string_view, 8> kCustomKeys{"baseline",         "name",       "exchange",
                                                      "bytes_per_worker", "compress_s", "merge_s",
                                                      "decompress_s",     "density"};

template <std::size_t... N> constexpr auto joined(const std::array<std::string_view, N>&... lists) {
  std::array<std::string_view, (N + ... + 0)> all{};
  std::size_t next = 0;
  (
      [&](const auto& list) {
        for (const std::string_view word : list) {
          all[next++] = word;
        }
      }(lists),
      ...);
  return all;
}

constexpr auto kSparseKeys = joined(kCommon, kSelecting, kRatio);
constexpr auto kGatherKeys = joined(kSparseKeys, kGather);
constexpr auto kTreeKeys = joined(kSparseKeys, kRounds, kBroadcast);
constexpr auto kButterflyKeys = joined(kSparseKeys, kRounds);
constexpr auto kSparcmlKeys = joined(kSparseKeys, kOverlap);
constexpr auto kOkTopkKeys = joined(kSparseKeys, kDenseStart);
constexpr auto kPowersgdKeys = joined(kCommon, kStream, kLowRank);
constexpr auto kQsgdKeys = joined(kCommon, kStream, kBits);
constexpr auto kSignsgdKeys = joined(kCommon, kStream);
constexpr auto kOmnireduceKeys = joined(kCommon, kSelecting, kBlock);

// clang-format off
constexpr std::array kCompressions{
  CompressionRow{Compressor::none, "none", kDense, true, kNothing,
    "the whole gradient"},
  CompressionRow{Compressor::fp16, "fp16", kDense, true, kHalf,
    "all-reduce of 2-byte values", "sums in 16 bits; casts are free", kCompared},
  CompressionRow{Compressor::truncate16, "truncate16", kCodec, true, kCodecKeys,
    "upper 16 of 32 bits, re-encoded at every hop of a ring", "7 bits of mantissa, rounded at every hop", kCompared},
  CompressionRow{Compressor::quantize8, "quantize8", kCodec, true, kCodecKeys,
    "255 levels per part, re-encoded at every hop of a ring", "255 codes, rounded at every hop", kCompared},
  CompressionRow{Compressor::custom_codec, "custom_codec", kCodec, true, kCodecKeys,
    "a codec of any ratio, re-encoded at every hop of a ring"},
  CompressionRow{Compressor::custom, "custom", kEncoded, true, kCustomKeys,
    "your own: bytes per worker, exchange and costs as numbers or formulas", "costs as its formulas say", !kCompared, kNoValues},
  CompressionRow{Compressor::topk, "topk", kSparse, true, kGatherKeys,
    "all-gather of everybody's k largest entries", "", kCompared},
  CompressionRow{Compressor::dgc, "dgc", kSparse, true, kGatherKeys,
    "topk with a sampled threshold"},
  CompressionRow{Compressor::gaussian_k, "gaussian_k", kSparse, true, kGatherKeys,
    "topk with a threshold from mean and deviation; sizes are exchanged first"},
  CompressionRow{Compressor::gtopk_tree, "gtopk_tree", kSparse, true, kTreeKeys,
    "lists merged and cut to k up a binomial tree, then broadcast", "only the global top-k is applied", kCompared},
  CompressionRow{Compressor::gtopk_butterfly, "gtopk_butterfly", kSparse, true, kButterflyKeys,
    "lists exchanged, merged and cut to k in log2 P rounds", "only the global top-k is applied; every rank merges", kCompared},
  CompressionRow{Compressor::gtopk_exact, "gtopk_exact", kSparse, true, kGatherKeys,
    "topk, cut to the k largest entries of the sum"},
  CompressionRow{Compressor::sparcml_rd, "sparcml_rd", kSparse, true, kSparcmlKeys,
    "sparse sums by recursive doubling; messages grow, at most to dense", "", kCompared},
  CompressionRow{Compressor::sparcml_split, "sparcml_split", kSparse, false, kSparcmlKeys,
    "sparse sums by split and all-gather (formula only)"},
  CompressionRow{Compressor::topk_dsa, "topk_dsa", kSparse, false, kSparseKeys,
    "sparse sums by reduce-scatter and all-gather: a range (formula only)"},
  CompressionRow{Compressor::ok_topk, "ok_topk", kSparse, false, kOkTopkKeys,
    "balanced sparse all-reduce below 6k words: an upper bound (formula only)", "upper bound of its volume; thresholds reused", kCompared},
  CompressionRow{Compressor::hierarchical_topk, "hierarchical_topk", kSparse, true, kSparseKeys,
    "dense sums inside the node, entries between nodes; needs two levels"},
  CompressionRow{Compressor::powersgd, "powersgd", kEncoded, true, kPowersgdKeys,
    "all-reduces of two low-rank factors", "", kCompared},
  CompressionRow{Compressor::qsgd, "qsgd", kEncoded, true, kQsgdKeys,
    "all-gather of b-bit values and a scale per bucket", "all-gathered", kCompared, kNoValues},
  CompressionRow{Compressor::signsgd, "signsgd", kEncoded, true, kSignsgdKeys,
    "all-gather of signs, majority vote", "majority vote of signs", kCompared, kNoValues},
  CompressionRow{Compressor::omnireduce, "omnireduce", kSparse, false, kOmnireduceKeys,
    "non-zero blocks through matching aggregators (formula only)", "", !kCompared, kNoValues},
};
// clang-format on

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < kCompressions.size(); ++i) {
    if (static_cast<std::size_t>(kCompressions[i].method) != i) {
      return false;
    }
  }
  return true;
}
static_assert(rows_in_order(), "row i describes method i");

} // namespace

std::span<const CompressionRow> compression_table() { return kCompressions; }

std::vector<std::string_view> compression_names() {
  return base::collected<std::string_view>(kCompressions, &CompressionRow::name);
}

const CompressionRow& row(CompressionMethod method) {
  return kCompressions[static_cast<std::size_t>(method)];
}

const CompressionRow* find_compression(std::string_view name) {
  const auto* const found = std::ranges::find(kCompressions, name, &CompressionRow::name);
  return found == kCompressions.end() ? nullptr : &*found;
}

const CompressionRow* compression_family(std::string_view word) {
  for (const CompressionRow& each : kCompressions) {
    const bool longer = each.name.size() > word.size() && each.name[word.size()] == '_';
    if (longer && each.name.starts_with(word)) {
      return &each;
    }
  }
  return nullptr;
}

std::string unknown_compression(std::string_view word) {
  if (const CompressionRow* member = compression_family(word)) {
    // By distance "gtopk" is nearer to "topk" than to what it stands for.
    return "unknown compression method \"" + std::string(word) + "\"; did you mean \"" +
           std::string(member->name) + "\"?";
  }
  return base::unknown_word("compression method", word, compression_names());
}

bool has_key(const CompressionRow& row, std::string_view key) {
  return std::ranges::find(row.keys, key) != row.keys.end();
}

double codec_ratio(CompressionMethod method, double value_bytes) {
  const double sent = method == Compressor::truncate16  ? 2
                      : method == Compressor::quantize8 ? 1
                                                        : value_bytes;
  return std::max(1.0, value_bytes / sent);
}

std::int64_t selected_entries(const Compression& compression, std::int64_t elements) {
  if (elements == 0) {
    return 0;
  }
  if (compression.k) {
    return std::min(*compression.k, elements);
  }
  assert(compression.density && "a sparse method has a density or k");
  const double selected = std::floor(*compression.density * static_cast<double>(elements));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(selected));
}

std::optional<double> density_at(const Compression& compression, std::int64_t index) {
  const std::vector<double>& warmup = compression.density_warmup;
  if (!compression.k && compression.iterations_per_epoch > 0) {
    const auto epoch = static_cast<std::size_t>(index / compression.iterations_per_epoch);
    if (epoch < warmup.size()) {
      return warmup[epoch];
    }
  }
  return compression.k ? std::nullopt : compression.density;
}

} // namespace stepsim::collectives
