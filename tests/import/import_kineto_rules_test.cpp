// Single rules of the Kineto importer and its errors (IO 4, 17), on traces of a few events.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/kineto/kineto_events.hpp"
#include "import/kineto/kineto_read.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

// One complete event; `args` without braces.
std::string x(const std::string& cat, const std::string& name, const std::string& times,
              const std::string& tid = "1", const std::string& args = "") {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 1, "tid": )" +
         tid + ", " + times + (args.empty() ? "" : ", \"args\": {" + args + "}") + "}";
}
std::string at(double begin, double duration) {
  return "\"ts\": " + std::to_string(begin) + ", \"dur\": " + std::to_string(duration);
}
std::string number(int n) { return "\"Sequence number\": " + std::to_string(n); }
std::string correlation(int n) { return "\"correlation\": " + std::to_string(n); }

struct Events {
  std::vector<std::string> list;
  int correlations = 0;

  Events& add(std::string event) {
    list.push_back(std::move(event));
    return *this;
  }
  // A launch at `moment` on `tid` and its kernel of `duration` 5 us later.
  Events& work(double moment, double duration, const std::string& tid = "1",
               const std::string& name = "kernel()") {
    const std::string c = correlation(++correlations);
    add(x("cuda_runtime", "cudaLaunchKernel", at(moment, 0.5), tid, c));
    return add(x("kernel", name, at(moment + 5, duration), "7", c));
  }
  [[nodiscard]] std::string text() const {
    std::string joined;
    for (const std::string& event : list) {
      joined += joined.empty() ? "" : ",\n";
      joined += event;
    }
    return "{\"traceEvents\": [" + joined + "]}";
  }
};

// Two layers, one step: conv2d (forward 10 us, backward 30 us, one gradient) and linear
// (20 us, 40 us).
Events two_layers(double origin = 1000) {
  Events events;
  events.add(x("user_annotation", "ProfilerStep#1", at(origin, 900)));
  events.add(x("cpu_op", "aten::conv2d", at(origin + 10, 50), "1", number(1)));
  events.work(origin + 20, 10);
  events.add(x("cpu_op", "aten::linear", at(origin + 100, 50), "1", number(2)));
  events.work(origin + 110, 20);
  events.add(x("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0",
               at(origin + 200, 50), "2", number(2)));
  events.work(origin + 210, 40, "2");
  events.add(x("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0",
               at(origin + 300, 50), "2", number(1)));
  events.work(origin + 310, 30, "2");
  events.add(x("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
               at(origin + 360, 20), "2"));
  return events;
}

// Two steps 1,000 us apart; correlations of the second follow those of the first.
Events two_steps() {
  Events events = two_layers(1000);
  const Events second = two_layers(2000);
  events.list.insert(events.list.end(), second.list.begin(), second.list.end());
  for (std::size_t i = two_layers().list.size(); i < events.list.size(); ++i) {
    std::string& event = events.list[i];
    if (const std::size_t place = event.find("correlation\": "); place != std::string::npos) {
      event.insert(place + 14, "10");
    }
  }
  return events;
}

layers::Trace import_text(const std::string& text, const KinetoOptions& options = {}) {
  const TemporaryFolder folder;
  return import_kineto_job({folder.put("t.json", text)}, options).trace;
}
layers::Trace import_events(const Events& events, const KinetoOptions& options = {}) {
  return import_text(events.text(), options);
}

double us(std::optional<Seconds> time) { return time->value * 1e6; }

bool warned(const layers::Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.warnings, [=](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

// The message behind the file name.
std::string failure(const std::string& text, const KinetoOptions& options = {}) {
  try {
    (void)import_text(text, options);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("t.json") + 6);
  }
  return "no error";
}

} // namespace

TEST_CASE("kineto time: the literal text becomes nanoseconds without passing through a double") {
  CHECK(nanoseconds_from_microseconds("1712195495523352.380") == 1712195495523352380);
  CHECK(nanoseconds_from_microseconds("0") == 0);
  CHECK(nanoseconds_from_microseconds("12") == 12000);
  CHECK(nanoseconds_from_microseconds("12.5") == 12500);
  CHECK(nanoseconds_from_microseconds("2.5e3") == 2500000);
  CHECK(nanoseconds_from_microseconds("2.5E+3") == 2500000);
  CHECK(nanoseconds_from_microseconds("125e-2") == 1250);
  CHECK(nanoseconds_from_microseconds("1.0004") == 1000);
  CHECK(nanoseconds_from_microseconds("1.0005") == 1001); // nearest, halves up
  CHECK(nanoseconds_from_microseconds("0.00049999") == 0);
  CHECK(nanoseconds_from_microseconds("1e-400") == 0);
  CHECK(nanoseconds_from_microseconds("9223372036854775.807") == 9223372036854775807);
  for (const char* wrong : {"9223372036854775.808", "1e16", "1e999", "-1", "", ".", "e3", "abc",
                            "1e", "1e99999999999", "0x10", "1.2.3"}) {
    CAPTURE(wrong);
    CHECK_FALSE(nanoseconds_from_microseconds(wrong).has_value());
  }
}

TEST_CASE("kineto: the file may arrive in chunks of any size") {
  const std::string text = two_layers().text();
  for (const std::size_t size : {1U, 2U, 7U, 1000U}) {
    CAPTURE(size);
    std::string_view rest = text;
    const KinetoRecording recording = read_kineto(
        [&] {
          const std::string_view chunk = rest.substr(0, size);
          rest.remove_prefix(chunk.size());
          return chunk;
        },
        "t.json");
    CHECK(recording.events.size() == two_layers().list.size());
    CHECK(recording.events.back().begin == 1360000);
  }
}

TEST_CASE("kineto: two layers, their times and their gradient") {
  const layers::Trace trace = import_events(two_layers());
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].name == "conv2d_1");
  CHECK(us(trace.layers[0].forward) == within(10, 1e-12));
  CHECK(us(trace.layers[0].backward) == within(30, 1e-12));
  CHECK(trace.layers[0].tensors.size() == 1);
  CHECK(us(trace.layers[1].forward) == within(20, 1e-12));
  CHECK(us(trace.layers[1].backward) == within(40, 1e-12));
  CHECK(warned(trace, "no step skipped as warm-up"));
}

TEST_CASE("kineto: of several operators with a sequence number the last in the step owns it") {
  Events events = two_layers();
  events.add(x("cpu_op", "aten::add_", at(1005, 4), "1", number(1)));  // before conv2d
  events.add(x("cpu_op", "aten::mul", at(900, 4), "1", number(2)));    // before the step
  events.add(x("cpu_op", "aten::other", at(1170, 4), "3", number(1))); // on another thread
  const layers::Trace trace = import_events(events);
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].operation == "aten::conv2d");
  CHECK(trace.layers[1].operation == "aten::linear");
}

TEST_CASE("kineto: unmatched operators count for the next layer, trailing ones for the last") {
  Events events = two_layers();
  events.add(x("cpu_op", "aten::pad", at(1070, 20), "1"));
  events.work(1075, 3);
  events.add(x("cpu_op", "aten::mean", at(1160, 20), "1"));
  events.work(1165, 7);
  const layers::Trace trace = import_events(events);
  CHECK(us(trace.layers[0].forward) == within(10, 1e-12));
  CHECK(us(trace.layers[1].forward) == within(20 + 3 + 7, 1e-12));
}

TEST_CASE("kineto: an unmatched backward node counts for the layer before it on its thread") {
  Events events = two_layers();
  events.add(x("cpu_op", "autograd::engine::evaluate_function: ViewBackward0", at(1260, 20), "2",
               number(77)));
  events.work(1265, 9, "2");
  const layers::Trace trace = import_events(events);
  CHECK(us(trace.layers[1].backward) == within(40 + 9, 1e-12));
  CHECK(trace.checks->backward_nodes == 3);
  CHECK(trace.checks->backward_matched == 2);
  CHECK(warned(trace, "1 backward node of 3 match no forward operator"));
}

TEST_CASE("kineto: classes by the first rule that fits") {
  Events events = two_layers();
  events.work(1600, 1, "2", "ncclDevKernel_AllReduce"); // communication
  events.add(x("user_annotation", "Optimizer.step#SGD.step", at(1700, 100)));
  events.work(1710, 2);        // update
  events.work(1715, 100, "3"); // other: another thread
  events.add(x("cpu_op", "torch.distributed.ddp.reducer::copy", at(1400, 50), "2"));
  events.work(1410, 4, "2"); // framework
  events.add(x("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", at(1500, 50)));
  events.work(1510, 8); // other
  events.add(x("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at(1015, 16), "7",
               correlation(1))); // input: shares the launch of conv2d's kernel
  const layers::MeasuredStep step = import_events(events).steps.front();
  CHECK(us(step.communication) == within(1, 1e-12));
  CHECK(us(step.update) == within(2, 1e-12));
  CHECK(us(step.framework) == within(4, 1e-12));
  CHECK(us(step.other) == within(108, 1e-12));
  CHECK(us(step.input) == within(16, 1e-12));
  CHECK(us(step.forward) == within(30, 1e-12));
  CHECK(us(step.backward) == within(70, 1e-12));
}

TEST_CASE("kineto: a kernel belongs to the step of its launch, even if it runs in a later one") {
  Events events = two_steps();
  events.add(x("cuda_runtime", "cudaLaunchKernel", at(1170, 1), "1", correlation(500)));
  events.add(x("kernel", "late()", at(2500, 11), "7", correlation(500)));
  KinetoOptions options;
  options.skip_steps = 0;
  const layers::Trace trace = import_events(events, options);
  REQUIRE(trace.steps.size() == 2);
  CHECK(us(trace.steps[0].forward) == within(30 + 11, 1e-12));
  CHECK(us(trace.steps[1].forward) == within(30, 1e-12));
  // The median of two is their mean: the late kernel counts for the last layer.
  CHECK(us(trace.layers[1].forward) == within((31.0 + 20.0) / 2, 1e-12));
}

TEST_CASE("kineto: every moment of a step on the device counts once, for the first use that fits") {
  Events events = two_steps();
  // The first step computes in [1025, 1035], [1115, 1135], [1215, 1255] and [1315, 1345].
  events.correlations = 20;
  events.work(1365, 100, "2", "ncclDevKernel_AllReduce"); // [1370, 1470], launched late
  events.add(x("user_annotation", "nccl:broadcast", at(1380, 10)));
  events.work(1382, 200, "1", "ncclDevKernel_Broadcast"); // [1387, 1587], the last 117 alone
  const auto copy = [&](int number, double launch, double begin, double duration) {
    events.add(x("cuda_runtime", "cudaMemcpyAsync", at(launch, 1), "1", correlation(number)));
    events.add(x("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at(begin, duration), "7",
                 correlation(number)));
  };
  copy(40, 1390, 1560, 77);  // the last 50 alone
  copy(41, 1400, 1687, 13);  // launched in time: the device waited for something else before
  copy(42, 1890, 1990, 100); // around the next step's first kernel, [2025, 2035]
  // Input that the host waits for: before the first kernel, and in 200 of the 290 behind copy 41.
  const std::string loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  events.add(x("user_annotation", loader, at(1000, 20)));
  events.add(x("cpu_op", loader, at(1650, 250)));
  KinetoOptions options;
  options.skip_steps = 0;
  const std::vector<layers::MeasuredStep> steps = import_events(events, options).steps;
  REQUIRE(steps.size() == 2);
  // The first step begins with its own work, ends with the all-reduce, and lasts at least as long
  // as on the host.
  CHECK(us(steps[0].step) == within(900, 1e-9));
  CHECK(us(steps[0].step_compute) == within(100, 1e-9));
  CHECK(us(steps[0].step_exchange) == within(100, 1e-9));
  CHECK(us(steps[0].step_input) == within(20, 1e-9));
  CHECK(us(steps[0].step_host) == within(80 + 80 + 60 + 25 + 455 - 20, 1e-9));
  // The second one lasts from 1470 to 2345.
  CHECK(us(steps[1].step) == within(875, 1e-9));
  CHECK(us(steps[1].step_compute) == within(100, 1e-9));
  CHECK(us(steps[1].step_exchange) == within(0, 1e-9));
  CHECK(us(steps[1].step_other_collectives) == within(117, 1e-9));
  CHECK(us(steps[1].step_input) == within(50 + 13 + 35 + 55 + 200, 1e-9));
  CHECK(us(steps[1].step_host) == within(90 + 25 + 80 + 60, 1e-9));
  CHECK(us(steps[1].step_idle) == within(50, 1e-9));
}

TEST_CASE("kineto: work without a launch is outside of all steps, above 1 % with a warning") {
  Events events = two_layers();
  events.add(x("kernel", "unknown()", at(1500, 25), "7", correlation(900)));
  const layers::Trace trace = import_events(events);
  CHECK(trace.checks->unattributed_fraction == within(25.0 / (100 + 25), 1e-12));
  CHECK(warned(trace, "20 % of the device time"));
}

TEST_CASE("kineto: of steps with different layers the largest group is kept") {
  Events events;
  for (int k = 0; k < 4; ++k) { // the third has another operator, the first is warm-up
    const double origin = 1000.0 * (k + 1);
    events.add(x("user_annotation", "ProfilerStep#" + std::to_string(k), at(origin, 900)));
    events.add(
        x("cpu_op", k == 2 ? "aten::linear" : "aten::conv2d", at(origin + 10, 50), "1", number(k)));
    events.work(origin + 20, k == 2 ? 1000 : 10);
    events.add(x("cpu_op", "autograd::engine::evaluate_function: Backward0", at(origin + 200, 50),
                 "2", number(k)));
    events.work(origin + 210, 40, "2");
  }
  const layers::Trace trace = import_events(events);
  REQUIRE(trace.layers.size() == 1);
  CHECK(trace.layers[0].operation == "aten::conv2d");
  CHECK(us(trace.layers[0].forward) == within(10, 1e-12));
  CHECK_FALSE(trace.steps[2].used);
  CHECK(trace.checks->steps_used == 2);
  CHECK(warned(trace, "1 step with other layers left out, 2 kept"));
}

TEST_CASE("kineto: of operators with equal stamps the one recorded first is outside") {
  const auto forward = [](const char* name, int id) {
    return x("cpu_op", name, at(1010, 50), "1",
             number(1) + ", \"External id\": " + std::to_string(id));
  };
  for (const bool inner_first : {false, true}) {
    CAPTURE(inner_first);
    Events events = two_layers();
    std::erase_if(events.list,
                  [](const std::string& e) { return e.find("aten::conv2d") < e.size(); });
    events.add(forward(inner_first ? "aten::a_inner" : "aten::z_outer", inner_first ? 11 : 10));
    events.add(forward(inner_first ? "aten::z_outer" : "aten::a_inner", inner_first ? 10 : 11));
    CHECK(import_events(events).layers[0].operation == "aten::z_outer");
  }
}

TEST_CASE("kineto: recorded shapes beyond 2^50 elements are no sizes") {
  const auto with_shape = [](const std::string& shape) {
    Events events = two_layers();
    events.add(x("cpu_op", "torch::autograd::AccumulateGrad", at(1361, 10), "2",
                 R"("Input type": ["float"], "Input Dims": )" + shape));
    return import_events(events).layers[0].gradient_bytes;
  };
  CHECK(with_shape("[[30, 4]]") == Bytes{4 * 30 * 4});
  CHECK(with_shape("[[], [7]]") == Bytes{4 * 7}); // empty entries are skipped
  CHECK(with_shape("[null, [7]]") == Bytes{4 * 7});
  CHECK(with_shape("[[]]") == Bytes{4});                             // a scalar
  CHECK_FALSE(with_shape("[[1099511627776, 1048577]]").has_value()); // 2^60 + 2^40
  CHECK_FALSE(with_shape("[[-3, 4]]").has_value());
  CHECK_FALSE(with_shape("\"text\"").has_value());
}

TEST_CASE("kineto: annotations of the device are no steps") {
  Events events = two_layers();
  events.add(x("gpu_user_annotation", "ProfilerStep#9", at(1100, 100), "7"));
  CHECK(import_events(events).steps.size() == 1);
}

TEST_CASE("kineto: steps by annotation take the innermost of nested matches") {
  Events events = two_layers();
  std::erase_if(events.list,
                [](const std::string& e) { return e.find("ProfilerStep") < e.size(); });
  events.add(x("user_annotation", "train outer", at(900, 1200)));
  events.add(x("user_annotation", "train inner", at(1000, 900)));
  KinetoOptions options;
  options.step_annotation = "^train";
  const layers::Trace trace = import_events(events, options);
  REQUIRE(trace.steps.size() == 1);
  CHECK(trace.steps[0].name == "train inner");
  options.step_annotation = "(";
  CHECK_THROWS_AS(import_events(events, options), UsageError);
  options.step_annotation = "nothing";
  CHECK(failure(events.text(), options) ==
        ": no annotation matches --step-annotation; annotations seen: train inner, train outer");
  CHECK(failure(events.text()) ==
        ": no training step found (no ProfilerStep#, no Optimizer.step#); pass --step-annotation "
        "REGEX; annotations seen: train inner, train outer");
}

TEST_CASE("kineto: launches of Intel's GPUs and of plug-ins count as those of CUDA") {
  const std::string cuda = two_layers().text();
  const auto layers_of = [](const std::string& text) {
    return compact(*to_json(import_text(text)).find("layers"));
  };
  for (const char* category :
       {"cuda_driver", "xpu_runtime", "xpu_driver", "privateuse1_runtime", "privateuse1_driver"}) {
    CAPTURE(category);
    std::string text = cuda;
    for (std::size_t at = 0; (at = text.find("cuda_runtime", at)) != std::string::npos;) {
      text.replace(at, 12, category);
    }
    CHECK(layers_of(text) == layers_of(cuda));
  }
}

TEST_CASE("kineto: two optimizers end one step; steps of two processes are refused") {
  const auto with_updates = [](const std::string& first, const std::string& second) {
    Events events = two_steps();
    std::erase_if(events.list, [](const std::string& event) {
      return event.find("ProfilerStep") != std::string::npos;
    });
    for (const double end : {950.0, 1950.0, 2950.0}) {
      events.add(x("user_annotation", "Optimizer.step#" + first, at(end, 10)));
      events.add(x("user_annotation", "Optimizer.step#" + second, at(end + 11, 10)));
    }
    return import_events(events);
  };
  const layers::Trace trace = with_updates("Muon.step", "AdamW.step");
  CHECK(trace.steps.size() == 2);
  CHECK(us(trace.layers[0].forward) == 10);
  std::string text = two_steps().text();
  const std::string mark = "\"ProfilerStep#1\", \"pid\": ";
  const std::size_t second = text.rfind(mark);
  text.replace(second + mark.size(), 1, "7");
  CHECK(failure(text) == ": steps of 2 processes (pid 1, 7): give one file per rank");
}

TEST_CASE("kineto: kernels of two GPUs are said; views are no recomputation") {
  std::string text = two_layers().text();
  CHECK_FALSE(warned(import_text(text), "GPUs"));
  text.replace(text.find("\"pid\": 1", text.find("\"kernel()\"")), 8, "\"pid\": 2");
  CHECK(warned(import_text(text), "kernels of 2 GPUs in one process: their times are added"));
  // Both have views inside their backward nodes; only the second has convolutions there.
  Events events = two_layers();
  events.add(x("cpu_op", "aten::view", at(1160, 5), "1", number(3)));
  events.add(x("cpu_op", "aten::slice", at(1170, 5), "1", number(4)));
  events.add(x("cpu_op", "aten::cat", at(1180, 5), "1", number(5)));
  events.add(x("cpu_op", "autograd::engine::evaluate_function: ViewBackward0", at(1190, 9), "2",
               number(3)));
  for (const char* view : {"aten::view", "aten::slice", "aten::cat"}) {
    events.add(x("cpu_op", view, at(1202, 1), "2"));
  }
  CHECK_FALSE(warned(import_events(events), "recomputation"));
  events.add(x("cpu_op", "aten::conv2d", at(1204, 1), "2"));
  events.add(x("cpu_op", "aten::linear", at(1206, 1), "2"));
  CHECK(warned(import_events(events), "recomputation found"));
}

TEST_CASE("kineto: what bad traces get") {
  CHECK(failure("{}") == ": no traceEvents: not a PyTorch profiler trace");
  CHECK(failure("3") == ": no traceEvents: not a PyTorch profiler trace");
  CHECK(failure("[]") == ": no GPU activity recorded: profile with ProfilerActivity.CUDA");
  CHECK(failure("{\"traceEvents\": [\n{\"ph\": \"X\",\n") == ":3:1: unexpected end of input");
  CHECK(failure("{\"traceEvents\": [}").starts_with(":1:18: unexpected '}'"));
  const auto with = [](const std::string& times) {
    return "{\"traceEvents\": [1, " + x("kernel", "k", times) + "]}";
  };
  CHECK(failure(with("\"ts\": 1, \"dur\": -3")) == ": /traceEvents/1/dur: must be >= 0, got -3");
  CHECK(failure(with("\"ts\": -1.5, \"dur\": 3")) == ": /traceEvents/1/ts: must be >= 0, got -1.5");
  CHECK(failure(with("\"ts\": 1e16, \"dur\": 3")) ==
        ": /traceEvents/1/ts: must be below 2^63 ns, got 1e16");
  CHECK(failure(with("\"ts\": 18446744073709551615, \"dur\": 3")) ==
        ": /traceEvents/1/ts: must be below 2^63 ns, got 18446744073709551615");
  CHECK(failure(with("\"ts\": \"1\", \"dur\": 3")) ==
        ": /traceEvents/1/ts: must be a number, got \"1\"");
  CHECK(failure(with("\"ts\": null, \"dur\": 3")) ==
        ": /traceEvents/1/ts: must be a number, got null");
  CHECK(failure(with("\"ts\": [], \"dur\": 3")) ==
        ": /traceEvents/1/ts: must be a number, got an array");
  CHECK(failure(with("\"ts\": 1")) == ": /traceEvents/1/dur: required, in microseconds");
  CHECK(failure(with("\"ts\": 9000000000000000, \"dur\": 9000000000000000")) ==
        ": /traceEvents/1/dur: the event ends, or all durations sum up, beyond 2^63 ns");
  CHECK(failure("[" + x("kernel", "k", "\"ts\": 1, \"dur\": -3") + "]") ==
        ": /0/dur: must be >= 0, got -3");
  // The same in an event that does not matter.
  CHECK(failure("[" + x("python_function", "k", "\"ts\": 1, \"dur\": -3") + "]") ==
        ": no GPU activity recorded: profile with ProfilerActivity.CUDA");
  CHECK(failure(std::string(300, '[') + std::string(300, ']')).ends_with("nested deeper than 256"));
}

TEST_CASE("kineto: wrong options") {
  const std::string text = two_layers().text();
  KinetoOptions options;
  options.batch_size = 0;
  CHECK_THROWS_WITH_AS(import_text(text, options), "--batch-size: must be > 0, got 0", UsageError);
  options = {};
  options.backward_ratio = -1.0;
  CHECK_THROWS_AS(import_text(text, options), UsageError);
  options = {};
  options.model = "x";
  CHECK_THROWS_AS(import_text(text, options), UsageError);
  CHECK_THROWS_AS(import_kineto_job({}, {}).trace, UsageError);
}

TEST_CASE("kineto: the source names the file, its bytes and digest, and the options given") {
  const TemporaryFolder folder;
  const std::string text = two_layers().text();
  KinetoOptions options;
  options.common.importer = "stepsim 1.2.3";
  options.common.attribution = "someone";
  options.common.licence = "MIT";
  options.batch_size = 32;
  options.skip_steps = 0;
  const layers::Trace trace =
      import_kineto_job({folder.put("rank0.pt.trace.json", text)}, options).trace;
  CHECK(trace.name == "rank0");
  CHECK(trace.batch_size == 32);
  REQUIRE(trace.source);
  CHECK(trace.source->format == "kineto");
  CHECK(trace.source->importer == "stepsim 1.2.3");
  CHECK(trace.source->attribution == "someone");
  CHECK(trace.source->licence == "MIT");
  REQUIRE(trace.source->files.size() == 1);
  CHECK(trace.source->files[0].name == "rank0.pt.trace.json");
  CHECK(trace.source->files[0].bytes == static_cast<std::int64_t>(text.size()));
  CHECK(trace.source->files[0].sha256.size() == 64);
  CHECK(trace.source->options == std::vector<std::pair<std::string, std::string>>{
                                     {"batch_size", "32"}, {"skip_steps", "0"}});
}

TEST_CASE("kineto: a sampled trace is refused with the nodes that neither way matches") {
  // Of 144 backward nodes 30 have the number of an operator of another name, 16 the name of one
  // without a number, and 98 neither: half of these have the name of an operator by chance, but a
  // number that none has.
  constexpr int kNumbered = 30;
  constexpr int kNamed = 16;
  constexpr int kNeither = 98;
  Events events;
  events.add(x("user_annotation", "ProfilerStep#1", at(1000, 9000)));
  double now = 1010;
  for (int i = 0; i < kNumbered + kNamed; ++i, now += 10) {
    events.add(i < kNumbered ? x("cpu_op", "aten::mm", at(now, 5), "1", number(i + 1))
                             : x("cpu_op", "aten::relu", at(now, 5), "1"));
  }
  events.work(now, 5);
  now += 20;
  const auto node = [&](const std::string& name, const std::string& arguments) {
    events.add(
        x("cpu_op", "autograd::engine::evaluate_function: " + name, at(now, 5), "2", arguments));
    now += 10;
  };
  for (int i = kNumbered + kNamed; i-- > 0;) {
    i < kNumbered ? node("AddmmBackward0", number(i + 1)) : node("ReluBackward0", "");
  }
  for (int i = 0; i < kNeither; ++i) {
    node(i % 2 == 0 ? "SampledBackward0" : "MmBackward0", number(1'000'000 + i));
  }
  CHECK(failure(events.text()) ==
        ": " + std::to_string(kNeither) + " of " + std::to_string(kNumbered + kNamed + kNeither) +
            " backward nodes match no forward operator: the trace is incomplete (sampled or cut)");
}
