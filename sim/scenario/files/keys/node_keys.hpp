#pragma once
// The keys of a node type (kind node_preset, CLU 9): the GPUs of a machine, the links between them,
// the network cards, and further inputs of the library model. The files in topologies/nodes/
// describe common machines; users write files for other machines. A calibration of the library
// (kind library_calibration) repeats the node type of its fit, so that it needs no second file.
//
// A number is plain, or an object with its source:
//
//     "nic_Bps": 48e9      "nic_Bps": {"value": 48e9, "label": "code", "source": "..."}
#include "document/fields/schema.hpp"
#include "nccl/layout.hpp"
#include "nccl/multipliers.hpp"
#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io::keys {

using namespace rows;

// The source of a number: NCCL's source code, a data sheet, a fit to measurements, a measurement,
// none, or the price list of a provider.
inline constexpr std::array<std::string_view, 6> kNumberLabels{"code",     "sheet",   "fitted",
                                                               "observed", "assumed", "list_price"};

inline constexpr Key kNumberLabel =
    word("label", kNumberLabels, "Kind of the source.", R"("sheet")").required();
inline constexpr Key kNumberSource =
    text("source", "Where the number comes from.", R"("vendor data sheet")").required();
[[nodiscard]] constexpr std::array<Key, 2> sourced_forms(Key plain,
                                                         std::span<const Key> with_source) {
  return {plain, object(plain.name, with_source, "Number with its source.")};
}

inline constexpr Range kMachineCounts = between(1, 1024);
inline constexpr std::array kSourcedCount{
    integer("value", "The number.", kMachineCounts, "8").required(), kNumberLabel, kNumberSource};
// Measurements often differ from run to run and machine to machine: low and high are their range.
[[nodiscard]] constexpr std::array<Key, 5> sourced_range(Range range, const Key& value,
                                                         const Key& low, const Key& high) {
  return {value.in(range).required(), low.in(range), high.in(range), kNumberLabel, kNumberSource};
}
inline constexpr auto kSourcedRate = sourced_range(
    at_least(1), number("value", "The number, bytes/s.").plain().example("4.8e10"),
    number("low", "Least rate that was measured, bytes/s. The default is the number.")
        .plain()
        .example("4.5e10"),
    number("high", "Greatest rate that was measured, bytes/s. The default is the number.")
        .plain()
        .example("4.9e10"));
inline constexpr auto kSourcedSize = sourced_range(
    at_least(1), number("value", "The size, bytes.").plain().example("80000000000"),
    number("low", "Least size, bytes. The default is the size.").plain().example("79600000000"),
    number("high", "Greatest size, bytes. The default is the size.")
        .plain()
        .example("85500000000"));

[[nodiscard]] constexpr std::array<Key, 2> count_forms(std::string_view name) {
  return sourced_forms(integer(name, "Number.", kMachineCounts), kSourcedCount);
}
[[nodiscard]] constexpr std::array<Key, 2> rate_forms(std::string_view name) {
  return sourced_forms(number(name, "Bytes per second.", at_least(1)), kSourcedRate);
}
inline constexpr auto kNodeGpuForms = count_forms("gpus_per_node");
inline constexpr auto kNodeNicForms = count_forms("nics_per_node");
inline constexpr auto kNodeDomainForms = count_forms("nvlink_domain_nodes");
inline constexpr auto kNodeLinkRateForms = rate_forms("link_nominal_Bps");
inline constexpr auto kNodeRingRateForms = rate_forms("ring_Bps");
inline constexpr auto kNodeNicRateForms = rate_forms("nic_Bps");
inline constexpr auto kNodeNicNominalForms = rate_forms("nic_nominal_Bps");

// Prices change: the source says when the list had this one.
inline constexpr auto kSourcedPrice = sourced_range(
    above(0), number("value", "The price.").plain().example("6.88"),
    number("low", "Least price of the list. The default is the price.").plain().example("6.88"),
    number("high", "Greatest price of the list. The default is the price.").plain().example("8.6"));
inline constexpr auto kNodeMemoryForms =
    sourced_forms(number("gpu_memory_bytes", "The size.", at_least(1)), kSourcedSize);
inline constexpr auto kNodePriceForms =
    sourced_forms(number("price_per_gpu_hour", "The price.", above(0)).plain(), kSourcedPrice);

// Shares of nominal rates. Both rates of a machine have one: what a transfer reaches, and what the
// data sheet says.
struct NominalRate {
  std::string_view share;         // key below of_nominal
  std::string_view part;          // of the machine, as lists call it
  std::string_view rate, nominal; // keys of a preset
};
inline constexpr std::array kNominalRates{
    NominalRate{"link", "inside", "ring_Bps", "link_nominal_Bps"},
    NominalRate{"nic", "card", "nic_Bps", "nic_nominal_Bps"}};

inline constexpr Range kShareRange = above_to(0, 1);
inline constexpr auto kSourcedShare = sourced_range(
    kShareRange, number("value", "The share.").example("0.33"),
    number("low", "Least share that was measured. The default is the value.").example("0.26"),
    number("high", "Greatest share that was measured. The default is the value.").example("0.41"));
[[nodiscard]] constexpr std::array<Key, 2> share_forms(std::string_view name) {
  return sourced_forms(number(name, "The share.", kShareRange), kSourcedShare);
}
inline constexpr auto kLinkShareForms = share_forms("link");
inline constexpr auto kNicShareForms = share_forms("nic");
inline constexpr std::array kNominalShareKeys{
    either("link", kLinkShareForms, "ring_Bps over link_nominal_Bps.", "0.33"),
    either("nic", kNicShareForms, "nic_Bps over nic_nominal_Bps.", "0.43")};

// The inputs of the library model.
[[nodiscard]] constexpr auto node_model_keys(bool rates_required) {
  std::array keys{
      either("gpus_per_node", kNodeGpuForms, "GPUs of one machine.", "8").required(),
      word("link", nccl::kInnerLinks, "Link between the GPUs of a machine.").by_default("nvlink"),
      either("ring_Bps", kNodeRingRateForms,
             "Rate per GPU and direction that a ring inside a machine reaches, bytes/s.",
             "3.708e11")
          .required(),
      either("nics_per_node", kNodeNicForms, "Network cards of one machine.", "8").required(),
      either("nic_Bps", kNodeNicRateForms,
             "Rate of one network card and direction that a transfer reaches, bytes/s.", "4.8e10")
          .required(),
      word("generation", nccl::kGenerations,
           "Generation of the GPUs, which selects the published constants of the library.",
           R"("hopper")")
          .required(),
      word("host", nccl::kHosts,
           "Make of the host processors; intel also counts for all others but AMD.")
          .by_default("intel"),
      boolean("in_switch_reduction",
              "Whether the switch between the GPUs of a machine adds (NVLS).")
          .by_default(false),
      boolean("ll128", "Whether the library may use the protocol LL128.").by_default(true),
      either("nvlink_domain_nodes", kNodeDomainForms,
             "Machines whose GPUs are in one NVLink domain. The number of machines must be a "
             "multiple of it, or less.",
             "18")
          .by_default(1),
      boolean("approximate",
              "Whether the machine's library is another than NCCL and modelled by NCCL's choice.")
          .by_default(false)};
  for (Key& key : keys) {
    for (const NominalRate& each : kNominalRates) {
      key.is_required = key.is_required && (rates_required || key.name != each.rate);
    }
  }
  return keys;
}
inline constexpr auto kNodeModelKeys = node_model_keys(true);
inline constexpr auto kPresetModelKeys = node_model_keys(false); // of_nominal may give the rates

inline constexpr std::array<std::string_view, 2> kNodeLabels{"default", "uncalibrated"};

inline constexpr std::array kOfNominalForms{
    text("of_nominal", "Path of a file of kind library_calibration."),
    object("of_nominal", kNominalShareKeys, "Shares of the nominal rates.")};
inline constexpr std::array kNodePresetKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name by which scenarios find a shipped node type.", R"("dgx_h100")").required(),
    word("label", kNodeLabels,
         "How far to trust the numbers: default for a first estimate; uncalibrated where "
         "measurements are known to differ much.")
        .by_default("default"),
    text("note", "A remark for readers.", R"("eight cards of 400 Gbit/s")").by_default(""),
    text("gpu", "Name of the GPU.", R"("NVIDIA H100")").by_default(""),
    either("link_nominal_Bps", kNodeLinkRateForms,
           "Rate of the links of one GPU and direction by the data sheet, bytes/s.", "4.5e11")
        .nullable(),
    either("nic_nominal_Bps", kNodeNicNominalForms,
           "Rate of one network card and direction by its name, bytes/s.", "5e10")
        .nullable(),
    either("gpu_memory_bytes", kNodeMemoryForms, "Memory of one GPU, bytes.", "80000000000")
        .nullable(),
    either("price_per_gpu_hour", kNodePriceForms,
           "Price of one GPU of the machine on demand, USD per hour.", "6.88")
        .nullable(),
    either("of_nominal", kOfNominalForms,
           "Shares of the nominal rates that transfers reach, in place of ring_Bps and nic_Bps: "
           "here, or in a file that `stepsim-calibrate fit-library` wrote, relative to this one.",
           R"({"link": 0.33, "nic": 0.43})")};

inline constexpr Key kNodePreset =
    object("node_preset", kNodePresetKeys,
           "A node type: GPUs, links and network cards of a machine.")
        .and_also(kPresetModelKeys);

[[nodiscard]] FileKind node_preset_file();

// The keys of a calibration of the library model (kind library_calibration, CLU 8): the node type,
// the fitted parameters, and the measured times of the fit. `stepsim-calibrate fit-library` writes
// such files. The files have no residuals, which readers compute from the measured times.

using namespace rows;

inline constexpr std::array<std::string_view, 1> kLibraryNames{"nccl"};

// The words of nccl::Parameter.
[[nodiscard]] std::vector<std::string_view> parameter_words();

inline constexpr std::array kCalibratedNodeName{
    text("name", "Name of the node type.", R"("dgx_h100")").required()};

// A factor on a published constant; for kappa and rail the number itself.
inline constexpr std::array kLibraryParameter{
    number("value", "Fitted value.", between(0, 1e4), "1.03").plain().required(),
    number("low", "Lower end of its 95 % interval.").plain().example("1.01"),
    number("high", "Upper end of its 95 % interval.").plain().example("1.05"),
    boolean("from_prior", "Whether the measurements say next to nothing about it.")
        .by_default(false)};
inline constexpr std::array kLibraryParameters{
    object("parameters", kLibraryParameter, "One parameter.")};

inline constexpr std::array kLibraryPointKeys{
    word("op", nccl::kOperations, "Operation.", R"("allreduce")").required(),
    integer("nodes", "Machines.", between(1, 1 << 20), "10").required(),
    integer("gpus_per_node", "GPUs used per machine.", kMachineCounts, "8").required(),
    number("bytes", "Size as nccl-tests gives it, bytes.", above_to(0, kMostExact), "1e9")
        .required(),
    number("measured_s", "Median of the measured times, s.", above_to(0, 1e9), "0.0061").required(),
    integer("count", "Number of measured times.", at_least(1)).by_default(1)};
inline constexpr std::array kLibraryPoint{
    object("points", kLibraryPointKeys, "One measured time.")};

inline constexpr std::array kLibrarySource{text("sources", "A system or a device.")};

inline constexpr std::array kLibraryCalibrationKeys{
    text("kind", "Kind of the file.").required(),
    text("name", "Name of the calibration.", R"("our-cluster")").required(),
    word("library", kLibraryNames, "Library that was measured.").by_default("nccl"),
    text("version", "Release of the library.", R"("2.29")").by_default("2.30"),
    word("choice", nccl::kChoices,
         "Which estimate picks algorithm and protocol: the library's own from published constants, "
         "or the calibrated cost.")
        .by_default("published"),
    object(
        "node", kCalibratedNodeName, "Node type that was measured.",
        R"({"name": "dgx_h100", "gpus_per_node": 8, "ring_Bps": 3.708e11, "nics_per_node": 8, "nic_Bps": 4.8e10, "generation": "hopper"})")
        .and_also(kNodeModelKeys)
        .required(),
    map("parameters", kLibraryParameters,
        "Factors on published constants by their names; what is left out has its default.",
        R"({"bw_nic": {"value": 1.03}})")
        .named(parameter_words)
        .required(),
    list(
        "points", kLibraryPoint, "Measured times.",
        R"([{"op": "allreduce", "nodes": 10, "gpus_per_node": 8, "bytes": 1073741824, "measured_s": 0.0061}])")
        .sizes(1)
        .required(),
    object("of_nominal", kNominalShareKeys,
           "Shares of the nominal rates of the node type that were measured; a node type may name "
           "this file for them.",
           R"({"nic": 0.43})"),
    list("sources", kLibrarySource, "Systems or devices that were measured.", R"(["NVIDIA H100"])"),
    kWarnings};

inline constexpr Key kLibraryCalibration =
    object("library_calibration", kLibraryCalibrationKeys,
           "The model of a collective library, calibrated to measured times.");

[[nodiscard]] FileKind library_calibration_file();

} // namespace stepsim::io::keys
