#include "scenario/overlap_table.hpp"

#include <array>

namespace stepsim::study {

namespace {

// An H100 has 132 streaming multiprocessors, and a channel of NCCL occupies one of them.
constexpr double kMultiprocessors = 132;
constexpr double kChannels = 16;

constexpr std::array kOverlapRows{
    OverlapRow{"V100-PCIe/NCCL-2.4+TCP-10GbE", 2.26, "derived",
               "fitted to 18 measured steps of three networks on 16 V100; the version of the "
               "library is an assumption"},
    OverlapRow{"V100-PCIe/NCCL-2.4+IB-56G", 1.78, "derived",
               "fitted to 18 measured steps of three networks on 16 V100; the version of the "
               "library is an assumption"},
    OverlapRow{"H100-SXM/NCCL", kMultiprocessors / (kMultiprocessors - kChannels), "derived",
               "16 channels take 16 of 132 multiprocessors; contention for memory is left out, so "
               "that this is a lower bound"},
};

} // namespace

std::span<const OverlapRow> overlap_rows() { return kOverlapRows; }

std::vector<std::string_view> overlap_names() {
  std::vector<std::string_view> names;
  for (const OverlapRow& row : kOverlapRows) {
    names.push_back(row.name);
  }
  return names;
}

} // namespace stepsim::study
