#pragma once
// Finds the GPUs of a machine, their order by rank, and the targets of their NVLinks.
//
//     <nvlink target="0000:3b:00.0" count="2" tclass="0x030200"/>     to a GPU: two links
//     <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>     to the NVSwitch
//
// As in NCCL, all NVSwitches of a machine are one: a message uses the links to all of them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/nccl/nccl_system.hpp"

namespace stepsim::io {

// Indices into `system.nodes` in rank order: the order of `names` (bus ids), whose nodes become
// GPUs; without names, by rank if all GPUs have one, else by dev if all have one, else as in the
// file. Throws InputError for no GPU and for a rank or dev that appears twice, and UsageError
// `--gpus X: ...`.
[[nodiscard]] std::vector<std::size_t> order_gpus(NcclSystem& system,
                                                  const std::vector<std::string>& names,
                                                  const std::string& file,
                                                  std::vector<std::string>& warnings);

struct NvlinkCounts { // keys: indices of GPUs in `system.nodes`; numbers > 0
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs; // first < second
  std::map<std::size_t, std::int64_t> to_switch;
};
// Links to the GPU itself or to an unknown GPU are left out, with a warning. If both ends list a
// pair, the smaller number is taken.
[[nodiscard]] NvlinkCounts count_nvlinks(const NcclSystem& system,
                                         std::vector<std::string>& warnings);

} // namespace stepsim::io
