#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "study/sweep/sweep_point.hpp"

using namespace stepsim;
using study::Axis;
using test::Random;
using test::real;
using test::whole;

namespace {

io::Json any(Random& random, std::initializer_list<io::Json> values) {
  return values.begin()[whole(random, 0, static_cast<std::int64_t>(values.size()) - 1)];
}

// Layers of equal and of no times and bytes among others.
io::Array random_layers(Random& random) {
  io::Array layers;
  const std::int64_t count = whole(random, 1, 12);
  for (std::int64_t l = 0; l < count; ++l) {
    const bool empty = count > 1 && whole(random, 0, 5) == 0;
    layers.push_back(
        io::Object{{"name", "l" + std::to_string(l)},
                   {"forward_s", real(random, 0, 2e-3)},
                   {"backward_s", whole(random, 0, 6) == 0 ? 0.0 : real(random, 0, 4e-3)},
                   {"gradient_bytes", empty ? std::int64_t{0} : 4 * whole(random, 1, 2'000'000)}});
  }
  return layers;
}

io::Json random_typical(Random& random) {
  io::Json tree = test::scenario();
  io::assign(tree, "/conditions", "typical");
  if (whole(random, 0, 4) == 0) { // the estimate of its times is a part of the interval
    io::assign(tree, "/workload",
               io::Object{{"model", "alexnet"},
                          {"gpu", "a100-80"},
                          {"batch_size", 64},
                          {"accept_estimate", true}});
  } else {
    io::assign(tree, "/workload/layers", random_layers(random));
    io::assign(tree, "/workload/measured", io::Object{{"gpus", any(random, {1, 1, 4, 8})}});
  }
  if (whole(random, 0, 2) == 0) {
    io::assign(tree, "/cluster/network",
               io::Object{{"calibration", any(random, {"25g-tcp", "100g-tcp", "56g-ib"})}});
  }
  io::assign(tree, "/cluster/network/transport", any(random, {"rdma", "tcp", "tcp_cloud"}));
  if (whole(random, 0, 1) == 0) {
    io::assign(tree, "/cluster/gpus_per_node", any(random, {2, 4, 8}));
    io::assign(tree, "/cluster/nics_per_node", any(random, {1, 4}));
    io::assign(tree, "/cluster/intra_network",
               io::Object{{"latency_s", 3e-6},
                          {"bandwidth_Bps", any(random, {1e9, 1.2e11})},
                          {"bus", any(random, {"pcie", "nvlink", "xgmi"})}});
  }
  const auto assign = [&](std::string_view pointer, std::initializer_list<io::Json> values) {
    io::assign(tree, pointer, any(random, values));
  };
  assign("/communication/schedule",
         {"wfbp", "ddp", "ddp", "single", "horovod", "mg_wfbp", "optimal", "priority", "dear",
          "fixed_count", "asc_wfbp", "eager"});
  assign("/communication/collective",
         {"ring", "ring", "ring", "hierarchical", "two_level", "recursive_doubling"});
  assign("/communication/host_reduction", {false, false, true});
  assign("/communication/next_forward", {"per_layer", "per_layer", "barrier"});
  assign("/communication/overlap_backward", {true, true, true, false});
  assign("/training/reduced_precision", {false, true});
  assign("/training/micro_batches", {1, 1, 1, 3});
  assign("/training/update_s", {0.0, 1e-3});
  assign("/training/iterations", {3, 10});
  switch (whole(random, 0, 8)) {
  case 0:
  case 1:
    assign("/training/algorithm", {"pipe_sgd", "pipe_sgd", "od_sgd", "parameter_server"});
    assign("/training/pipeline_width", {2, 3});
    break;
  case 2:
  case 3:
    assign("/training/sharding", {"full_shard", "zero1", "zero2", "hybrid_shard"});
    break;
  case 4:
    assign("/training/algorithm", {"local_sgd", "diloco"});
    io::assign(tree, "/training/local_steps", 3);
    break;
  case 5: // whose plan counts what selection costs
    io::assign(tree, "/communication/compression",
               io::Object{{"method", "topk"}, {"density", 0.01}});
    assign("/communication/schedule", {"omgs", "omgs", "wfbp"});
    break;
  case 6:
    assign("/communication/compression", {"quantize8", "truncate16"});
    break;
  default:
    break;
  }
  if (whole(random, 0, 9) == 0) {
    io::assign(tree, "/variability/compute_cv", 0.1);
  }
  return tree;
}

// The points of a sweep by all ways and by the long way alone, to the last bit; how many have no
// error.
std::int64_t compare_ways(const study::Sweep& sweep, study::PointRunner& short_way,
                          study::Files& files) {
  study::PointRunner long_way(sweep, files);
  long_way.use_long_way();
  const study::Records records(sweep, study::RecordFormat::jsonl);
  const std::int64_t points = sweep.grid.points();
  std::int64_t ok = 0;
  for (std::int64_t point = 0; point < points; ++point) {
    const study::PointOutcome& slow = long_way.run(point);
    study::NumberTexts numbers;
    std::string a;
    std::string b;
    records.append(a, point, short_way.run(point), numbers);
    records.append(b, point, slow, numbers);
    REQUIRE(a == b);
    ok += slow.error.empty() ? 1 : 0;
  }
  CHECK(short_way.warnings() == long_way.warnings());
  return ok;
}

} // namespace

TEST_CASE("sweep: under typical conditions every record has the bits of a run of its own") {
  std::int64_t ok = 0;
  std::int64_t shared = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const io::Json tree = random_typical(random);
    std::vector<Axis> axes{
        {"/cluster/nodes",
         {io::Json(whole(random, 1, 4)), io::Json(whole(random, 2, 9)), io::Json(32)}},
        {"/cluster/network/bandwidth_Bps",
         {io::Json(1.25e9), io::Json(2.3e9), io::Json(real(random, 1e8, 5e10))}},
        {any(random, {"/training/update_s", "/training/sync_s"}).as_string(),
         {io::Json(0.0), io::Json(2e-4)}}};
    if (whole(random, 0, 3) == 0) {
      axes.push_back({"/cluster/network/latency_s", {io::Json(1e-6), io::Json(5e-5)}});
    }
    std::shuffle(axes.begin(), axes.end(), random);
    const study::Sweep sweep = study::sweep_over(tree, axes);
    study::Files files(STEPSIM_SOURCE_DIR);
    study::PointRunner short_way(sweep, files);
    ok += compare_ways(sweep, short_way, files);
    shared += short_way.shared_points();
  }
  MESSAGE(shared << " of " << ok << " records with a shared scenario");
  CHECK(shared > ok / 2);
}
