// A ring that repeats its ranks is folded: what comes out is what comes out without, to the bit.
#include "collectives/evaluate/ring_pass.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "base/random.hpp"

namespace stepsim::collectives {

TEST_CASE("ring pass: with and without shortcuts rings end alike, to the bit") {
  base::RandomStream random({.seed = 91});
  for (int instance = 0; instance < 300; ++instance) {
    CAPTURE(instance);
    const auto part = static_cast<std::size_t>(random.integer(1, 9));
    const auto times = static_cast<std::size_t>(random.integer(1, 12));
    const std::size_t size = part * times;
    if (size < 2) {
      continue;
    }
    const auto repeated = [&](double most) {
      std::vector<double> values;
      for (std::size_t i = 0; i < part; ++i) {
        values.push_back(random.integer(0, 3) == 0 ? 0 : random.uniform(0, most));
      }
      while (values.size() < size) {
        values.push_back(values[values.size() - part]);
      }
      return values;
    };
    RingState ring{.tx = repeated(1e-3),
                   .rx = repeated(1e-3),
                   .reduced = repeated(1e-3),
                   .ready = repeated(1e-3),
                   .latency_s = repeated(1e-5),
                   .per_byte_s = repeated(1e-9),
                   .delay_s = repeated(random.integer(0, 1) == 0 ? 0 : 1e-5),
                   .reduction_s_per_byte = repeated(random.integer(0, 1) == 0 ? 0 : 1e-9)};
    if (random.integer(0, 4) == 0) { // nothing repeats
      ring.tx.back() += 1e-4;
    }
    Options options;
    options.chunking = random.integer(0, 1) == 0 ? Chunking::integer : Chunking::real;
    const Partition partition = Partition::equal(static_cast<double>(random.integer(1, 1'000'000)),
                                                 static_cast<Index>(size), options);
    for (const bool reduce : {true, false}) {
      for (const ReductionMode mode : {ReductionMode::overlapped, ReductionMode::serial}) {
        RingState shorter = ring;
        RingState whole = ring;
        run_ring_pass(shorter, partition, reduce, mode);
        run_ring_pass(whole, partition, reduce, mode, false);
        CHECK(shorter == whole);
      }
    }
  }
}

} // namespace stepsim::collectives
