#pragma once
// The keys of /communication/compression of a scenario, which break-even problems have, too
// (SPA 14).

#include "collectives/compress/compression.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array<std::string_view, 2> kDensityWarmups{"dgc", "tuned"};
inline constexpr double kMaxRank = 1 << 20;
inline constexpr double kMostRatio = 1000; // entries sent / entries requested

// The rows of costs, which are 0 in a scenario unless a calibration gives them.
inline constexpr auto kCompressionCosts =
    io::keys::cost_keys([](const io::Key& key) { return key.by_default(0); });

// The density of each epoch in turn; after the last one the density of the method is used.
inline constexpr std::array kDensity{
    number("density_warmup", "Density of an epoch.", io::above_to(0, 1), "0.25")};
// A list of densities by epoch, or the name of a published one.
inline constexpr std::array kDensityWarmupForms{
    list("density_warmup", kDensity, "Densities of the first epochs, in order.", "[0.25, 0.0625]")
        .sizes(1),
    word("density_warmup", kDensityWarmups, "A published list of densities.")};

// A value of a custom compressor: a number or a formula.
consteval std::array<io::Key, 2> formula_forms(std::string_view name) {
  return {number(name, "The same for every bucket.", io::at_least(0)),
          text(name, "Formula of n (elements of the bucket), P (ranks) and density, with + - * / ( "
                     "), min, max, ceil and log2; numbers may have units, as 20us or 40GBps.")
              .example(R"("4 * n / P")")};
}
inline constexpr std::array kBytesForms = formula_forms("bytes_per_worker");
inline constexpr std::array kCompressForms = formula_forms("compress_s");
inline constexpr std::array kMergeForms = formula_forms("merge_s");
inline constexpr std::array kDecompressForms = formula_forms("decompress_s");

// The table of coll/compress has the keys that each method reads; reading a scenario refuses any
// other key.
inline constexpr std::array kCompression{
    word("method", collectives::compression_names, "Compression method.").by_default("none"),
    number("ratio", "Compression ratio of a codec. The default is that of the method.",
           io::at_least(1), "2"),
    number("encode_Bps", "Speed of encoding, uncompressed bytes/s; 0 means that it takes no time.",
           io::at_least(0), "1e10")
        .by_default(0),
    number("decode_Bps", "Speed of decoding, uncompressed bytes/s; 0 means that it takes no time.",
           io::at_least(0), "1e10")
        .by_default(0),
    boolean("count_scale_bytes", "Every message has 4 more bytes for its scale.").by_default(false),
    boolean("scale_agreement", "Workers agree on scales by an all-reduce first.").by_default(false),
    number("density", "Share of the elements that is selected.", io::above_to(0, 1), "0.001"),
    integer("k",
            "Number of selected entries, instead of density. In a scenario it needs schedule "
            "single, which has one bucket.",
            io::at_least(1), "1000"),
    integer("index_bytes", "Bytes of an index.", io::between(1, 16), "8").by_default(4),
    integer("value_bytes",
            "Bytes of a value as it is sent, in an entry or a factor. The number of values of a "
            "gradient follows from its dtype. The default is 4, or 2 for fp16.",
            io::between(1, 16), "4"),
    word("allgather", collectives::kSparseAllgathers, "Algorithm that gathers the entries.")
        .by_default("auto"),
    word("broadcast", collectives::kSparseBroadcasts, "How the result returns to all ranks.")
        .by_default("mst"),
    word("residual_mask", collectives::kResidualMasks, "Which entries return to the residual.")
        .by_default("final"),
    word("select_stream", collectives::kSelectStreams, "Stream on which selections run.")
        .by_default("compute"),
    boolean("split_values_indices", "Values and indices are gathered one after the other.")
        .by_default(false),
    boolean("round_barriers", "All ranks wait for each other after every round.").by_default(false),
    either("density_warmup", kDensityWarmupForms, "Densities of the first epochs.", R"("dgc")"),
    integer("iterations_per_epoch", "Iterations of an epoch of the density warm-up.",
            io::at_least(1), "100"),
    object("baseline", {},
           "Schedule keys of the dense run that speedup_vs_dense_overlapped compares with.",
           R"({"schedule": "optimal"})")
        .open()
        .by_default(R"({"schedule": "ddp", "bucket_bytes": 26214400})"),
    object("costs", kCompressionCosts,
           "What compression costs. The default is a calibration's values, for powersgd its "
           "arithmetic at the speed of the GPU where that is known, or nothing.",
           R"({"select_s_per_element": 1e-10})"),
    number("selected_ratio",
           "Entries that an approximate selector sends, divided by those asked for.",
           io::above_to(0, kMostRatio), "1.2")
        .by_default(1),
    word("support_overlap", collectives::kSupportOverlaps,
         "How the selections of the ranks overlap.")
        .by_default("random"),
    integer("bits", "Bits of a value.", io::between(1, 32), "4").by_default(8),
    integer("bucket", "Values that share a scale.", io::between(1, 1 << 30)).by_default(512),
    integer("rank", "Rank of the factors.", io::between(1, kMaxRank), "4"),
    integer("block", "Values of a block.", io::between(1, 1 << 30), "256"),
    integer("dense_warmup_iterations", "Dense iterations at the start.", io::at_least(0))
        .by_default(512),
    text("name", "What the custom compressor is called in tables.", R"("mine")"),
    word("exchange", collectives::kCustomExchanges,
         "Exchange of the custom compressor: around a ring, gathered by all, through one server, "
         "or up and down a tree.")
        .by_default("ring"),
    either("bytes_per_worker", kBytesForms, "Bytes that a worker sends for a bucket.",
           R"("n * density * 8")"),
    either("compress_s", kCompressForms, "Time of compressing a bucket, s.", "0.0005")
        .by_default(0),
    either("merge_s", kMergeForms, "Time of merging two messages into one, s.", R"("n * 1e-11")")
        .by_default(0),
    either("decompress_s", kDecompressForms, "Time of decompressing the result of a bucket, s.",
           R"("100us")")
        .by_default(0)};

// The object form, which a word is converted to.
inline constexpr io::Key kCompressionObject =
    object("compression", kCompression, "What is sent instead of the dense gradient.",
           R"({"method": "topk", "density": 0.001})");

inline constexpr std::array kCompressionForms{
    word("compression", collectives::compression_names, "A method with its defaults."),
    kCompressionObject};

} // namespace stepsim::study::keys
