// One point of the library model: the published estimate's choice and the calibrated cost, and a
// whole record with its interval and the correction by 400 measured points.
#include <cmath>

#include <benchmark/benchmark.h>

#include "nccl/chosen_time.hpp"
#include "nccl/library_record.hpp"

namespace {

using namespace stepsim::nccl;

NodeType h100() {
  return {.name = "dgx_h100",
          .gpus = 8,
          .ring_Bps = 370.8e9,
          .nics = 8,
          .nic_Bps = 48e9,
          .generation = Generation::hopper,
          .in_switch_reduction = true};
}

// 400 points that the model gives itself, 3 % off on every other one.
Calibration calibration() {
  FittedLibrary fitted;
  fitted.node = h100();
  const LibraryModel model = library_model({.shape = {}, .node = fitted.node});
  for (const std::uint32_t nodes : {1U, 2U, 4U, 8U, 10U}) {
    const Layout layout = layout_of(fitted.node, {nodes, 8});
    for (const Operation operation : {Operation::allreduce, Operation::allgather,
                                      Operation::reduce_scatter, Operation::alltoall}) {
      for (int power = 12; power < 32; ++power) {
        const double bytes = std::ldexp(1, power);
        const double seconds = chosen_time(model, layout, operation, bytes).seconds;
        fitted.points.push_back(
            {operation, {nodes, 8}, bytes, seconds * (power % 2 == 0 ? 1 : 1.03)});
      }
    }
  }
  return calibration_of(fitted);
}

void choice_and_cost(benchmark::State& state) {
  const LibraryModel model = library_model({.shape = {}, .node = h100()});
  const Layout layout = layout_of(h100(), {10, 8});
  double bytes = 1024;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chosen_time(model, layout, Operation::allreduce, bytes));
    bytes = bytes < 1e10 ? bytes * 1.01 : 1024;
  }
}
BENCHMARK(choice_and_cost);

void whole_record(benchmark::State& state) {
  const Calibration fitted = calibration();
  LibraryQuestion question{
      .operation = Operation::allreduce, .shape = {10, 8}, .bytes = 1024, .node = h100()};
  question.calibration = state.range(0) != 0 ? &fitted : nullptr;
  for (auto _ : state) {
    benchmark::DoNotOptimize(predict(question));
    question.bytes = question.bytes < 1e10 ? question.bytes * 1.01 : 1024;
  }
}
BENCHMARK(whole_record)->Arg(0)->Arg(1);

} // namespace
