// What a simulated network did with gradients, as the summary says it (PKT 7.3, 8, A2).
#include "run/network_figures.hpp"

#include <doctest/doctest.h>

#include <string>

#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using stepsim::testing::within;

namespace {

// Two layers on 4 nodes, and packets of which a fraction may be lost.
Result run_lossy(const std::string& training, const std::string& communication,
                 const std::string& transport = "") {
  return study::testing::run_text(R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.001, "backward_s": 0.001, "gradient_bytes": 800000},
      {"name": "b", "forward_s": 0.001, "backward_s": 0.001, "gradient_bytes": 800000}]},
      "cluster": {"nodes": 4, "network": {"model": "packet", "latency_s": 2e-6,
        "bandwidth_Bps": 1.25e9, "packet": {"buffer": {"scope": "unlimited"}, "transport": {
          "kind": "dlcp", "loss_bound_push": 0.1, "rate_control": "none")" +
                                  transport + R"(}}}}, "training": {)" + training +
                                  R"("iterations": 4}, "communication": {)" + communication + "}}");
}

} // namespace

// A ring sends every chunk to be added N - 1 times: N M = N / (N - 1) of the bytes of these
// messages. Dedicated servers receive N M.
TEST_CASE("effective loss: contributions that are lost, of all that were sent (PKT 7.3)") {
  struct Case {
    std::string training{}, communication{};
  };
  const std::string server = R"("algorithm": "parameter_server", )";
  for (const Case& c :
       {Case{}, Case{"", R"("compression": "fp16")"}, Case{"", R"("compression": "quantize8")"},
        Case{"", R"("compression": {"method": "custom_codec", "ratio": 10})"},
        Case{R"("micro_batches": 3, "accumulation_exchange": "each", )", ""},
        Case{R"("algorithm": "pipe_sgd", )", R"("compression": "quantize8")"},
        Case{R"("algorithm": "diloco", "local_steps": 2, "outer_value_bytes": 2, )", ""},
        Case{R"("algorithm": "diloco", "local_steps": 2, "outer_compression": "fp4", )", ""},
        Case{server, ""}, Case{server, R"("compression": "quantize8")"},
        Case{R"("algorithm": "easgd", )", ""}}) {
    CAPTURE(c.training);
    CAPTURE(c.communication);
    const Result result = run_lossy(c.training, c.communication);
    double lost = 0;
    double sent = 0;
    for (const programs::JobMessage& message : result.messages) {
      if (message.part == programs::MessagePart::gradient) {
        sent += static_cast<double>(message.size_bytes);
        lost += message.contributions *
                static_cast<double>(message.size_bytes - message.delivered_bytes);
      }
    }
    REQUIRE(lost > 0);
    const double of_all = result.scenario->communication.has_servers() ? 1 : 4.0 / 3;
    CHECK(result.summary.effective_loss.value() == within(lost / (of_all * sent), 1e-9));
  }
}

TEST_CASE("loss bounds: the smallest of the layers in a message keeps all of them (PKT A2)") {
  const std::string servers = R"("algorithm": "parameter_server", )";
  for (const std::string& training : {std::string(), servers, servers + R"("mode": "async", )"}) {
    for (const double bound : {0.0, 0.04}) {
      for (const std::string layer : {"0", "1"}) {
        CAPTURE(training);
        CAPTURE(bound);
        CAPTURE(layer);
        const Result result = run_lossy(training, R"("schedule": "single")",
                                        R"(, "loss_bound_per_layer": {")" + layer + R"(": )" +
                                            std::to_string(bound) + "}");
        CHECK(result.summary.loss_fraction.value() <= bound);
        CHECK(result.summary.loss_fraction.value() >= bound / 2);
      }
    }
  }
}
