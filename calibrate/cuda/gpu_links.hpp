#pragma once
// The links between devices, found from the times of messages between every two of them: pairs
// whose bandwidths differ by less than a quarter from one to the next are one class. CUDA does not
// say what connects two devices, so that the word for a class follows from its bandwidth:
//
//   above 80 GB/s                        nvlink   (16 lanes of PCIe 5 carry 63 GB/s each way)
//   else, the only class                 pcie
//   else, the fastest of several         pcie, below one switch
//   else                                 pcie, across switches or sockets
//
// Pairs on different hosts are classes of their own: `network`, whatever their bandwidth.
//
// A class of NVLink below 80 GB/s, as between many V100, is called pcie; its numbers are right.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cuda/records.hpp"

namespace stepsim::calibrate::gpu {

// Medians over the pairs of a class.
struct DeviceLinks {
  std::string link_class; // of net::kLinkClasses
  std::string words;      // for people
  double latency_s{};     // of a message of 4 bytes
  double per_byte_s{};    // of one direction
  // How many times as long a byte takes while both directions are used (exchange) and while every
  // device sends to the next one (shift) as with one direction alone. Empty if not measured.
  std::optional<double> exchange, shift;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs; // src < dst, ascending
};

// Fastest class first. Pairs of which latency or bandwidth is missing are left out; empty for none.
// `shift` goes to the slowest class, which limits it. `hosts`: the number of the host of every
// rank; empty: all are on one host.
[[nodiscard]] std::vector<DeviceLinks> device_links(const std::vector<PairRecord>& records,
                                                    const std::vector<std::uint32_t>& hosts = {});

// "nvlink: 6 pairs, 2.10 us, 300 GB/s, both ways 1.05, shift 1.10 (0-1 0-2 ..)"
[[nodiscard]] std::string text_of(const DeviceLinks& links);

} // namespace stepsim::calibrate::gpu
