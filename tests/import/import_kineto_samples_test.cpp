// Real profiler traces (IO 19, K1 to K5). Times in microseconds as the specification prints them,
// taken from the files; sums of integer nanoseconds, so the tolerance is only that of a double.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "import/import_samples.hpp"
#include "import/kineto/import_kineto.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

Tolerance us(double microseconds) { return within(microseconds, 1e-9); }
double in_us(Seconds time) { return time.value * 1e6; }

struct StepRow { // one line of the table
  double wall, busy, compute_busy, forward, backward, gradient_nodes, update, framework,
      communication;
};

void check_step(const layers::MeasuredStep& step, const StepRow& row) {
  CAPTURE(step.name);
  CHECK(in_us(step.wall) == us(row.wall));
  CHECK(in_us(step.gpu_busy) == us(row.busy));
  CHECK(in_us(step.compute_busy) == us(row.compute_busy));
  CHECK(in_us(step.forward) == us(row.forward));
  CHECK(in_us(step.backward) == us(row.backward));
  CHECK(in_us(step.gradient_nodes) == us(row.gradient_nodes));
  CHECK(in_us(step.update) == us(row.update));
  CHECK(in_us(step.framework) == us(row.framework));
  CHECK(in_us(step.communication) == us(row.communication));
  CHECK(in_us(step.input) == 0);
  CHECK(in_us(step.other) == 0);
}

bool warned(const layers::Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.warnings, [=](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

std::vector<const layers::Tensor*> in_ready_order(const layers::Trace& trace) {
  std::vector<const layers::Tensor*> tensors;
  for (auto layer = trace.layers.rbegin(); layer != trace.layers.rend(); ++layer) {
    for (const layers::Tensor& tensor : layer->tensors) {
      tensors.push_back(&tensor);
    }
  }
  return tensors;
}

std::int64_t count_operations(const layers::Trace& trace, std::string_view operation) {
  return std::ranges::count(trace.layers, operation, &layers::Layer::operation);
}

Seconds class_sum(const layers::Trace& trace, std::optional<Seconds> layers::Layer::*time,
                  std::string_view operation) {
  Seconds sum;
  for (const layers::Layer& layer : trace.layers) {
    sum += layer.operation == operation ? *(layer.*time) : Seconds{};
  }
  return sum;
}

const std::string kResnet = sample("kineto/resnet50_ddp_2xA100_nccl_meta.json.gz");

} // namespace

TEST_CASE("K1: steps of ResNet-50 on two A100") {
  if (absent(kResnet)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kResnet}, {}).trace;
  REQUIRE(trace.steps.size() == 3);
  check_step(trace.steps[0], {222442.191, 49438.921, 39391.994, 12916.055, 25272.014, 406.714,
                              693.145, 510.780, 11989.021});
  check_step(trace.steps[1], {219726.905, 49728.926, 39296.837, 12897.015, 25208.738, 472.630,
                              691.989, 499.095, 12300.029});
  check_step(trace.steps[2], {224936.243, 58332.167, 39620.514, 12897.930, 25508.681, 413.851,
                              693.144, 520.759, 22587.443});
  CHECK_FALSE(trace.steps[0].used);
  CHECK(trace.steps[1].used);
  CHECK(trace.steps[2].used);
  CHECK(trace.checks->steps_used == 2);
  CHECK(trace.checks->backward_nodes == 181);
  CHECK(trace.checks->backward_matched == 181);
  CHECK(trace.checks->gradient_nodes == 161);
  CHECK(trace.checks->unattributed_fraction == 0);
  CHECK(*trace.checks->gpu_busy_fraction ==
        us((49728.926 / 219726.905 + 58332.167 / 224936.243) / 2));
  CHECK(warned(trace, "host-bound: the GPU idles 75.7 %, 99.8 %"));
  CHECK(trace.device == "NVIDIA A100-PG509-200");
  CHECK(trace.ranks == 2);
  CHECK(trace.time_scale == 1.0);
}

TEST_CASE("K1: layers, medians of two steps") {
  if (absent(kResnet)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kResnet}, {}).trace;
  REQUIRE(trace.layers.size() == 176);
  CHECK(count_operations(trace, "aten::conv2d") == 53);
  CHECK(count_operations(trace, "aten::batch_norm") == 53);
  CHECK(count_operations(trace, "aten::relu_") == 49);
  CHECK(count_operations(trace, "aten::add_") == 16);
  CHECK(53 + 53 + 49 + 16 + 5 == 176);
  for (const layers::Layer& layer : trace.layers) {
    const std::size_t gradients = layer.operation == "aten::conv2d"       ? 1
                                  : layer.operation == "aten::batch_norm" ? 2
                                  : layer.operation == "aten::linear"     ? 2
                                                                          : 0;
    CHECK(layer.tensors.size() == gradients);
  }
  Seconds forward;
  Seconds backward;
  for (const layers::Layer& layer : trace.layers) {
    forward += *layer.forward;
    backward += *layer.backward;
  }
  CHECK(in_us(forward) == us(12897.4725));
  CHECK(in_us(backward) == us(25358.7095));
  CHECK(in_us(trace.update) == us((691.989 + 693.144) / 2));
  CHECK(in_us(trace.framework) == us((499.095 + 520.759) / 2));
  const auto check = [&](std::size_t i, const char* name, double f, double b) {
    CHECK(trace.layers[i].name == name);
    CHECK(in_us(*trace.layers[i].forward) == us(f));
    CHECK(in_us(*trace.layers[i].backward) == us(b));
  };
  check(0, "conv2d_1", 714.169, 489.8475);
  check(1, "batch_norm_1", 388.8595, 808.6925);
  check(2, "relu_1", 145.2305, 227.485);
  check(174, "linear_1", 29.151, 50.8165);
  check(175, "cross_entropy_loss_1", 19.0555, 10.9755);
}

TEST_CASE("K1: buckets, minimum over the used steps, and two broadcasts") {
  if (absent(kResnet)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kResnet}, {}).trace;
  REQUIRE(trace.buckets.size() == 5);
  const auto check = [&](std::size_t b, std::int64_t elements, std::int64_t tensors, double t5,
                         double t6) {
    CHECK(trace.buckets[b].elements == elements);
    CHECK(trace.buckets[b].bytes.value == 4 * elements);
    CHECK(trace.buckets[b].tensors == tensors);
    CHECK(trace.buckets[b].dtype == "float32");
    CHECK(in_us(*trace.buckets[b].min) == us(t5));
    CHECK(in_us(*trace.buckets[b].median) == us((t5 + t6) / 2));
    CHECK(in_us(*trace.buckets[b].max) == us(t6));
  };
  check(0, 2'049'000, 2, 2520.607, 5993.392);
  check(1, 7'875'584, 15, 2673.916, 5983.024);
  check(2, 6'563'840, 12, 2621.533, 5807.890);
  check(3, 6'637'568, 51, 2417.184, 2636.669);
  check(4, 2'431'040, 81, 2028.293, 2129.380);
  REQUIRE(trace.collectives.size() == 2);
  CHECK(trace.collectives[0].op == "broadcast");
  CHECK(trace.collectives[0].elements == 53'120);
  CHECK(trace.collectives[0].dtype == "float32");
  CHECK(trace.collectives[0].per_step == 1);
  CHECK(trace.collectives[1].elements == 53);
  CHECK(trace.collectives[1].dtype == "int64");
}

TEST_CASE("K1: the automatic match and --model resnet50 give the same 161 tensors") {
  if (absent(kResnet)) {
    return;
  }
  const std::vector<layers::ModelTable> models = shipped_models();
  KinetoOptions options;
  options.models = [&] { return std::span(models); };
  const KinetoImport imported = import_kineto_job({kResnet}, options);
  const layers::Trace& automatic = imported.trace;
  // Said once, at the import: the trace does not warn of it whenever it is used.
  CHECK(imported.sizes ==
        "model table resnet50 (161 of 161 tensors), float32, checked against 5 measured buckets");
  CHECK_FALSE(warned(automatic, "model table"));
  options.model = "resnet50";
  const layers::Trace named = import_kineto_job({kResnet}, options).trace;
  const auto tensors = in_ready_order(automatic);
  const auto same = in_ready_order(named);
  REQUIRE(tensors.size() == 161);
  REQUIRE(same.size() == 161);
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CHECK(tensors[i]->elements == same[i]->elements);
    CHECK(tensors[i]->bytes->value == 4 * *tensors[i]->elements);
    elements += *tensors[i]->elements;
  }
  CHECK(elements == 25'557'032);
  CHECK(tensors[0]->elements == 1000);
  CHECK(tensors[1]->elements == 2'048'000);
  CHECK(tensors[2]->elements == 2048);
  CHECK(tensors[3]->elements == 2048);
  CHECK(tensors[160]->elements == 9408); // 64 x 3 x 7 x 7
  CHECK(tensors[160]->bucket == 4);
  CHECK(tensors[0]->bucket == 0);

  options.model = "resnet101";
  CHECK_THROWS_WITH_AS(import_kineto_job({kResnet}, options).trace,
                       (kResnet + ": model resnet101 does not fit: 107 layers with gradients in "
                                  "the trace, 209 in the table")
                           .c_str(),
                       InputError);
  options.model = "resnet5";
  CHECK_THROWS_AS(import_kineto_job({kResnet}, options).trace, UsageError);
}

TEST_CASE("K1: without tables the elements of the buckets are spread over their gradients") {
  if (absent(kResnet)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kResnet}, {}).trace;
  std::vector<std::int64_t> sums(5);
  for (const layers::Tensor* tensor : in_ready_order(trace)) {
    sums.at(static_cast<std::size_t>(*tensor->bucket)) += *tensor->elements;
  }
  CHECK(sums == std::vector<std::int64_t>{2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040});
  CHECK(trace.layers[2].gradient_bytes == Bytes{0}); // relu
  CHECK(trace.provenance == layers::Provenance::assumed);
  CHECK(warned(trace, "spread within measured buckets: about 1 %"));
}

TEST_CASE("K1: --time wall and --measured-step scale the compute times") {
  if (absent(kResnet)) {
    return;
  }
  KinetoOptions options;
  options.time = TimeBasis::wall;
  const layers::Trace wall = import_kineto_job({kResnet}, options).trace;
  const double median_wall = (219726.905 + 224936.243) / 2;
  const double exposed = ((49728.926 - 39296.837) + (58332.167 - 39620.514)) / 2;
  const double busy = (39296.837 + 39620.514) / 2;
  CHECK(wall.time_scale == us((median_wall - exposed) / busy));
  CHECK(wall.time_scale == within(5.265248, 1e-6));
  CHECK(wall.time_basis == "wall");
  CHECK(in_us(*wall.layers[0].forward) == us(714.169 * wall.time_scale));
  CHECK(in_us(wall.update) == us(692.5665 * wall.time_scale));
  CHECK(warned(wall, "compute times are scaled by 5.265"));
  options.time = TimeBasis::kernel;
  options.measured_step = Seconds{0.06};
  const layers::Trace measured = import_kineto_job({kResnet}, options).trace;
  CHECK(measured.time_scale == us((60000 - exposed) / busy));
  options.measured_step = Seconds{0.01}; // shorter than the exposed communication
  CHECK_THROWS_AS(import_kineto_job({kResnet}, options).trace, InputError);
}

TEST_CASE("K2: a step without device work is dropped, the only other one kept") {
  const std::string file = sample("kineto/mi250_minitoy_rocm.json.gz");
  if (absent(file)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({file}, {}).trace;
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].used);
  CHECK_FALSE(trace.steps[1].used);
  CHECK(in_us(trace.steps[0].forward) == us(53.920));
  CHECK(in_us(trace.steps[0].backward) == us(48.480));
  CHECK(in_us(trace.steps[0].gradient_nodes) == us(9.120));
  CHECK(in_us(trace.steps[0].update) == us(8.481));
  CHECK(in_us(trace.steps[0].input) == us(38.161));
  CHECK(in_us(trace.steps[0].gpu_busy) == us(149.042));
  CHECK(trace.checks->backward_nodes == 4);
  CHECK(trace.checks->backward_matched == 4);
  CHECK(trace.checks->gradient_nodes == 2);
  CHECK(warned(trace, "1 step without device work dropped"));
  // Shapes were recorded: a linear layer 128 x 128, its bias first.
  REQUIRE(trace.layers[0].tensors.size() == 2);
  CHECK(trace.layers[0].tensors[0].elements == 128);
  CHECK(trace.layers[0].tensors[1].elements == 128 * 128);
  CHECK(trace.layers[0].gradient_bytes->value == 4 * (128 + 128 * 128));
}

TEST_CASE("K3: only a backward node") {
  const std::string file = sample("kineto/hta_backward_thread.json");
  if (absent(file)) {
    return;
  }
  CHECK_THROWS_WITH_AS(import_kineto_job({file}, {}).trace,
                       (file + ": no forward operators: profile whole steps, with "
                               "ProfilerActivity.CPU and ProfilerActivity.CUDA")
                           .c_str(),
                       InputError);
}

TEST_CASE("K4: a DLRM rank that is not data-parallel only") {
  const std::string file = sample("kineto/dlrm_rank0of16_inputdims.json.gz");
  if (absent(file)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({file}, {}).trace;
  REQUIRE(trace.steps.size() == 5);
  CHECK(trace.checks->backward_nodes == 69);
  CHECK(trace.checks->backward_matched == 69);
  CHECK(trace.checks->gradient_nodes == 165);
  CHECK(trace.checks->unattributed_fraction == within(59526.0 / 449763.0, 1e-12));
  const layers::MeasuredStep& step = trace.steps[1];
  CHECK(step.name == "ProfilerStep#551");
  CHECK(in_us(step.forward) == us(7927));
  CHECK(in_us(step.backward) == us(26384));
  CHECK(in_us(step.gradient_nodes) == us(4571));
  CHECK(in_us(step.update) == us(6393));
  CHECK(in_us(step.input) == us(4076));
  CHECK(in_us(step.communication) == us(36404));
  CHECK(in_us(step.gpu_busy) == us(79470));
  CHECK(in_us(step.compute_busy) == us(43950));
  CHECK(warned(trace, "not data-parallel only"));
  REQUIRE(trace.buckets.size() == 2); // from the annotations of the calls
  double update = 0;                  // all launches outside of operators lie in Optimizer.step#
  for (const layers::MeasuredStep& each : trace.steps) {
    update += in_us(each.update);
  }
  CHECK(update == us(32042));
}

TEST_CASE("K5: a forward-only trace needs flags") {
  const std::string file = sample("kineto/alexnet_a100.json.gz");
  if (absent(file)) {
    return;
  }
  const std::vector<layers::ModelTable> models = shipped_models();
  KinetoOptions options;
  options.models = [&] { return std::span(models); };
  CHECK_THROWS_AS(import_kineto_job({file}, options).trace, InputError); // no step
  options.step_annotation = "measure.forward";
  CHECK_THROWS_WITH_AS(import_kineto_job({file}, options).trace,
                       (file + ": no backward nodes; pass --backward-ratio R").c_str(), InputError);
  options.backward_ratio = 2;
  options.model = "alexnet";
  const layers::Trace trace = import_kineto_job({file}, options).trace;
  CHECK(trace.provenance == layers::Provenance::assumed);
  CHECK(trace.steps.size() == 1);
  CHECK(in_us(trace.steps[0].forward) == us(5317));
  const auto forward = [&](std::string_view operation) {
    return in_us(class_sum(trace, &layers::Layer::forward, operation));
  };
  CHECK(forward("aten::conv2d") == us(3177));
  CHECK(forward("aten::linear") == us(1324));
  CHECK(forward("aten::relu") + forward("aten::relu_") == us(341));
  CHECK(forward("aten::max_pool2d") == us(322));
  CHECK(forward("aten::adaptive_avg_pool2d") == us(136));
  CHECK(forward("aten::dropout") == us(17));
  double backward = 0;
  std::int64_t elements = 0;
  for (const layers::Layer& layer : trace.layers) {
    backward += in_us(*layer.backward);
    for (const layers::Tensor& tensor : layer.tensors) {
      elements += *tensor.elements;
    }
  }
  CHECK(backward == us(2 * 5317));
  CHECK(in_ready_order(trace).size() == 16);
  CHECK(elements == 61'100'840);
}

TEST_CASE("older profilers: steps between optimizer steps, no size arguments") {
  const std::string file = sample("kineto/resnet_30iter_old.json.gz");
  if (absent(file)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({file}, {}).trace;
  CHECK(trace.steps.size() == 29); // 30 iterations: the stretch before the first end is dropped
  CHECK(trace.checks->steps_used == 28);
  CHECK(trace.layers.size() == 70); // ResNet-18
  CHECK(trace.checks->gradient_nodes == 62);
  CHECK(trace.checks->backward_matched == 72);
  CHECK(trace.buckets.empty());
}

TEST_CASE("one GPU under DDP: buckets without times still tell the sizes") {
  const std::string file = sample("kineto/resnet50_1gpu_5steps_ns.json.gz");
  if (absent(file)) {
    return;
  }
  const std::vector<layers::ModelTable> models = shipped_models();
  KinetoOptions options;
  options.models = [&] { return std::span(models); };
  const layers::Trace trace = import_kineto_job({file}, options).trace;
  REQUIRE(trace.buckets.size() == 5);
  CHECK(trace.buckets[0].elements == 2'049'000);
  CHECK_FALSE(trace.buckets[0].min.has_value());
  std::int64_t bytes = 0;
  for (const layers::Layer& layer : trace.layers) {
    bytes += layer.gradient_bytes->value;
  }
  CHECK(bytes == 4 * 25'557'032);
  CHECK(trace.device == "Tesla V100-SXM2-32GB");
  // The first step is dropped as warm-up, but listed: its wall time is as wrong as the next one's.
  CHECK(trace.steps[0].gpu_busy.value > trace.steps[0].wall.value);
  CHECK(trace.steps[1].gpu_busy.value > trace.steps[1].wall.value);
  CHECK(trace.steps[2].gpu_busy.value < trace.steps[2].wall.value);
  CHECK(
      warned(trace, "wall time of ProfilerStep#101 and of 1 other step does not measure the GPU"));
}
