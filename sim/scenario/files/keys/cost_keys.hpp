#pragma once
// The keys of a cost file (kind cost, MER 4.2, INP 1.10): the time of one exchange as a function of
// its bytes, as measured points or as a line per operation. `stepsim import osu` writes points from
// a log of the OSU benchmarks, `stepsim import kineto --cost` writes lines from a trace, and users
// write files by hand. A scenario (cluster.network.cost) or a problem file (cost) names a cost
// file, or has its table in the same place.

#include "document/fields/schema.hpp"
#include "scenario/files/cost_file.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io::keys {

using namespace rows;

// A point: bytes, then seconds, as numbers without units.
inline constexpr std::array kCostNumber{
    number("table", "Bytes, then seconds.", above(0)).example("1024")};
inline constexpr std::array kCostPoint{
    list("table", kCostNumber, "[bytes, seconds]").sizes(2, 2).example("[1024, 0.0001]")};
inline constexpr Key kCostTable =
    list("table", kCostPoint, "Points [bytes, seconds], bytes ascending.")
        .sizes(2)
        .example("[[1024, 0.0001], [1048576, 0.001]]");

inline constexpr std::array kLineCostKeys{
    word("op", kSampleOps, "Operation.").example(R"("allreduce")").required(),
    integer("ranks", "Number of ranks that took part.", at_least(1)).example("8").required(),
    word(
        "grade", kCostGrades,
        "measured: a line through times without waiting; bound: times contain waiting, so that the "
        "link is at least as fast.")
        .required(),
    number("startup_s", "Time of an empty message, s.", at_least(0)).example("2.3e-5").required(),
    number("per_byte_s", "Time per byte, s.", above(0)).plain().example("4.3e-11").required(),
    number("bus_bandwidth_Bps", "Bus bandwidth as nccl-tests defines it, bytes/s.", above(0))
        .example("4.04e10")
        .required(),
    number("startup_low_s", "Lower end of the 90 % interval of startup_s, s; 0 of a bound.",
           at_least(0))
        .nullable(),
    number("startup_high_s", "Upper end, s.", at_least(0)).nullable(),
    number("bus_bandwidth_low_Bps", "Lower end of the 90 % interval of bus_bandwidth_Bps, bytes/s.",
           above(0))
        .nullable(),
    number("bus_bandwidth_high_Bps", "Upper end, bytes/s; null of a bound.", above(0)).nullable(),
    integer("collectives", "Number of collectives that were measured.", at_least(1)).example("24"),
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
    text("op", "Operation of the table.").example(R"("allreduce")"),
    integer("ranks", "Number of ranks of the table.", at_least(1)).nullable().example("8"),
    either("source", kCostSources, "Where the numbers come from: a text or an object.")
        .example(R"("vendor data sheet")"),
    kCostTable,
    list("costs", kLineCost, "One line for each operation and number of ranks.").sizes(1)};

inline constexpr Key kCostFile =
    object("cost", kCostFileKeys, "Measured time of an exchange by its bytes.")
        .exactly_one("table|costs");

[[nodiscard]] FileKind cost_file();

} // namespace stepsim::io::keys
