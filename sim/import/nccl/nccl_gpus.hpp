#pragma once
// Which devices of a machine are its GPUs, in which order the ranks are on them, and how many
// NVLinks lead where.
//
//     <nvlink target="0000:3b:00.0" count="2" tclass="0x030200"/>     to a GPU: two links
//     <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>     to the NVSwitch
//
// All NVSwitches of a machine are one, as in NCCL: a message uses the links to all of them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/nccl/nccl_system.hpp"

namespace stepsim::io {

// Places in `system.nodes`, in the order of ranks: as `names` (bus ids) says, whose nodes become
// GPUs whatever they were; else by rank, else by dev, else as in the file. Throws InputError: no
// GPU, a rank or a dev twice; UsageError `--gpus X: ...`.
[[nodiscard]] std::vector<std::size_t> order_gpus(NcclSystem& system,
                                                  const std::vector<std::string>& names,
                                                  const std::string& file,
                                                  std::vector<std::string>& warnings);

struct NvlinkCounts { // by places of GPUs in `system.nodes`; numbers > 0
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs; // first < second
  std::map<std::size_t, std::int64_t> to_switch;
};
// What leads nowhere (to the GPU itself, to a GPU that the file does not have) is left out, and of
// a pair that both ends list the smaller number counts.
[[nodiscard]] NvlinkCounts count_nvlinks(const NcclSystem& system,
                                         std::vector<std::string>& warnings);

} // namespace stepsim::io
