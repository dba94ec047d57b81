#pragma once
// The keys of a file of samples (kind samples, IO 6.3): measured times of collectives as a function
// of bytes. `stepsim import` writes such files from logs of nccl-tests and the OSU benchmarks and
// from Kineto traces; `stepsim-calibrate fit` reads them. A CSV file of samples has the keys of a
// set and of a point as its columns, so that both forms have the same ranges.

#include "document/fields/schema.hpp"
#include "scenario/files/keys/source_keys.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io::keys {

inline constexpr double kMostRanks = 1 << 20;

inline constexpr std::array kSampleKeys{
    integer(
        "bytes",
        "Bytes of the whole buffer of the collective; alltoall: of the send buffer of one rank.",
        between(0, kMostExact))
        .example("1024")
        .required(),
    number("time_s", "Time of one call, s.", measured_times()).example("5e-5").required(),
    integer("pass", "Number of the repetition, where the source numbers them.", at_least(0))
        .example("0")};
inline constexpr std::array kSample{object("points", kSampleKeys, "One measurement.")};

inline constexpr std::array kSampleSetKeys{
    word("op", kSampleOps, "Operation.").example(R"("allreduce")").required(),
    text("algorithm", "Algorithm of the operation. Without one it is unknown.")
        .example(R"("ring")"),
    integer("ranks", "Number of ranks that took part.", between(1, kMostRanks))
        .example("8")
        .required(),
    text("device", "Device that was measured.").nullable().example(R"("NVIDIA H100")"),
    text("dtype", "Type of the elements, as the source names it.")
        .nullable()
        .example(R"("float32")"),
    text("column", "Column of the log, where it has several times per size.")
        .nullable()
        .example(R"("out-of-place")"),
    word("start_up", links::kStartUps,
         "Whether each call was alone, after a barrier, or one of several queued at once; its time "
         "is then that of all, divided by their number.")
        .by_default(links::kStartUps[links::StartUp::alone])
        .example(R"("queue")"),
    integer("gpus_per_node", "Number of ranks that share a host.", at_least(1))
        .nullable()
        .example("8"),
    list("points", kSample, "Measurements. A size may appear several times.")
        .example(R"([{"bytes": 1024, "time_s": 5e-5}])")
        .required()};
inline constexpr std::array kSampleSet{
    object("sets", kSampleSetKeys, "Measurements of one operation on the same ranks.")};

inline constexpr std::array kSamplesKeys{
    kSource,
    list("sets", kSampleSet, "Sets of measurements.")
        .example(
            R"([{"op": "allreduce", "ranks": 8, "points": [{"bytes": 1024, "time_s": 5e-5}]}])")
        .required(),
    kWarnings};

inline constexpr Key kSamples = object("samples", kSamplesKeys, "Measured times of collectives.");

[[nodiscard]] FileKind samples_file();

} // namespace stepsim::io::keys
