// Public traces of training jobs (INP 1.13). Times in microseconds as the specification
// prints them; they are sums of integer nanoseconds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "document/file.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/kineto/kineto_read.hpp"
#include "import/sizes/size_files.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::plus_minus;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

const std::string kCheckpoint = sample("traces/resnet18_ddp_mi300x_bf16_checkpoint.json.gz");
const std::string kOneGpu = sample("traces/resnet18_1gpu_mi300_bf16.json.gz");
const std::string kOperatorNames = sample("traces/resnet50_v100_2021_operator_names.json.gz");
const std::string kAutogradApi = sample("traces/resnet50_v100_2021_autograd_api.json.gz");
const std::string kLinear = sample("traces/linear21_rtx2080ti.json.gz");
const std::string kLinearNodes = sample("traces/linear21_rtx2080ti_et.json.gz");
const std::string kDlrm = sample("traces/dlrm_rank3of8_a100.json.gz");
const std::string kDlrmGraphs = sample("traces/dlrm_rank1of2_v100_compiled_graphs.json.gz");
const std::string kDlrmCompiled = sample("kineto/dlrm_rank0of16_inputdims.json.gz");
const std::string kNoNumbers = sample("traces/steps_without_sequence_numbers.json.gz");
const std::string kResnet = sample("kineto/resnet50_ddp_2xA100_nccl_meta.json.gz");

Tolerance us(double microseconds) { return within(microseconds, 1e-9); }
double in_us(Seconds time) { return time.value * 1e6; }

const layers::MeasuredStep& step_named(const layers::Trace& trace, std::string_view name) {
  const auto step = std::ranges::find(trace.steps, name, &layers::MeasuredStep::name);
  REQUIRE(step != trace.steps.end());
  return *step;
}

struct Gradients { // those that travel
  std::int64_t tensors{}, elements{}, bytes{}, extra{};
  std::vector<std::int64_t> of_bucket{}; // elements
};

Gradients gradients_of(const layers::Trace& trace) {
  Gradients sum;
  std::int64_t layers = 0;
  for (const layers::Layer& layer : trace.layers) {
    layers += layer.gradient_bytes.value_or(Bytes{-1}).value;
    for (const layers::Tensor& tensor : layer.tensors) {
      ++sum.tensors;
      sum.elements += tensor.elements.value_or(0);
      sum.bytes += tensor.bytes.value_or(Bytes{0}).value;
      sum.extra += tensor.extra_bytes.value;
      if (tensor.bucket) {
        const auto bucket = static_cast<std::size_t>(*tensor.bucket);
        sum.of_bucket.resize(std::max(sum.of_bucket.size(), bucket + 1));
        sum.of_bucket[bucket] += tensor.elements.value_or(0);
      }
    }
  }
  CHECK(layers == sum.bytes + sum.extra);
  return sum;
}

bool warned(const layers::Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.warnings, [=](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

double median_of(const layers::Trace& trace, Seconds layers::MeasuredStep::*time) {
  std::vector<double> values;
  for (const layers::MeasuredStep& step : trace.steps) {
    if (step.used) {
      values.push_back(in_us(step.*time));
    }
  }
  std::ranges::sort(values);
  const std::size_t n = values.size();
  REQUIRE(n > 0);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string refusal(const std::vector<std::string>& files, const KinetoOptions& options = {}) {
  return import_kineto_job(files, options).remedy;
}

} // namespace

TEST_CASE("R1: ResNet-18 in bfloat16 on eight MI300X with activation checkpointing") {
  if (absent(kCheckpoint)) {
    return;
  }
  const KinetoImport imported = import_kineto_job({kCheckpoint}, {});
  const layers::Trace& trace = imported.trace;
  CHECK(imported.remedy.empty());
  CHECK(imported.sizes ==
        "AccumulateGrad shapes (62 of 62 tensors), bfloat16, checked against 2 measured buckets");
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 62);
  CHECK(sum.elements == 11'689'512);
  CHECK(sum.bytes == 2 * 11'689'512);
  CHECK(sum.of_bucket == std::vector<std::int64_t>{2'873'320, 8'816'192});
  REQUIRE(trace.buckets.size() == 2);
  CHECK(trace.buckets[0].tensors == 5);
  CHECK(trace.buckets[1].tensors == 57);
  CHECK(trace.buckets[1].dtype == "bfloat16");
  const layers::MeasuredStep& step = step_named(trace, "ProfilerStep#16");
  CHECK(in_us(step.forward) == us(2143.545));
  CHECK(in_us(step.backward) == us(4564.624));
  CHECK(in_us(step.update) == us(30.119));
  CHECK(in_us(step.framework) == us(287.736));
  CHECK(in_us(step.communication) == us(15909.382));
  CHECK(in_us(step.gpu_busy) == us(18900.630));
  CHECK(in_us(step.compute_busy) == us(7026.024));
  CHECK(trace.checks->backward_nodes == 71);
  CHECK(trace.checks->backward_matched == 71);
  CHECK(trace.layers.size() == 70);
}

TEST_CASE("R2: ResNet-18 on one MI300X, steps from updates") {
  if (absent(kOneGpu)) {
    return;
  }
  const KinetoImport imported = import_kineto_job({kOneGpu}, {});
  const layers::Trace& trace = imported.trace;
  REQUIRE(trace.steps.size() >= 2);
  CHECK(in_us(trace.steps[1].forward) == us(22853.981));
  CHECK(in_us(trace.steps[1].backward) == us(48458.954));
  CHECK(in_us(trace.steps[1].update) == us(32.719));
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 62);
  CHECK(sum.bytes == 23'379'024);
  CHECK(warned(trace, "no collectives"));
  CHECK(imported.sizes == "AccumulateGrad shapes (62 of 62 tensors), bfloat16");
}

TEST_CASE("R3: a trace of January 2021, whose steps are operators without sequence numbers") {
  if (absent(kOperatorNames)) {
    return;
  }
  const KinetoImport imported = import_kineto_job({kOperatorNames}, {});
  const layers::Trace& trace = imported.trace;
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 161);
  CHECK(sum.elements == 25'557'032);
  CHECK(imported.sizes == "AccumulateGrad shapes (161 of 161 tensors), dtype assumed: float32");
  CHECK(warned(trace, "dtype assumed: float32"));
  CHECK(trace.checks->steps_used == 5);
  CHECK(median_of(trace, &layers::MeasuredStep::forward) == us(34043));
  CHECK(median_of(trace, &layers::MeasuredStep::backward) == us(62813));
  CHECK(median_of(trace, &layers::MeasuredStep::update) == us(1292));
  CHECK(median_of(trace, &layers::MeasuredStep::input) == us(2089));
  CHECK(median_of(trace, &layers::MeasuredStep::other) == us(2772));
  CHECK(trace.checks->backward_nodes == 178);
  CHECK(trace.checks->backward_matched == 178);
}

TEST_CASE("R4: the same job without marks of the profiler") {
  if (absent(kAutogradApi)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kAutogradApi}, {}).trace;
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 161);
  CHECK(sum.elements == 25'557'032);
  CHECK(trace.checks->steps_used == 4);
  CHECK(median_of(trace, &layers::MeasuredStep::forward) == us(32964));
  CHECK(median_of(trace, &layers::MeasuredStep::backward) == us(63081.5));
  CHECK(median_of(trace, &layers::MeasuredStep::update) == us(1294));
}

TEST_CASE("R5: 21 linear layers, sizes from the execution trace or from the total") {
  if (absent(kLinear) || absent(kLinearNodes)) {
    return;
  }
  CHECK(refusal({kLinear}) == "42 gradients, no sizes: give --parameters N (the model's parameter "
                              "count; assumed spread), or profile again with record_shapes=True");
  KinetoOptions options;
  options.pytorch_et = kLinearNodes;
  const KinetoImport exact = import_kineto_job({kLinear}, options);
  const Gradients sum = gradients_of(exact.trace);
  CHECK(exact.remedy.empty());
  CHECK(exact.sizes == "--pytorch-et (42 of 42 tensors), float32");
  CHECK(sum.tensors == 42);
  CHECK(sum.elements == 21 * (1024 * 1024 + 1024));
  CHECK(sum.bytes == 88'166'400);
  CHECK(exact.trace.layers.size() == 44);
  REQUIRE(exact.trace.steps.size() >= 2);
  CHECK(in_us(exact.trace.steps[1].forward) == us(3106));
  CHECK(in_us(exact.trace.steps[1].backward) == us(5925));
  CHECK(in_us(exact.trace.steps[1].update) == us(512));
  options = {};
  options.parameters = 22'041'600;
  const KinetoImport spread = import_kineto_job({kLinear}, options);
  CHECK(gradients_of(spread.trace).bytes == 88'166'400);
  CHECK(spread.trace.provenance == layers::Provenance::assumed);
  CHECK(warned(spread.trace, "spread over the backward pass: up to about 10 %"));
}

TEST_CASE("R6: a rank of DLRM: a gradient that waits for the next bucket, one never reduced") {
  if (absent(kDlrm)) {
    return;
  }
  const KinetoImport imported = import_kineto_job({kDlrm}, {});
  const layers::Trace& trace = imported.trace;
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 256);
  CHECK(sum.elements == 50'009'301);
  CHECK(sum.of_bucket == std::vector<std::int64_t>{45'310'188, 267'040, 4'432'073});
  CHECK(sum.extra == 0);
  CHECK(warned(trace, "2 parameters without a gradient"));
  CHECK(warned(trace, "1 gradient is never reduced and left out (50 elements)"));
  CHECK(warned(trace, "all-to-all"));
  const layers::MeasuredStep& step = step_named(trace, "ProfilerStep#1010");
  CHECK(in_us(step.forward) == us(17008));
  CHECK(in_us(step.backward) == us(29488));
  CHECK(in_us(step.communication) == us(21122));
}

TEST_CASE("R7: DLRM, compiled, with CUDA graphs") {
  if (absent(kDlrmGraphs)) {
    return;
  }
  const KinetoImport imported = import_kineto_job({kDlrmGraphs}, {});
  const layers::Trace& trace = imported.trace;
  const Gradients sum = gradients_of(trace);
  CHECK(sum.of_bucket == std::vector<std::int64_t>{45'310'188, 267'040, 4'432'073});
  CHECK(warned(trace, "2 parameters without a gradient"));
  CHECK(
      warned(trace, "5 gradients are never reduced and left out (50, 200, 50, 100, 44 elements)"));
  CHECK(warned(trace, "2 cudaGraphLaunch per step"));
  const layers::MeasuredStep& step = step_named(trace, "ProfilerStep#1010");
  CHECK(in_us(step.forward) == us(37333));
  CHECK(in_us(step.backward) == us(62195));
}

TEST_CASE("R8: a bucket that carries parameters without a gradient") {
  if (absent(kDlrmCompiled)) {
    return;
  }
  const layers::Trace trace = import_kineto_job({kDlrmCompiled}, {}).trace;
  const Gradients sum = gradients_of(trace);
  CHECK(sum.tensors == 163);
  CHECK(sum.elements == 333'632'798);
  CHECK(sum.extra == 4 * 114'656'934);
  REQUIRE(trace.buckets.size() == 2);
  CHECK(trace.buckets[0].elements == 366'336);
  CHECK(trace.buckets[1].elements == 447'923'396);
  CHECK(warned(trace, "2 parameters without a gradient"));
  CHECK(warned(trace, "bucket 1 carries 114656934 elements more"));
}

TEST_CASE("R10: steps without sequence numbers and shapes") {
  if (absent(kNoNumbers)) {
    return;
  }
  CHECK(refusal({kNoNumbers}).find("--parameters") != std::string::npos);
  KinetoOptions options;
  options.parameters = 97;
  const layers::Trace trace = import_kineto_job({kNoNumbers}, options).trace;
  CHECK(trace.layers.size() == 4);
  CHECK(trace.checks->backward_nodes == 11);
  CHECK(trace.checks->backward_matched == 11);
  CHECK(gradients_of(trace).bytes == 4 * 97);
}

TEST_CASE("R11: shapes that were recorded are not asked for again") {
  // Gradient nodes without an input in a file that says that shapes were recorded.
  const TemporaryFolder folder;
  std::string events;
  int id = 0;
  const auto event = [&](const std::string& cat, const std::string& name, int begin, int duration,
                         int thread, const std::string& args) {
    events += std::string(events.empty() ? "" : ",") + R"({"ph":"X","cat":")" + cat +
              R"(","name":")" + name + R"(","pid":1,"tid":)" + std::to_string(thread) +
              R"(,"ts":)" + std::to_string(begin) + R"(,"dur":)" + std::to_string(duration) +
              R"(,"args":{)" + args + "}}";
  };
  const auto work = [&](int begin, int thread) {
    const std::string correlation = R"("correlation":)" + std::to_string(++id);
    event("cuda_runtime", "cudaLaunchKernel", begin, 1, thread, correlation);
    event("kernel", "k", begin + 2, 5, 7, correlation);
  };
  event("user_annotation", "ProfilerStep#1", 1000, 500, 1, "");
  event("cpu_op", "aten::linear", 1010, 20, 1, R"("Sequence number":3)");
  work(1015, 1);
  event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1100, 20, 2,
        R"("Sequence number":3)");
  work(1105, 2);
  event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1130, 20,
        2, "");
  const std::string list = R"("traceEvents":[)" + events + "]}";
  CHECK(refusal({folder.put("a.json", R"({"record_shapes":1,)" + list)}) ==
        "1 gradient, no sizes: give --parameters N (the model's parameter count; assumed spread)");
  CHECK(refusal({folder.put("b.json", "{" + list)}).ends_with("record_shapes=True"));
}

TEST_CASE("R12: files of two jobs") {
  if (absent(kCheckpoint) || absent(kResnet)) {
    return;
  }
  CHECK_THROWS_WITH_AS(import_kineto_job({kCheckpoint, kResnet}, {}).trace,
                       (kResnet + ": ranks of different jobs: world size 8 and 2").c_str(),
                       InputError);
}

TEST_CASE("idle time of the second step: waiting for launches or for other streams") {
  struct Row {
    std::string file;
    double idle, launch; // %
  };
  const std::vector<Row> rows{{kResnet, 76.7, 99.7},
                              {kLinear, 52.9, 99.0},
                              {kOneGpu, 93.0, 100},
                              {kDlrm, 18.5, 88.8},
                              {kOperatorNames, 15.0, 88.4},
                              {kDlrmCompiled, 78.8, 53.2},
                              {sample("kineto/resnet50_1gpu_5steps_ns.json.gz"), 1.2, 0},
                              {kCheckpoint, 0.4, 0}};
  for (const Row& row : rows) {
    if (absent(row.file)) {
      continue;
    }
    CAPTURE(row.file);
    ByteSource bytes(row.file, std::uint64_t{1} << 33, true);
    KinetoRecording recording = read_kineto([&] { return bytes.next(); }, bytes.name());
    const KinetoRank rank = reduce_rank(recording, std::nullopt, 1);
    REQUIRE(rank.steps.size() >= 2);
    const StepTimes& times = rank.steps[1].times;
    CHECK(100.0 * static_cast<double>(times.idle()) / static_cast<double>(times.span) ==
          plus_minus(row.idle, 0.051));
    CHECK(100.0 * static_cast<double>(times.launch_idle) / static_cast<double>(times.idle()) ==
          plus_minus(row.launch, 0.051));
  }
}

namespace {

// The files of eight ranks, in an order that means nothing; empty where the archive is absent.
std::vector<std::string> ranks_of_dlrm(const TemporaryFolder& unpacked) {
  const std::string archive = sample("traces/dlrm_8ranks_v100_kineto.tar.gz");
  if (absent(archive)) {
    return {};
  }
  if (std::system(("tar -xzf '" + archive + "' -C '" + unpacked.file(".") + "'").c_str()) != 0) {
    MESSAGE("skipped: no tar");
    return {};
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(unpacked.file("."))) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  REQUIRE(files.size() == 8);
  std::ranges::reverse(files);
  return files;
}

} // namespace

TEST_CASE("R9: eight ranks of DLRM: transfers without waiting, clocks, spread") {
  const TemporaryFolder unpacked;
  const std::vector<std::string> files = ranks_of_dlrm(unpacked);
  if (files.empty()) {
    return;
  }
  const KinetoImport imported = import_kineto_job(files, {});
  const layers::Trace& trace = imported.trace;
  const Gradients sum = gradients_of(trace);
  CHECK(trace.checks->gradient_nodes == 16);
  CHECK(sum.tensors == 15);
  CHECK(sum.elements == 621'313);
  CHECK(sum.of_bucket == std::vector<std::int64_t>{394'241, 112, 226'960});
  // The published values are multiples of 0.256 us, the stamps whole microseconds.
  const auto about = [](double expected) { return plus_minus(expected, 0.5); };
  REQUIRE(trace.buckets.size() == 3);
  CHECK(in_us(*trace.buckets[0].transfer.median) == about(86.016));
  CHECK(in_us(*trace.buckets[1].transfer.median) == about(23.040));
  CHECK(in_us(*trace.buckets[2].transfer.median) == about(68.864));
  double transfers = 0;
  for (const layers::MeasuredBucket& bucket : trace.buckets) {
    transfers += in_us(*bucket.transfer.median);
  }
  for (const layers::MeasuredCollective& collective : trace.collectives) {
    const std::optional<Seconds> each = collective.transfer.median;
    transfers += each ? static_cast<double>(collective.per_step) * in_us(*each) : 0;
  }
  CHECK(transfers == plus_minus(222.976, 3.0));
  REQUIRE(trace.checks->last_rank.size() == 8);
  CHECK(trace.checks->last_rank[4] == within(1.0 / 8, 1e-12));
  CHECK(trace.checks->last_rank[5] == within(2.0 / 8, 1e-12));
  CHECK(trace.checks->last_rank[7] == within(5.0 / 8, 1e-12));
  CHECK(std::ranges::min(trace.checks->wait_fraction) == plus_minus(0.8786, 0.002));
  CHECK(std::ranges::max(trace.checks->wait_fraction) == plus_minus(0.9818, 0.002));
  const std::vector<double> factors{0.9733, 0.9798, 0.9816, 0.9890, 0.9973, 1.0047, 1.0094, 1.0648};
  REQUIRE(imported.variability.block.factors.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(imported.variability.block.factors[i] == plus_minus(factors[i], 5.1e-5));
  }
  CHECK(imported.variability.block.compute_cv == plus_minus(0.02715, 5.1e-6));
  CHECK(imported.variability.block.stragglers.empty()); // one step only
}

TEST_CASE("steps of one rank vary, and ranks are not compared") {
  if (absent(kOperatorNames)) {
    return;
  }
  const MeasuredVariability found = import_kineto_job({kOperatorNames}, {}).variability;
  CHECK(found.block.compute_cv == plus_minus(0.00138, 5.1e-6));
  CHECK(found.block.factors.size() == 5);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].starts_with("one rank"));
}

namespace {

// Events of generated traces, in nanoseconds of the rank's own clock.
struct Recording {
  std::string events;
  std::int64_t clock = 0; // added to all stamps
  int correlations = 0;

  static std::string stamp(std::int64_t nanoseconds) {
    const std::string fraction = std::to_string(1000 + nanoseconds % 1000).substr(1);
    return std::to_string(nanoseconds / 1000) + "." + fraction;
  }
  void event(const std::string& cat, const std::string& name, std::int64_t begin,
             std::int64_t duration, int thread, const std::string& args) {
    events += std::string(events.empty() ? "" : ",\n") + R"({"ph":"X","cat":")" + cat +
              R"(","name":")" + name + R"(","pid":1,"tid":)" + std::to_string(thread) +
              R"(,"ts":)" + stamp(begin + clock) + R"(,"dur":)" + stamp(duration) + R"(,"args":{)" +
              args + "}}";
  }
  void kernel(const std::string& name, std::int64_t launch, std::int64_t begin,
              std::int64_t duration, int thread, const char* category = "kernel") {
    const std::string correlation = R"("correlation":)" + std::to_string(++correlations);
    event("cuda_runtime", "cudaLaunchKernel", launch, 500, thread, correlation);
    event(category, name, begin, duration, 77, correlation);
  }
  [[nodiscard]] std::string text(int rank, int world) const {
    return R"({"distributedInfo":{"rank":)" + std::to_string(rank) + R"(,"world_size":)" +
           std::to_string(world) + R"(},"traceEvents":[)" + events + "]}";
  }
};

std::string sequence(int number) { return R"("Sequence number":)" + std::to_string(number); }

const std::string kNode = "autograd::engine::evaluate_function: ";

} // namespace

TEST_CASE("R14: four ranks with known clocks and arrivals give exact transfers and waits") {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> clocks{0, 5'000, -3'000, 250'000};
  // When each rank enters the collectives of a step, behind their launch, and what they last then.
  const std::vector<std::vector<std::int64_t>> arrivals{{1'000, 41'000, 7'013, 90'001},
                                                        {60'000, 2'001, 3'002, 50'000}};
  const std::vector<std::int64_t> transfers{30'007, 80'000};
  std::vector<std::string> files;
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    Recording recording;
    recording.clock = clocks[r];
    for (int k = 0; k < 3; ++k) {
      const std::int64_t origin = 10'000'000 + 2'000'000 * k;
      recording.event("user_annotation", "ProfilerStep#" + std::to_string(k), origin, 1'900'000, 1,
                      "");
      recording.event("cpu_op", "aten::linear", origin + 10'000, 50'000, 1, sequence(9));
      recording.kernel("gemm", origin + 11'000, origin + 20'000, 100'000, 1);
      recording.event("cpu_op", kNode + "AddmmBackward0", origin + 200'000, 50'000, 2, sequence(9));
      recording.kernel("gemm", origin + 201'000, origin + 210'000, 200'000, 2);
      for (std::size_t c = 0; c < transfers.size(); ++c) {
        const std::int64_t at = origin + 500'000 + 400'000 * static_cast<std::int64_t>(c);
        const auto elements = std::to_string(1000 * (c + 1));
        recording.event("cpu_op", kNode + "torch::autograd::AccumulateGrad", at, 60'000, 2, "");
        recording.event("cpu_op", "torch::autograd::AccumulateGrad", at + 100, 10'000, 2,
                        R"("Input Dims":[[)" + elements + R"(]],"Input type":["float"])");
        recording.event("cpu_op", "record_param_comms", at + 20'000, 10'000, 2,
                        R"("Collective name":"allreduce","In msg nelems":)" + elements +
                            R"(,"dtype":"Float","Process Group Name":"0")");
        const std::int64_t last = std::ranges::max(arrivals[c]);
        recording.kernel("ncclDevKernel_AllReduce", at + 21'000, at + 30'000 + arrivals[c][r],
                         last + transfers[c] - arrivals[c][r], 2);
      }
    }
    files.push_back(
        folder.put("rank" + std::to_string(r) + ".json", recording.text(static_cast<int>(r), 4)));
  }
  const KinetoImport imported = import_kineto_job(files, {});
  REQUIRE(imported.trace.buckets.size() == 2);
  for (std::size_t c = 0; c < 2; ++c) {
    const layers::MeasuredTransfer& transfer = imported.trace.buckets[c].transfer;
    REQUIRE(transfer.median.has_value());
    CHECK(transfer.median->value * 1e9 == plus_minus(static_cast<double>(transfers[c]), 1e-3));
    CHECK_FALSE(transfer.low.has_value()); // two used steps
    REQUIRE(transfer.wait.size() == 4);
    for (std::size_t r = 0; r < 4; ++r) {
      const std::int64_t wait = std::ranges::max(arrivals[c]) - arrivals[c][r];
      CHECK(transfer.wait[r].value * 1e9 == plus_minus(static_cast<double>(wait), 1e-3));
    }
  }
  CHECK(imported.trace.checks->last_rank == std::vector<double>{0.5, 0, 0, 0.5});
}

namespace {

const LineCost& cost_of(const MeasuredCosts& measured, const std::string& op, std::int64_t ranks) {
  const auto cost = std::ranges::find_if(
      measured.costs, [&](const LineCost& each) { return each.op == op && each.ranks == ranks; });
  REQUIRE(cost != measured.costs.end());
  return *cost;
}

KinetoOptions with_costs() {
  KinetoOptions options;
  options.with_costs = true;
  return options;
}

// All-reduces of 1,000 and 2,000 floats in each of `steps` steps, on four ranks that enter them one
// after the other; `transfer` gives the time from the last entry to the end, ns.
template <class Transfer>
std::vector<std::string> ranks_with_transfers(const TemporaryFolder& folder, int steps,
                                              Transfer transfer) {
  std::vector<std::string> files;
  for (int r = 0; r < 4; ++r) {
    Recording recording;
    for (int k = 0; k < steps; ++k) {
      const std::int64_t origin = 10'000'000 + 2'000'000 * k;
      recording.event("user_annotation", "ProfilerStep#" + std::to_string(k), origin, 1'900'000, 1,
                      "");
      recording.event("cpu_op", "aten::linear", origin + 10'000, 50'000, 1, sequence(9));
      recording.kernel("gemm", origin + 11'000, origin + 20'000, 100'000, 1);
      recording.event("cpu_op", kNode + "AddmmBackward0", origin + 200'000, 50'000, 2, sequence(9));
      recording.kernel("gemm", origin + 201'000, origin + 210'000, 200'000, 2);
      for (int c = 0; c < 2; ++c) {
        const std::int64_t at = origin + 500'000 + 400'000 * c;
        const auto elements = std::to_string(1000 * (c + 1));
        recording.event("cpu_op", kNode + "torch::autograd::AccumulateGrad", at, 60'000, 2, "");
        recording.event("cpu_op", "torch::autograd::AccumulateGrad", at + 100, 10'000, 2,
                        R"("Input Dims":[[)" + elements + R"(]],"Input type":["float"])");
        recording.event("cpu_op", "record_param_comms", at + 20'000, 10'000, 2,
                        R"("Collective name":"allreduce","In msg nelems":)" + elements +
                            R"(,"dtype":"Float","Process Group Name":"0","Group size":4)");
        const std::int64_t wait = 20'000 * (3 - r);
        recording.kernel("ncclDevKernel_AllReduce", at + 21'000, at + 90'000 - wait,
                         wait + transfer(k, c), 2);
      }
    }
    files.push_back(folder.put("rank" + std::to_string(r) + ".json", recording.text(r, 4)));
  }
  return files;
}

} // namespace

TEST_CASE("costs of several ranks are the line through transfers without waiting") {
  const TemporaryFolder folder;
  // 10 us and 5 ns per byte: 30 us for 4,000 bytes, 50 us for 8,000.
  const auto files = ranks_with_transfers(
      folder, 4, [](int, int c) -> std::int64_t { return 10'000 + 5 * 4'000 * (c + 1); });
  const MeasuredCosts measured = import_kineto_job(files, with_costs()).costs;
  REQUIRE(measured.costs.size() == 1);
  const LineCost& cost = cost_of(measured, "allreduce", 4);
  CHECK(cost.grade == CostGrade::measured);
  CHECK(cost.startup_s == within(10e-6, 1e-9));
  CHECK(cost.per_byte_s == within(5e-9, 1e-9));
  CHECK(cost.bus_bandwidth_Bps == within(2.0 * 3 / 4 / 5e-9, 1e-9));
  CHECK(cost.collectives == 4 * 2);
  CHECK(cost.smallest_bytes == 4000);
  CHECK(cost.largest_bytes == 8000);
  // All steps are equal: the interval is a point.
  CHECK(*cost.startup_low_s == within(10e-6, 1e-9));
  CHECK(*cost.bus_bandwidth_high_Bps == within(2.0 * 3 / 4 / 5e-9, 1e-9));
  CHECK(import_kineto_job(files, {}).costs.costs.empty()); // not asked for
}

TEST_CASE("the interval of a cost comes from its steps, and is the same each time") {
  const TemporaryFolder folder;
  const auto files = ranks_with_transfers(folder, 9, [](int k, int c) -> std::int64_t {
    return 10'000 + 5 * 4'000 * (c + 1) + 700 * ((7 * k + 3 * c) % 5);
  });
  const MeasuredCosts first = import_kineto_job(files, with_costs()).costs;
  const LineCost& cost = cost_of(first, "allreduce", 4);
  CHECK(*cost.startup_low_s < cost.startup_s);
  CHECK(*cost.startup_high_s > cost.startup_s);
  CHECK(*cost.bus_bandwidth_low_Bps < cost.bus_bandwidth_Bps);
  CHECK(*cost.bus_bandwidth_high_Bps > cost.bus_bandwidth_Bps);
  const MeasuredCosts again = import_kineto_job(files, with_costs()).costs;
  CHECK(cost_of(again, "allreduce", 4).startup_low_s == cost.startup_low_s);
}

TEST_CASE("transfers that do not grow with their size give a bound") {
  const TemporaryFolder folder;
  const auto files =
      ranks_with_transfers(folder, 3, [](int, int) -> std::int64_t { return 20'000; });
  const MeasuredCosts measured = import_kineto_job(files, with_costs()).costs;
  const LineCost& cost = cost_of(measured, "allreduce", 4);
  CHECK(cost.grade == CostGrade::bound);
  CHECK(cost.startup_s == within(20e-6, 1e-9));
  CHECK(cost.bus_bandwidth_Bps == within(2.0 * 3 / 4 * 8000 / 20e-6, 1e-9));
  CHECK(cost.startup_low_s == 0.0);
  CHECK_FALSE(cost.bus_bandwidth_high_Bps.has_value());
  CHECK(measured.notes == std::vector<std::string>{"allreduce with 4 ranks: one size, or times "
                                                   "that do not grow with it: only a bound"});
}

TEST_CASE("one rank tells what its link carries at least") {
  struct Row {
    std::string file;
    std::int64_t ranks;
    double bytes, time_us, bus_GBps;
  };
  for (const auto& [file, ranks, bytes, time_us, bus_GBps] :
       {Row{kResnet, 2, 31'502'336, 2'424.415, 13.0}, Row{kDlrm, 8, 181'240'752, 1'575, 201.4},
        Row{kDlrmGraphs, 2, 17'728'292, 938, 18.9}}) {
    if (absent(file)) {
      return;
    }
    CAPTURE(file);
    const MeasuredCosts measured = import_kineto_job({file}, with_costs()).costs;
    const LineCost& cost = cost_of(measured, "allreduce", ranks);
    const double factor = 2.0 * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    CHECK(cost.grade == CostGrade::bound);
    CHECK(cost.bus_bandwidth_Bps == within(factor * bytes / (time_us * 1e-6), 1e-9));
    CHECK(cost.bus_bandwidth_Bps / 1e9 == plus_minus(bus_GBps, 0.05));
    CHECK(cost.bus_bandwidth_low_Bps == cost.bus_bandwidth_Bps);
    CHECK_FALSE(cost.bus_bandwidth_high_Bps.has_value());
    CHECK(cost.startup_high_s == cost.startup_s);
    CHECK(cost.startup_low_s == 0.0);
  }
}

TEST_CASE("eight ranks of DLRM tell start-up and rate of their link") {
  const TemporaryFolder unpacked;
  const std::vector<std::string> files = ranks_of_dlrm(unpacked);
  if (files.empty()) {
    return;
  }
  const MeasuredCosts measured = import_kineto_job(files, with_costs()).costs;
  const LineCost& cost = cost_of(measured, "allreduce", 8);
  CHECK(cost.grade == CostGrade::measured);
  CHECK(cost.startup_s * 1e6 == plus_minus(23.3, 0.4)); // stamps are whole microseconds
  CHECK(cost.bus_bandwidth_Bps / 1e9 == plus_minus(40.4, 0.4));
  CHECK(cost.collectives == 3);
  CHECK_FALSE(cost.startup_low_s.has_value()); // one step
}

TEST_CASE("R15: four micro-steps for each update are one step, its layers those of one") {
  const TemporaryFolder folder;
  // ProfilerStep#N around every micro-step; an all-reduce in every one, or in the last.
  for (const int way : {0, 1, 2, 3}) {
    const bool marks_each = way % 2 == 1;
    const bool reduces_each = way >= 2;
    CAPTURE(marks_each);
    CAPTURE(reduces_each);
    Recording recording;
    int number = 0;
    std::int64_t now = 1'000'000;
    for (int step = 0; step < 3; ++step) {
      const std::int64_t begin = now;
      for (int micro = 0; micro < 4; ++micro) {
        const std::int64_t origin = now;
        const int first = number;
        recording.kernel("Memcpy HtoD", now + 500, now + 600, 2'000, 1, "gpu_memcpy");
        for (const char* operation : {"aten::conv2d", "aten::linear"}) {
          recording.event("cpu_op", operation, now + 1'000, 20'000, 1, sequence(number++));
          recording.kernel("f", now + 2'000, now + 5'000, 10'000 + 1'000 * (number - first), 1);
          now += 30'000;
        }
        for (int layer = 1; layer >= 0; --layer) {
          recording.event("cpu_op", kNode + "Backward0", now + 1'000, 20'000, 2,
                          sequence(first + layer));
          recording.kernel("b", now + 2'000, now + 5'000, 15'000 + 2'000 * layer + micro, 2);
          now += 30'000;
          const std::string elements = std::to_string(100 * (layer + 1));
          recording.event("cpu_op", kNode + "torch::autograd::AccumulateGrad", now + 1'000, 20'000,
                          2, "");
          recording.event("cpu_op", "torch::autograd::AccumulateGrad", now + 2'000, 5'000, 2,
                          R"("Input Dims":[[)" + elements + R"(]],"Input type":["float"])");
          if ((micro == 3 || reduces_each) && layer == 0) {
            recording.event("cpu_op", "record_param_comms", now + 8'000, 5'000, 2,
                            R"("Collective name":"allreduce","In msg nelems":300,"dtype":"Float")");
          }
          now += 30'000;
        }
        if (micro == 3) {
          recording.event("user_annotation", "Optimizer.step#SGD.step", now, 10'000, 1, "");
          recording.kernel("u", now + 1'000, now + 2'000, 3'000, 1);
          now += 20'000;
        }
        if (marks_each) {
          recording.event("user_annotation", "ProfilerStep#" + std::to_string(4 * step + micro),
                          origin, now - origin, 1, "");
        }
      }
      if (!marks_each) {
        recording.event("user_annotation", "ProfilerStep#" + std::to_string(step), begin,
                        now - begin, 1, "");
      }
    }
    const layers::Trace trace =
        import_kineto_job({folder.put("t.json", recording.text(0, 2))}, {}).trace;
    CHECK(trace.accumulation == 4);
    CHECK(trace.reduces_each == reduces_each);
    CHECK(trace.steps.size() == 3);
    REQUIRE(trace.layers.size() == 2);
    CHECK(in_us(*trace.layers[0].forward) == us(11));
    CHECK(in_us(*trace.layers[1].forward) == us(12));
    CHECK(in_us(*trace.layers[0].backward) == us(15.001)); // of 0, 1, 2, 3 ns more: the middle
    CHECK(in_us(*trace.layers[1].backward) == us(17.001));
    CHECK(in_us(trace.update) == us(3));
    CHECK(in_us(trace.input) == us(2));
    const Gradients sum = gradients_of(trace);
    CHECK(sum.tensors == 2);
    CHECK(sum.of_bucket == std::vector<std::int64_t>{300});
    CHECK(warned(trace, "accumulated over 4 micro-steps"));
  }
}

namespace {

// Four layers with a gradient each, in three steps whose backward times differ, without a
// collective and without shapes.
std::string silent_recording() {
  Recording recording;
  std::int64_t now = 1'000'000;
  int number = 0;
  for (int step = 0; step < 3; ++step) {
    const std::int64_t begin = now;
    for (int layer = 0; layer < 4; ++layer, now += 30'000) {
      recording.event("cpu_op", "aten::linear", now + 1'000, 10'000, 1, sequence(number + layer));
      recording.kernel("f", now + 2'000, now + 3'000, 5'000, 1);
    }
    for (int layer = 3; layer >= 0; --layer, now += 60'000) {
      recording.event("cpu_op", kNode + "AddmmBackward0", now + 1'000, 10'000, 2,
                      sequence(number + layer));
      recording.kernel("b", now + 2'000, now + 3'000, 6'000 + 1'000 * (layer + 1) * (step % 2), 2);
      recording.event("cpu_op", kNode + "torch::autograd::AccumulateGrad", now + 20'000, 20'000, 2,
                      "");
    }
    number += 4;
    recording.event("user_annotation", "ProfilerStep#" + std::to_string(step), begin, now - begin,
                    1, "");
  }
  return recording.text(0, 1);
}

std::vector<std::int64_t> elements_of(const layers::Trace& trace) { // [layer]
  std::vector<std::int64_t> elements;
  for (const layers::Layer& layer : trace.layers) {
    elements.push_back(layer.tensors.front().elements.value_or(0));
  }
  return elements;
}

} // namespace

TEST_CASE("a total is spread by the backward times that the layers of the trace have") {
  const TemporaryFolder folder;
  KinetoOptions options;
  options.parameters = 17'000; // medians of 6.5, 7, 7.5 and 8 us
  const KinetoImport imported =
      import_kineto_job({folder.put("t.json", silent_recording())}, options);
  CHECK(in_us(*imported.trace.layers[3].backward) == us(8));
  CHECK(elements_of(imported.trace) == std::vector<std::int64_t>{3810, 4103, 4397, 4690});
}

TEST_CASE("a DDP log beside a trace without collectives gives buckets and their members") {
  const TemporaryFolder folder;
  const std::string file = folder.put("t.json", silent_recording());
  KinetoOptions options;
  const std::string sizes = "'bucket_sizes': '4000, 12000'";
  options.ddp_log = folder.put("ddp.txt", "{" + sizes + "}");
  KinetoImport imported = import_kineto_job({file}, options);
  CHECK(imported.sizes.starts_with("logged buckets, filled in ready order: up to about 10 %"));
  REQUIRE(imported.trace.buckets.size() == 2);
  CHECK(imported.trace.buckets[0].bytes.value == 4000);
  CHECK(imported.trace.buckets[1].tensors == 3);
  CHECK(imported.trace.layers[3].tensors[0].elements == 1000);
  CHECK(gradients_of(imported.trace).of_bucket == std::vector<std::int64_t>{1000, 3000});

  options.ddp_log =
      folder.put("listed.txt", "{" + sizes + ", 'rebuilt_per_bucket_param_indices': '1 0, 3 2'}");
  imported = import_kineto_job({file}, options);
  CHECK(imported.sizes.starts_with("logged buckets, spread within logged buckets: about 1 %"));
  CHECK(imported.trace.layers[0].tensors[0].bucket == 0);
  CHECK(imported.trace.layers[1].tensors[0].bucket == 0);
  CHECK(imported.trace.layers[2].tensors[0].bucket == 1);
  CHECK(gradients_of(imported.trace).of_bucket == std::vector<std::int64_t>{1000, 3000});

  // Known sizes fill the buckets in ready order, which is the reverse of that of registration.
  options.ddp_log = folder.put("ddp.txt", "{" + sizes + "}");
  options.sizes = folder.put("s.csv", "name,elements\na,500\nb,1500\nc,1000\nd,1000\n");
  imported = import_kineto_job({file}, options);
  CHECK(imported.sizes.ends_with("checked against 2 logged buckets"));
  CHECK(elements_of(imported.trace) == std::vector<std::int64_t>{500, 1500, 1000, 1000});
  CHECK(imported.trace.layers[3].tensors[0].bucket == 0);
  CHECK(imported.trace.layers[2].tensors[0].bucket == 1);
  options.sizes = folder.put("other.csv", "name,elements\na,500\nb,1500\nc,1000\nd,2000\n");
  CHECK_THROWS_WITH_AS(
      import_kineto_job({file}, options),
      (file + ": 4000 elements in the logged buckets, 5000 from " + *options.sizes).c_str(),
      InputError);
}

TEST_CASE("an execution trace alone gives sizes without times") {
  if (absent(kLinearNodes)) {
    return;
  }
  const layers::Trace trace = trace_of_sizes(kLinearNodes, {});
  REQUIRE(trace.layers.size() == 42);
  CHECK(trace.layers[0].name == "gradient_42"); // forward order: the last gradient first
  CHECK(trace.layers[41].name == "gradient_1");
  CHECK_FALSE(trace.layers[0].forward.has_value());
  CHECK_FALSE(trace.layers[0].backward.has_value());
  std::int64_t bytes = 0;
  for (const layers::Layer& layer : trace.layers) {
    bytes += layer.gradient_bytes->value;
  }
  CHECK(bytes == 88'166'400);
}

namespace {

const std::vector<std::int64_t> kUnits{1000, 1000, 4000}; // in forward order

// Two steps of FSDP on groups of four ranks, with `scale` times kUnits elements. With replicas
// (HSDP) the shard of every gradient is then all-reduced over the `replicas` groups, and with
// `norm` each step ends with an all-reduce of one element over all ranks. Of `micro_steps` the last
// one reduces gradients, and with `each` all of them.
Recording sharded_recording(std::int64_t replicas, std::int64_t scale = 1, bool norm = false,
                            int micro_steps = 1, bool each = false) {
  Recording recording;
  const auto call = [&](const char* op, std::int64_t in, std::int64_t out, const char* dtype,
                        std::int64_t at, int thread, std::int64_t ranks = 4) {
    recording.event("cpu_op", "record_param_comms", at, 5'000, thread,
                    R"("Collective name":")" + std::string(op) + R"(","In msg nelems":)" +
                        std::to_string(in) + R"(,"Out msg nelems":)" + std::to_string(out) +
                        R"(,"dtype":")" + dtype + R"(","Group size":)" + std::to_string(ranks) +
                        R"(,"Process Group Name":"0")");
    recording.kernel("ncclDevKernel_Generic", at + 1'000, at + 2'000, 3'000, thread);
  };
  std::int64_t now = 1'000'000;
  int number = 0;
  for (int step = 0; step < 2; ++step) {
    const std::int64_t begin = now;
    for (int micro = 0; micro < micro_steps; ++micro) {
      for (std::size_t u = 0; u < 3; ++u) {
        call("_allgather_base", scale * kUnits[u] / 4, scale * kUnits[u], "BFloat16", now + 1'000,
             1);
        recording.event("cpu_op", "aten::linear", now + 10'000, 10'000, 1,
                        sequence(number + static_cast<int>(u)));
        recording.kernel("f", now + 11'000, now + 12'000, 5'000, 1);
        now += 30'000;
      }
      for (std::size_t u = 3; u-- > 0;) {
        recording.event("cpu_op", std::string(kNode) + "AddmmBackward0", now + 1'000, 10'000, 2,
                        sequence(number + static_cast<int>(u)));
        recording.kernel("b", now + 2'000, now + 3'000, 6'000, 2);
        if (u > 0) { // the last unit was kept, the others are gathered one ahead
          call("_allgather_base", scale * kUnits[u - 1] / 4, scale * kUnits[u - 1], "BFloat16",
               now + 12'000, 2);
        }
        recording.event("cpu_op", std::string(kNode) + "torch::autograd::AccumulateGrad",
                        now + 20'000, 20'000, 2, "");
        if (each || micro == micro_steps - 1) {
          call("_reduce_scatter_base", scale * kUnits[u], scale * kUnits[u] / 4, "Float",
               now + 22'000, 2);
        }
        if (replicas > 1) {
          call("allreduce", scale * kUnits[u] / 4, scale * kUnits[u] / 4, "Float", now + 30'000, 2,
               replicas);
        }
        now += 60'000;
      }
      number += 3;
    }
    if (norm) {
      call("allreduce", 1, 1, "Float", now + 1'000, 1, 4 * replicas);
      now += 10'000;
    }
    recording.event("user_annotation", "ProfilerStep#" + std::to_string(step), begin, now - begin,
                    1, "");
  }
  return recording;
}

} // namespace

TEST_CASE("R13: three units of FSDP on four ranks, gathered in bfloat16, reduced in float32") {
  const TemporaryFolder folder;
  const KinetoImport imported =
      import_kineto_job({folder.put("t.json", sharded_recording(1).text(0, 4))}, {});
  const layers::Trace& trace = imported.trace;
  CHECK(imported.remedy.empty());
  CHECK(imported.sizes == "3 measured units, spread within units, float32, assumed");
  REQUIRE(trace.sharding.has_value());
  CHECK(trace.sharding->group_size == 4);
  CHECK(trace.sharding->world_size == 4);
  CHECK(trace.sharding->reshard_after_forward);
  REQUIRE(trace.units.size() == 3);
  for (std::size_t u = 0; u < 3; ++u) {
    CAPTURE(u);
    CHECK(trace.units[u].elements == kUnits[u]);
    CHECK(trace.units[u].gather_dtype == "bfloat16");
    CHECK(trace.units[u].reduce_dtype == "float32");
    CHECK(trace.units[u].gathers_forward == 1);
    CHECK(trace.units[u].gathers_backward == (u == 2 ? 0 : 1));
    CHECK(trace.units[u].first_layer == static_cast<std::int64_t>(u));
    CHECK(trace.units[u].last_layer == static_cast<std::int64_t>(u));
  }
  CHECK(gradients_of(trace).bytes == 4 * (1000 + 1000 + 4000));
}

TEST_CASE("units of accumulated steps are those of a micro-step, reduced in each or in the last") {
  const TemporaryFolder folder;
  for (const bool each : {false, true}) {
    CAPTURE(each);
    const layers::Trace trace =
        import_kineto_job(
            {folder.put("t.json", sharded_recording(1, 1, false, 3, each).text(0, 4))}, {})
            .trace;
    CHECK(trace.accumulation == 3);
    REQUIRE(trace.units.size() == 3);
    for (std::size_t u = 0; u < 3; ++u) {
      CAPTURE(u);
      CHECK(trace.units[u].elements == kUnits[u]);
      CHECK(trace.units[u].gather_dtype == "bfloat16");
      CHECK(trace.units[u].gathers_forward == 1);
      CHECK(trace.units[u].gathers_backward == (u == 2 ? 0 : 1));
      CHECK(trace.units[u].first_layer == static_cast<std::int64_t>(u));
      CHECK(trace.units[u].last_layer == static_cast<std::int64_t>(u));
    }
    REQUIRE(trace.sharding.has_value());
    CHECK(trace.reduces_each == each);
    CHECK(gradients_of(trace).bytes == 4 * (1000 + 1000 + 4000));
  }
}

TEST_CASE("HSDP: all-reduces of shards over a second group are buckets of replicas") {
  const TemporaryFolder folder;
  const KinetoImport imported =
      import_kineto_job({folder.put("t.json", sharded_recording(2).text(0, 8))}, {});
  const layers::Trace& trace = imported.trace;
  REQUIRE(trace.sharding.has_value());
  CHECK(trace.sharding->group_size == 4);
  CHECK(trace.sharding->world_size == 8);
  CHECK(trace.units.size() == 3);
  REQUIRE(trace.buckets.size() == 3);
  for (std::size_t b = 0; b < 3; ++b) { // in backward order
    CHECK(trace.buckets[b].group == "replica");
    CHECK(trace.buckets[b].elements == kUnits[2 - b] / 4);
    CHECK(trace.buckets[b].bytes.value == 4 * (kUnits[2 - b] / 4));
  }
  // They are not buckets of the whole gradients, whose sizes are those of the units.
  CHECK(gradients_of(trace).bytes == 4 * (1000 + 1000 + 4000));
  for (const layers::Layer& layer : trace.layers) {
    for (const layers::Tensor& tensor : layer.tensors) {
      CHECK_FALSE(tensor.bucket.has_value());
    }
  }
}

TEST_CASE("HSDP: a small all-reduce beside large shards is no bucket and hides no sharding") {
  const TemporaryFolder folder;
  constexpr std::int64_t kScale = 4000; // shards of 4 to 16 MB, far above norms and losses
  const KinetoImport imported =
      import_kineto_job({folder.put("t.json", sharded_recording(2, kScale, true).text(0, 8))}, {});
  const layers::Trace& trace = imported.trace;
  REQUIRE(trace.sharding.has_value());
  CHECK(trace.sharding->group_size == 4);
  CHECK(trace.sharding->world_size == 8);
  REQUIRE(trace.units.size() == 3);
  std::int64_t replica_elements = 0;
  for (const auto& bucket : trace.buckets) {
    replica_elements += bucket.group == "replica" ? bucket.elements : 0;
  }
  CHECK(replica_elements == kScale * 6000 / 4);
  for (std::size_t u = 0; u < 3; ++u) {
    CHECK(trace.units[u].elements == kScale * kUnits[u]);
  }
}
