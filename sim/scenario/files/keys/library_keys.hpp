#pragma once
// The keys of a calibration of the library model (kind library_calibration, CLU 8): the node type,
// the fitted parameters, and the measured times of the fit. `stepsim-calibrate fit-library` writes
// such files. The files have no residuals, which readers compute from the measured times.

#include "nccl/multipliers.hpp"
#include "scenario/files/keys/node_keys.hpp"
#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io::keys {

using namespace rows;

inline constexpr std::array<std::string_view, 1> kLibraryNames{"nccl"};

// The words of nccl::Parameter.
[[nodiscard]] std::vector<std::string_view> parameter_words();

inline constexpr std::array kCalibratedNodeName{
    text("name", "Name of the node type.").example(R"("dgx_h100")").required()};

// A factor on a published constant; for kappa and rail the number itself.
inline constexpr std::array kLibraryParameter{
    number("value", "Fitted value.", between(0, 1e4)).plain().example("1.03").required(),
    number("low", "Lower end of its 95 % interval.").plain().example("1.01"),
    number("high", "Upper end of its 95 % interval.").plain().example("1.05"),
    boolean("from_prior", "Whether the measurements say next to nothing about it.")
        .by_default(false)};
inline constexpr std::array kLibraryParameters{
    object("parameters", kLibraryParameter, "One parameter.")};

inline constexpr std::array kLibraryPointKeys{
    word("op", nccl::kOperations, "Operation.").example(R"("allreduce")").required(),
    integer("nodes", "Machines.", between(1, 1 << 20)).example("10").required(),
    integer("gpus_per_node", "GPUs used per machine.", kMachineCounts).example("8").required(),
    number("bytes", "Size as nccl-tests gives it, bytes.", above_to(0, kMostExact))
        .example("1e9")
        .required(),
    number("measured_s", "Median of the measured times, s.", above_to(0, 1e9))
        .example("0.0061")
        .required(),
    integer("count", "Number of measured times.", at_least(1)).by_default(1)};
inline constexpr std::array kLibraryPoint{
    object("points", kLibraryPointKeys, "One measured time.")};

inline constexpr std::array kLibrarySource{text("sources", "A system or a device.")};

inline constexpr std::array kLibraryCalibrationKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name of the calibration.").example(R"("our-cluster")").required(),
    word("library", kLibraryNames, "Library that was measured.").by_default("nccl"),
    text("version", "Release of the library.").by_default("2.30").example(R"("2.29")"),
    word("choice", nccl::kChoices,
         "Which estimate picks algorithm and protocol: the library's own from published constants, "
         "or the calibrated cost.")
        .by_default("published"),
    object("node", kCalibratedNodeName, "Node type that was measured.")
        .and_also(kNodeModelKeys)
        .example(
            R"({"name": "dgx_h100", "gpus_per_node": 8, "ring_Bps": 3.708e11, "nics_per_node": 8, "nic_Bps": 4.8e10, "generation": "hopper"})")
        .required(),
    map("parameters", kLibraryParameters,
        "Factors on published constants by their names; what is left out has its default.")
        .named(parameter_words)
        .example(R"({"bw_nic": {"value": 1.03}})")
        .required(),
    list("points", kLibraryPoint, "Measured times.")
        .sizes(1)
        .example(
            R"([{"op": "allreduce", "nodes": 10, "gpus_per_node": 8, "bytes": 1073741824, "measured_s": 0.0061}])")
        .required(),
    object("of_nominal", kNominalShareKeys,
           "Shares of the nominal rates of the node type that were measured; a node type may name "
           "this file for them.")
        .example(R"({"nic": 0.43})"),
    list("sources", kLibrarySource, "Systems or devices that were measured.")
        .example(R"(["NVIDIA H100"])"),
    kWarnings};

inline constexpr Key kLibraryCalibration =
    object("library_calibration", kLibraryCalibrationKeys,
           "The model of a collective library, calibrated to measured times.");

[[nodiscard]] FileKind library_calibration_file();

} // namespace stepsim::io::keys
