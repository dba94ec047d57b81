#pragma once
// The keys of the model of a collective library (CLU 10): `library`, a key of /communication and of
// a file of kind collective; and `preset`, the node type, from which a cluster takes its rates and
// its numbers of GPUs and network cards.
//
//     {"cluster": {"preset": "dgx_h100", "nodes": 10},
//      "communication": {"collective": "library", "library": {"version": "2.29"}}}

#include "scenario/files/keys/node_keys.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// A value of the keys `collective` and `algorithm`. It does not name an algorithm: the library
// model predicts the algorithm that the library chooses.
inline constexpr std::string_view kLibrary = "library";

// The algorithms that the library may choose: all but the last, p2p, which is only for alltoall.
inline constexpr auto kLibraryAlgorithms = nccl::kAlgorithms.first<6>();

inline constexpr std::array kLibraryAlgorithm{
    word("algorithms", kLibraryAlgorithms, "An algorithm of the library.")};
inline constexpr std::array kLibraryProtocol{
    word("protocols", nccl::kProtocols, "A protocol of the library.")};

inline constexpr std::array kLibraryCalibrationForms{
    text("calibration", "File of kind library_calibration.", R"("cluster.library.json")"),
    object("calibration", {}, "The calibration itself, with the keys of its kind of file.",
           R"({"kind": "library_calibration"})")
        .open()};

inline constexpr std::array kLibraryModelKeys{
    word("name", io::keys::kLibraryNames, "Library that is modelled.")
        .by_default("nccl", "the library of NVIDIA's GPUs"),
    text("version",
         "Release of the library. The default is that of the calibration, 2.30 without one.",
         R"("2.29")")
        .because("the release whose constants are known, or that was measured"),
    word("choice", nccl::kChoices,
         "Which estimate picks algorithm and protocol: the library's own from published constants, "
         "or the calibrated cost. The default is what the calibration says, published without one.",
         R"("published")")
        .because("the library does not measure, unless its calibration says so"),
    word("residual", nccl::kResiduals,
         "Whether the misfits of measured times nearby correct a prediction. The default is "
         "kriging with a calibration, none without one.",
         R"("none")")
        .because("measured times correct a prediction where there are any"),
    either("calibration", kLibraryCalibrationForms,
           "Parameters fitted to measured times (stepsim-calibrate fit-library).",
           R"("cluster.library.json")"),
    list("algorithms", kLibraryAlgorithm,
         "Algorithms that the library may take. The default is all that the node type offers.",
         R"(["ring", "tree"])")
        .sizes(1),
    list("protocols", kLibraryProtocol, "Protocols that the library may take. The default is all.",
         R"(["ll", "simple"])")
        .sizes(1),
    boolean("ll128", "Whether the library may take the protocol ll128.")
        .by_default(true, "the node type decides"),
    boolean("collnet", "Whether the switches of the network add, and the library uses them.")
        .by_default(false, "no switch of the network adds")};

inline constexpr std::array kLibraryForms{
    object("library", kLibraryModelKeys, "The library and its calibration."),
    word("library", io::keys::kLibraryNames, "Name of the library.")};

inline constexpr io::Key kLibraryKey =
    either("library", kLibraryForms,
           "The model of a collective library: its release, what it may choose, its calibration.",
           R"({"name": "nccl", "version": "2.29"})");

inline constexpr io::Key kPresetKey =
    text("preset",
         "Node type, by name or as a file of kind node_preset. It gives gpus_per_node, "
         "nics_per_node, nvlink_domain_nodes, nvls_Bps, intra_network and network; a "
         "value beside it wins.",
         R"("dgx_h100")");

} // namespace stepsim::study::keys
