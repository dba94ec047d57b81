#pragma once
// The links between devices, found from the times of messages between every two devices. Pairs are
// sorted by bandwidth; a new class begins where a byte takes more than 1.25 times as long as in the
// pair before. CUDA does not say what connects two devices, so that the name of a class follows
// from its bandwidth:
//
//   above 80 GB/s                        nvlink   (16 lanes of PCIe 5 carry 63 GB/s each way)
//   else, the only class below that      pcie
//   else, the fastest class below that   pcie, below one switch
//   else                                 pcie, across switches or sockets
//
// Pairs of devices on different hosts form separate classes, called network at any bandwidth.
//
// NVLink below 80 GB/s, as between many V100, is called pcie; only the name is then wrong.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cuda/records.hpp"

namespace stepsim::calibrate::gpu {

// One class of links; times are medians over its pairs.
struct DeviceLinks {
  std::string link_class; // one of links::kLinkClasses
  std::string words;      // name for people: "pcie, below one switch"
  double latency_s{};     // time of the smallest ping-pong message that was measured, 4 bytes
  double per_byte_s{};    // seconds per byte in the slower direction, the other one idle
  // Time per byte divided by per_byte_s: while both directions are used (exchange), and while every
  // device sends to the next device (shift). Empty if not measured.
  std::optional<double> exchange, shift;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs; // src < dst, ascending
};

// The classes of links, fastest first. Pairs without a measured latency or bandwidth are left out.
// Only the slowest class has `shift`, because it limits the time. `hosts` [rank] is the number of
// the host of every rank; empty if all ranks are on one host.
[[nodiscard]] std::vector<DeviceLinks> device_links(const std::vector<PairRecord>& records,
                                                    const std::vector<std::uint32_t>& hosts = {});

// "nvlink: 6 pairs, 2.10 us, 300 GB/s, both ways 1.05, shift 1.10 (0-1 0-2 ..)"
[[nodiscard]] std::string text_of(const DeviceLinks& links);

} // namespace stepsim::calibrate::gpu
