#pragma once
// Bytes per second of the links of a machine, by what NCCL's topology file says of their ends.
//
//     PCIe         GT/s x lanes x 128/130 (8/10 up to 5 GT/s) / 8 x efficiency
//     NVLink       per link and direction: sm 60 18 GB/s, from sm 70 20, sm 86 12, from sm 100 40.1
//     xGMI         per cable and direction: 24 GB/s, gfx90a (also written 910) 36, gfx94* and
//     gfx95*
//                  (also written 940, 942) 48
//     between CPUs by make, from 6 GB/s (unknown, old or Arm) to 40 GB/s (Emerald Rapids)
//
// Per direction. Source: IO 8; NVLink and CPUs: NCCL, src/graph/topo.h; xGMI: RCCL's.
#include <cstdint>
#include <string_view>

#include "import/nccl/nccl_system.hpp"

namespace stepsim::io {

struct PcieLink {
  double speed_GTps = 8;   // per lane, in kPcieSpeeds
  std::int64_t lanes = 16; // in kPcieLanes
};
[[nodiscard]] double pcie_rate(const PcieLink& link, double efficiency);

// Of one NVLink; sm = compute capability x 10.
[[nodiscard]] double nvlink_rate(std::int64_t sm);

// Of one xGMI cable; gcn is a number or a name.
[[nodiscard]] double xgmi_rate(std::string_view gcn);

// From a CPU to each other one.
[[nodiscard]] double cpu_rate(const NcclNode& cpu);

} // namespace stepsim::io
