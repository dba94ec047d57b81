#pragma once
// The keys of a file of measured training speeds (kind measured_training, SPA 10.2): the samples
// per second of a cluster with a compression method, and the parts of the time of one update. Such
// files are written by hand from publications, as NAME.measured.json in traces/. `stepsim check`
// reads them, and docs/gtopk_table.py compares them with the predictions of the simulator.

#include "collectives/compress/compression.hpp"
#include "document/fields/schema.hpp"

namespace stepsim::io::keys {

using namespace rows;

// One update of one rank, split into GPU compute, compression and the rest.
inline constexpr std::array kMeasuredPhasesKeys{
    integer("ranks", "Number of ranks of this measurement.", at_least(1)).example("32").required(),
    word("method", collectives::compression_names, "Compression method of this measurement.")
        .example(R"("gtopk_tree")"),
    number("compute_s", "Time of the forward and the backward pass, s.", at_least(0))
        .example("0.139536")
        .required(),
    number("compress_s", "Time to select entries and to update the residual, s.", at_least(0))
        .example("0.091353")
        .required(),
    number("communication_s", "The rest of the update, s.", at_least(0))
        .example("0.811753")
        .required()};

// {METHOD: {"RANKS": speed}}. The number of ranks is a JSON key and thus a text; it must be a whole
// number, "32", not "032" or "+32".
inline constexpr std::array kMeasuredSpeed{
    number("samples_per_s_per_gpu", "Samples per second and GPU.", above(0))
        .plain()
        .example("104.2")};
inline constexpr std::array kMeasuredByRanks{
    map("samples_per_s_per_gpu", kMeasuredSpeed, "Speeds by the number of ranks.")
        .named_like("^[1-9][0-9]*$")
        .sizes(1)
        .example(R"({"4": 104.2})")};

inline constexpr std::array kMeasuredModelKeys{
    text("name", "Name of the network, which is that of its layer table in models/ if it has one.")
        .example(R"("vgg16_cifar")")
        .required(),
    integer("parameters", "Number of parameters. Null means that the source does not say.",
            at_least(1))
        .nullable()
        .example("14728266"),
    integer("batch_size", "Samples per GPU and update. Null means that the source does not say.",
            at_least(1))
        .nullable()
        .example("128"),
    text("note", "A remark for readers of the file.").by_default("").example(R"("fp32")"),
    object("phases", kMeasuredPhasesKeys, "Where the time of one update went.")
        .nullable()
        .example(
            R"({"ranks": 32, "method": "gtopk_tree", "compute_s": 0.139536, "compress_s": 0.091353, "communication_s": 0.811753})"),
    map("samples_per_s_per_gpu", kMeasuredByRanks,
        "Samples per second and GPU by compression method, then by the number of ranks. The method "
        "none is dense training.")
        .named(collectives::compression_names)
        .example(R"({"none": {"1": 1317.333, "4": 104.2}, "topk": {"4": 110.576}})")
        .required()};
inline constexpr std::array kMeasuredModel{
    object("models", kMeasuredModelKeys, "Measurements of one network.")};

inline constexpr std::array kMeasuredKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name shown in tables.").example(R"("my-cluster")").required(),
    text("source", "Where the numbers come from.")
        .example(R"("our own runs, 2026-01-31")")
        .required(),
    text("note", "A remark for readers of the file.")
        .by_default("")
        .example(R"("images per second and GPU")"),
    list("models", kMeasuredModel, "Measurements of each network.")
        .sizes(1)
        .example(
            R"([{"name": "vgg16_cifar", "batch_size": 128, "samples_per_s_per_gpu": {"none": {"1": 1317.333, "4": 104.2}}}])")
        .required()};

inline constexpr Key kMeasured =
    object("measured_training", kMeasuredKeys,
           "Measured training speeds, to compare with what the simulator predicts.");

[[nodiscard]] FileKind measured_file();

} // namespace stepsim::io::keys
