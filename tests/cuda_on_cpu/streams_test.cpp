// The order of collectives on streams (CAL 7.1): the calls that RankSet makes go to the played
// machine, which knows by vector clocks whether every access to a buffer comes after those that it
// needs. Nothing is computed here.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "calibrate/cuda/run_plan.cuh"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::gpu;

namespace {

constexpr int kDevices = 3;

struct Played {
  Played(std::uint32_t ranks, std::int64_t elements) {
    cuda_on_cpu::Machine machine;
    machine.devices = kDevices;
    machine.executes = false;
    cuda_on_cpu::set_machine(machine);
    set.emplace(ranks, kDevices, elements + 64, true);
  }
  std::optional<RankSet> set;
};

CollectivePlan plan_of(const Kind& kind, std::uint32_t ranks) {
  const std::int64_t elements = 3 * ranks + 1;
  return make_plan({kind.op, kind.algorithm, ranks, elements,
                    kind.algorithm == collectives::AlgorithmId::lp ? std::int64_t{4} : 0});
}

// The collective twice in a row, and then every vector read by the host.
void call(RankSet& set, const CollectivePlan& plan, Variant variant) {
  set.enqueue(plan, variant, 0);
  set.enqueue(plan, variant, 0);
  set.main().synchronize();
  for (std::uint32_t rank = 0; rank < set.ranks(); ++rank) {
    (void)set.read(rank, plan.elements);
  }
}

std::string text(const Kind& kind, std::uint32_t ranks, Variant variant) {
  return std::string(collectives::name(kind.op)) + " " +
         std::string(collectives::name(kind.algorithm)) + " " + std::string(name(variant)) +
         " P=" + std::to_string(ranks);
}

// Every buffer is written by `main`.
void set_all(const RankSet& set, std::int64_t elements) {
  for (std::uint32_t rank = 0; rank < set.ranks(); ++rank) {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
    STEPSIM_CUDA(cudaMemsetAsync(set.x(rank), 0, bytes, set.main()));
    STEPSIM_CUDA(cudaMemsetAsync(set.temp(rank), 0, bytes, set.main()));
  }
}

// The host waits for everything, so that nothing before can be out of order with what follows.
void wait_for_all() {
  for (int device = 0; device < kDevices; ++device) {
    const DeviceGuard guard(device);
    STEPSIM_CUDA(cudaDeviceSynchronize());
  }
  cuda_on_cpu::forget_violations();
}

} // namespace

TEST_CASE("streams: every read of a buffer comes after its write, in all collectives") {
  std::int64_t waits = 0;
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    Played played(ranks, 3 * ranks + 1);
    for (const Kind& kind : dense_kinds()) {
      for (const Variant variant : kVariants) {
        CAPTURE(text(kind, ranks, variant));
        call(*played.set, plan_of(kind, ranks), variant);
        REQUIRE_MESSAGE(cuda_on_cpu::violations().empty(), cuda_on_cpu::violations().front());
      }
    }
    waits += cuda_on_cpu::calls().waits;
  }
  CHECK(waits > 10'000);
}

TEST_CASE("streams: captured graphs keep the order of all collectives") {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    Played played(ranks, 3 * ranks + 1);
    for (const Kind& kind : dense_kinds()) {
      for (const Variant variant : kVariants) {
        CAPTURE(text(kind, ranks, variant));
        const CollectivePlan plan = plan_of(kind, ranks);
        const Graph graph = played.set->capture(plan, variant, 0);
        graph.launch(played.set->main());
        graph.launch(played.set->main());
        played.set->main().synchronize();
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          (void)played.set->read(rank, plan.elements);
        }
        REQUIRE_MESSAGE(cuda_on_cpu::violations().empty(), cuda_on_cpu::violations().front());
      }
    }
  }
}

TEST_CASE("streams: without any one of its waits a collective is out of order") {
  std::int64_t dropped = 0;
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    Played played(ranks, 3 * ranks + 1);
    const auto run = [&](const CollectivePlan& plan) {
      set_all(*played.set, plan.elements);
      played.set->enqueue(plan, Variant::copy_engine, 0);
      played.set->main().synchronize();
      set_all(*played.set, plan.elements);
    };
    for (const Kind& kind : dense_kinds()) {
      CAPTURE(text(kind, ranks, Variant::copy_engine));
      const CollectivePlan plan = plan_of(kind, ranks);
      const std::int64_t before = cuda_on_cpu::calls().waits;
      run(plan);
      REQUIRE(cuda_on_cpu::violations().empty()); // with all of them it is in order
      const std::int64_t waits = cuda_on_cpu::calls().waits - before;
      for (std::int64_t wait = 0; wait < waits; ++wait) {
        CAPTURE(wait);
        wait_for_all();
        cuda_on_cpu::drop_wait(wait);
        run(plan);
        REQUIRE(!cuda_on_cpu::violations().empty());
        ++dropped;
      }
      cuda_on_cpu::drop_wait(-1);
      wait_for_all();
    }
  }
  CHECK(dropped > 3'000);
}

TEST_CASE(
    "streams: a ring of eight ranks takes few calls, a graph one, and nobody asks for attributes") {
  cuda_on_cpu::Machine machine;
  machine.devices = 8;
  machine.executes = false;
  cuda_on_cpu::set_machine(machine);
  RankSet set(8, 8, 1024, false);
  const CollectivePlan plan =
      make_plan({collectives::Op::allreduce, collectives::AlgorithmId::ring, 8, 800});
  const auto calls_of = [](const auto& call) {
    const cuda_on_cpu::Calls before = cuda_on_cpu::calls();
    call();
    const cuda_on_cpu::Calls after = cuda_on_cpu::calls();
    CHECK(after.attributes == before.attributes);
    return after.all - before.all;
  };
  set.enqueue(plan, Variant::copy_engine, 0); // asks once
  const std::int64_t copies = 2 * 7 * 8;
  const std::int64_t additions = 7 * 8;
  const std::int64_t plain = calls_of([&] { set.enqueue(plan, Variant::copy_engine, 0); });
  CHECK(plain >= copies + additions);
  CHECK(plain <= 6 * (copies + additions)); // a device, two waits and an event each
  const Graph graph = set.capture(plan, Variant::copy_engine, 0);
  CHECK(calls_of([&] { graph.launch(set.main()); }) == 1);
  MESSAGE("plain ring of eight ranks: ", plain, " calls");
}
