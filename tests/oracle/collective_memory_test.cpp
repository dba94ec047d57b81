// Memory of the evaluators grows with the ranks, not with the messages: every allocation of this
// process is counted.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace {

std::size_t allocated_bytes = 0; // since the program started; never less after a free

} // namespace

void* operator new(std::size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace stepsim::collectives {
namespace {

// Every transfer of every rank.
Evaluation all_events(const Collective& collective, bool with_transfer_times) {
  return events(collective, with_transfer_times, false);
}
Evaluation all_steps(const Collective& collective, bool with_transfer_times) {
  return max_plus(collective, with_transfer_times, false);
}

template <class Evaluator>
double bytes_for(Evaluator evaluator, AlgorithmId algorithm, std::uint32_t ranks) {
  Collective collective;
  collective.algorithm = algorithm;
  collective.ranks = ranks;
  collective.bytes = 1e8;
  collective.links.all = {1e-5, 1e-5, 8e-10};
  collective.options.block = Bytes{1'000'000};
  const std::size_t before = allocated_bytes;
  (void)evaluator(collective, false);
  return static_cast<double>(allocated_bytes - before);
}

// Sixteen times the ranks: 256 times the messages of a ring.
TEST_CASE("memory: a ring of 4096 ranks takes 16 times what one of 256 takes, and 1 KB per rank") {
  for (const auto evaluator : {&all_steps, &all_events}) {
    const double small = bytes_for(evaluator, AlgorithmId::ring, 256);
    const double large = bytes_for(evaluator, AlgorithmId::ring, 4096);
    CHECK(large <= 1.3 * 16 * small);
    CHECK(large <= 1024.0 * 4096);
  }
}

TEST_CASE("memory: pipelines and double trees are linear in ranks too") {
  for (const AlgorithmId algorithm : {AlgorithmId::lp, AlgorithmId::double_binary_tree}) {
    for (const auto evaluator : {&all_steps, &all_events}) {
      const double small = bytes_for(evaluator, algorithm, 128);
      const double large = bytes_for(evaluator, algorithm, 2048);
      CHECK(large <= 1.5 * 16 * small);
    }
  }
}

} // namespace
} // namespace stepsim::collectives
