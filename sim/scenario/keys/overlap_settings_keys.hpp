#pragma once
// The object /training/overlap of a scenario (TRN 3.3, 8.1).

#include "scenario/files/keys/overlap_keys.hpp"
#include "scenario/scenario_overlap.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kOverlapSettings{
    io::keys::kOverlapCompute, io::keys::kOverlapExchange,
    text("file", "File of kind overlap, which fills what is not given.")
        .example(R"("v100.overlap.json")"),
    word("table", overlap_names,
         "DEVICE/LIBRARY of a slowdown that comes with the program; it fills what is not given.")
        .example(R"("V100-PCIe/NCCL-2.4+TCP-10GbE")")};

inline constexpr io::Key kOverlapKey =
    object("overlap", kOverlapSettings,
           "Slowdown of computing and exchanges that overlap. The default is none: overlap is "
           "assumed to be free.")
        .nullable()
        .example(R"({"compute": 2.26})");

} // namespace stepsim::study::keys
