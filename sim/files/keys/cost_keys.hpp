#pragma once
// The keys of a cost file (kind cost, MER 4.2): how long one exchange takes by its bytes, as points
// that somebody measured. `stepsim import osu` writes such files from a log of the OSU benchmarks,
// and users write them from measurements of their own. Scenarios (cluster.network.cost) and problem
// files (cost) name a cost file, or have its table in the same place.
#include <array>

#include "json/fields/schema.hpp"

namespace stepsim::io::keys {

using namespace rows;

// A point holds numbers without units: bytes, then seconds.
inline constexpr std::array kCostNumber{
    number("table", "Bytes, then seconds.").in(above(0)).plain().example("1024")};
inline constexpr std::array kCostPoint{
    list("table", kCostNumber, "[bytes, seconds]").sizes(2, 2).example("[1024, 0.0001]")};
inline constexpr Key kCostTable =
    list("table", kCostPoint, "Points [bytes, seconds], bytes ascending.")
        .sizes(2)
        .example("[[1024, 0.0001], [1048576, 0.001]]");

// Importers write an object, people mostly a sentence. Nothing is computed from either.
inline constexpr std::array kCostSources{
    text("source", "Where the numbers come from."),
    object("source", {}, "Input file and importer, with the keys of the source of samples.")
        .open()};

inline constexpr std::array kCostFileKeys{
    text("op", "Operation that was measured.").example(R"("allreduce")"),
    integer("ranks", "Number of ranks that took part.").in(at_least(1)).nullable().example("8"),
    either("source", kCostSources, "Where the numbers come from: a text or an object.")
        .example(R"("vendor data sheet")"),
    kCostTable.required()};

inline constexpr Key kCostFile =
    object("cost", kCostFileKeys, "Measured time of an exchange by its bytes.");

[[nodiscard]] FileKind cost_file();

} // namespace stepsim::io::keys
