#pragma once
// Bytes per second and direction of the links of a machine, from the attributes of their ends in
// NCCL's topology file.
//
//     PCIe         GT/s x lanes x 128/130 (8/10 up to 5 GT/s) / 8 x efficiency
//     NVLink       per link: below sm 70 18 GB/s, from sm 70 20, sm 86 12, from sm 100 40.1
//     xGMI         per cable: 24 GB/s, gfx90a (also written 910) 36,
//                  gfx94* and gfx95* (also written 940, 942) 48
//     between CPUs by make, from 6 GB/s (unknown, old or Arm) to 40 GB/s (Emerald Rapids)
//
// Source: IO 8; NVLink and CPUs: NCCL, src/graph/topo.h; xGMI: the same file of RCCL.
#include <cstdint>
#include <string_view>

#include "import/nccl/nccl_system.hpp"

namespace stepsim::io {

struct PcieLink {
  double speed_GTps = 8;   // per lane, in the range kPcieSpeeds
  std::int64_t lanes = 16; // in the range kPcieLanes
};
[[nodiscard]] double pcie_rate(const PcieLink& link, double efficiency);

// Rate of one NVLink; sm = compute capability x 10.
[[nodiscard]] double nvlink_rate(std::int64_t sm);

// Rate of one xGMI cable; gcn is a number or a name, with 24 GB/s for one that is not listed above.
[[nodiscard]] double xgmi_rate(std::string_view gcn);

// Rate from a CPU to every other one.
[[nodiscard]] double cpu_rate(const NcclNode& cpu);

} // namespace stepsim::io
