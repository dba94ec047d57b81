#pragma once
// The keys of a file of samples (kind samples, IO 6.3): measured times of collectives as a function
// of bytes. `stepsim import` writes such files from logs of nccl-tests and the OSU benchmarks and
// from Kineto traces; `stepsim-calibrate fit` reads them. A CSV file of samples has the keys of a
// set and of a point as its columns, so that both forms have the same ranges.
#include "document/fields/key.hpp"
#include "document/fields/schema.hpp"
#include "scenario/files/keys/source_keys.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io::keys {

inline constexpr double kMostRanks = 1 << 20;

inline constexpr std::array kSampleKeys{
    integer(
        "bytes",
        "Bytes of the whole buffer of the collective; alltoall: of the send buffer of one rank.",
        between(0, kMostExact), "1024")
        .required(),
    number("time_s", "Time of one call, s.", measured_times(), "5e-5").required(),
    integer("pass", "Number of the repetition, where the source numbers them.", at_least(0), "0")};
inline constexpr std::array kSample{object("points", kSampleKeys, "One measurement.")};

inline constexpr std::array kSampleSetKeys{
    word("op", kSampleOps, "Operation.", R"("allreduce")").required(),
    text("algorithm", "Algorithm of the operation. Without one it is unknown.", R"("ring")"),
    integer("ranks", "Number of ranks that took part.", between(1, kMostRanks), "8").required(),
    text("device", "Device that was measured.", R"("NVIDIA H100")").nullable(),
    text("dtype", "Type of the elements, as the source names it.", R"("float32")").nullable(),
    text("column", "Column of the log, where it has several times per size.", R"("out-of-place")")
        .nullable(),
    word("start_up", links::kStartUps,
         "Whether each call was alone, after a barrier, or one of several queued at once; its time "
         "is then that of all, divided by their number.",
         R"("queue")")
        .by_default(links::kStartUps[links::StartUp::alone]),
    integer("gpus_per_node", "Number of ranks that share a host.", at_least(1), "8").nullable(),
    list("points", kSample, "Measurements. A size may appear several times.",
         R"([{"bytes": 1024, "time_s": 5e-5}])")
        .required()};
inline constexpr std::array kSampleSet{
    object("sets", kSampleSetKeys, "Measurements of one operation on the same ranks.")};

inline constexpr std::array kSamplesKeys{
    kSource,
    list("sets", kSampleSet, "Sets of measurements.",
         R"([{"op": "allreduce", "ranks": 8, "points": [{"bytes": 1024, "time_s": 5e-5}]}])")
        .required(),
    kWarnings};

inline constexpr Key kSamples = object("samples", kSamplesKeys, "Measured times of collectives.");

[[nodiscard]] FileKind samples_file();

// The keys of a cost file (kind cost, MER 4.2, INP 1.10): the time of one exchange as a function of
// its bytes, as measured points or as a line per operation. `stepsim import osu` writes points from
// a log of the OSU benchmarks, `stepsim import kineto --cost` writes lines from a trace, and users
// write files by hand. A scenario (cluster.network.cost) or a problem file (cost) names a cost
// file, or has its table in the same place.

using namespace rows;

// A point: bytes, then seconds, as numbers without units.
inline constexpr std::array kCostNumber{number("table", "Bytes, then seconds.", above(0), "1024")};
inline constexpr std::array kCostPoint{
    list("table", kCostNumber, "[bytes, seconds]", "[1024, 0.0001]").sizes(2, 2)};
inline constexpr Key kCostTable =
    list("table", kCostPoint, "Points [bytes, seconds], bytes ascending.",
         "[[1024, 0.0001], [1048576, 0.001]]")
        .sizes(2);

inline constexpr std::array kLineCostKeys{
    word("op", kSampleOps, "Operation.", R"("allreduce")").required(),
    integer("ranks", "Number of ranks that took part.", at_least(1), "8").required(),
    word("grade", kCostGrades,
         "measured: a line through times without waiting; bound: times contain waiting, so that "
         "the link is at least as fast.")
        .required(),
    number("startup_s", "Time of an empty message, s.", at_least(0), "2.3e-5").required(),
    number("per_byte_s", "Time per byte, s.", above(0), "4.3e-11").plain().required(),
    number("bus_bandwidth_Bps", "Bus bandwidth as nccl-tests defines it, bytes/s.", above(0),
           "4.04e10")
        .required(),
    number("startup_low_s", "Lower end of the 90 % interval of startup_s, s; 0 of a bound.",
           at_least(0))
        .nullable(),
    number("startup_high_s", "Upper end, s.", at_least(0)).nullable(),
    number("bus_bandwidth_low_Bps", "Lower end of the 90 % interval of bus_bandwidth_Bps, bytes/s.",
           above(0))
        .nullable(),
    number("bus_bandwidth_high_Bps", "Upper end, bytes/s; null of a bound.", above(0)).nullable(),
    integer("collectives", "Number of collectives that were measured.", at_least(1), "24"),
    number("smallest_bytes", "Smallest size that was measured, bytes.", above(0)).plain(),
    number("largest_bytes", "Largest size that was measured, bytes.", above(0)).plain()};
inline constexpr std::array kLineCost{
    object("costs", kLineCostKeys, "Cost of one operation on one number of ranks.")};

// Importers write an object, users mostly a sentence. Both are only for readers.
inline constexpr std::array kCostSources{
    text("source", "Where the numbers come from."),
    object("source", {}, "Input file and importer, with the keys of the source of samples.")
        .open()};

inline constexpr std::array kCostFileKeys{
    text("op", "Operation of the table.", R"("allreduce")"),
    integer("ranks", "Number of ranks of the table.", at_least(1), "8").nullable(),
    either("source", kCostSources, "Where the numbers come from: a text or an object.",
           R"("vendor data sheet")"),
    kCostTable,
    list("costs", kLineCost, "One line for each operation and number of ranks.").sizes(1)};

inline constexpr Key kCostFile =
    object("cost", kCostFileKeys, "Measured time of an exchange by its bytes.")
        .exactly_one("table|costs");

[[nodiscard]] FileKind cost_file();

// The keys of compression costs (SPA 8.2), one row per cost. A scenario has them in
// /communication/compression/costs, a calibration in /compression_costs for each method. A cost is
// in seconds, either fixed, per element of the gradient, or per selected entry.

using namespace rows;

[[nodiscard]] constexpr Key compression_cost(std::string_view name, std::string_view sentence) {
  return number(name, sentence, at_least(0)).example("1e-9");
}

inline constexpr std::array kCompressionCosts{
    compression_cost("select_s", "Fixed time of a selection, s."),
    compression_cost("select_s_per_element", "Time of a selection per element, s."),
    compression_cost("select_s_per_entry", "Time of a selection per selected entry, s."),
    compression_cost("select_s_per_element_log2",
                     "Time of a selection per element and per log2 of the number of elements, s."),
    compression_cost("residual_s_per_element", "Time to update the residual per element, s."),
    compression_cost("staging_s_per_element",
                     "Time of copies between device and host per element, s."),
    compression_cost("merge_s", "Fixed time to merge two lists, s."),
    compression_cost("merge_s_per_entry", "Time to merge two lists, s per entry of one list."),
    compression_cost("scatter_s", "Fixed time to scatter entries into the dense update, s."),
    compression_cost("scatter_s_per_entry",
                     "Time to scatter entries into the dense update per entry, s.")};

inline constexpr Key kSelectForm =
    word("form", links::kSelectForms, "How the time of a selection grows with the elements.")
        .by_default("linear");
// The keys of a cost: each row of kCompressionCosts, mapped by `change`, then `form`.
template <class Change> [[nodiscard]] constexpr auto cost_keys(Change change) {
  std::array<Key, kCompressionCosts.size() + 1> rows;
  std::ranges::transform(kCompressionCosts, rows.begin(), change);
  rows.back() = kSelectForm;
  return rows;
}

} // namespace stepsim::io::keys
