#pragma once
// Scenarios of random layers, networks, training and communication, as text; some combinations do
// not exist.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/random.hpp"

namespace stepsim::study::testing {

template <std::size_t Count>
inline std::string pick(base::RandomStream& random, const std::array<const char*, Count>& words) {
  return words[static_cast<std::size_t>(random.integer(0, Count - 1))];
}

inline std::string number(double value) { return std::to_string(value); }

inline std::string random_layers(base::RandomStream& random) {
  std::string layers;
  const std::int64_t count = random.integer(1, 6);
  for (std::int64_t l = 0; l < count; ++l) {
    const bool empty = random.integer(0, 4) == 0;
    layers += std::string(l > 0 ? "," : "") + R"({"name": ")" + std::to_string(l) +
              R"(", "forward_s": )" +
              number(random.integer(0, 5) == 0 ? 0 : random.uniform(0, 2e-3)) +
              R"(, "backward_s": )" + number(random.uniform(0, 4e-3)) + R"(, "gradient_bytes": )" +
              std::to_string(empty ? 0 : 4 * random.integer(1, 500'000)) + "}";
  }
  return "[" + layers + "]";
}

inline std::string random_variability(base::RandomStream& random, std::int64_t workers) {
  static constexpr std::array<const char*, 5> kLaws{"lognormal", "uniform", "exponential", "gamma",
                                                    "empirical"};
  std::string law = pick(random, kLaws);
  const double most = law == "uniform" ? 0.57 : 3;
  const auto cv = [&] {
    if (random.integer(0, 2) == 0) {
      return std::string("0");
    }
    return law == "exponential" ? std::string("1") : number(random.uniform(0, most));
  };
  std::string text = R"({"compute_cv": )" + cv() + R"(, "exchange_cv": )" + cv() +
                     R"(, "distribution": ")" + law + "\"";
  if (law == "empirical") {
    text += R"(, "factors": [1, 3, 0.2, 1])";
  }
  if (random.integer(0, 1) == 0) {
    text += R"(, "stragglers": [{"worker": )" + std::to_string(random.integer(0, workers - 1)) +
            R"(, "factor": )" + number(random.uniform(0.1, 4)) + "}]";
  }
  return text + "}";
}

inline std::string random_training(base::RandomStream& random) {
  std::string keys;
  switch (random.integer(0, 7)) {
  case 0:
    keys = R"("algorithm": "pipe_sgd", "pipeline_width": )" + std::to_string(random.integer(1, 4)) +
           R"(, "warmup_iterations": )" + std::to_string(random.integer(0, 1)) + ", ";
    break;
  case 1:
    keys = R"("algorithm": "parameter_server", "mode": "async", "servers": )" +
           std::to_string(random.integer(1, 2)) + ", ";
    break;
  case 2:
    keys = R"("algorithm": "parameter_server", "servers": )" +
           std::to_string(random.integer(1, 2)) + ", ";
    break;
  case 3:
    keys = R"("algorithm": "parameter_server", "mode": "ssp", "staleness_bound": )" +
           std::to_string(random.integer(0, 3)) + ", ";
    break;
  case 4: {
    const std::int64_t steps = random.integer(1, 5);
    keys = R"("algorithm": "diloco", "local_steps": )" + std::to_string(steps) +
           R"(, "overlap_steps": )" + std::to_string(random.integer(0, steps - 1)) +
           R"(, "fragments": )" +
           std::to_string(random.integer(1, std::min<std::int64_t>(2, steps))) +
           R"(, "outer_update_s": 1e-3, "outer_gate": ")" +
           (random.integer(0, 1) == 0 ? "step" : "layer") + R"(", "inner": ")" +
           (random.integer(0, 1) == 0 ? "step" : "sync_sgd") + R"(", )";
    break;
  }
  default:
    if (random.integer(0, 2) == 0) {
      keys = R"("input_s": )" + number(random.uniform(0, 0.02)) + R"(, "input_pipelined": )" +
             (random.integer(0, 1) == 0 ? "true, " : "false, ");
    }
  }
  return keys + R"("update_s": )" + number(random.integer(0, 1) == 0 ? 0 : 1e-3) +
         R"(, "iterations": )" + std::to_string(random.integer(1, 8));
}

inline std::string random_communication(base::RandomStream& random) {
  static constexpr std::array<const char*, 12> kSchedules{
      "wfbp",     "single",   "ddp",  "horovod", "mg_wfbp", "optimal",
      "asc_wfbp", "priority", "dear", "eager",   "single",  "wfbp"};
  static constexpr std::array<const char*, 8> kCollectives{
      "ring", "be", "bruck", "recursive_doubling", "mst", "lp", "double_binary_tree", "auto"};
  static constexpr std::array<const char*, 5> kCompressions{
      R"("fp16")", R"("truncate16")",
      R"({"method": "custom_codec", "ratio": 3, "encode_Bps": 1e9, "decode_Bps": 2e9})",
      R"({"method": "topk", "density": 0.01, "costs": {"select_s_per_element": 1e-9}})",
      R"({"method": "dgc", "density": 0.01, "select_stream": "side", "costs": {"select_s": 1e-2}})"};
  std::string text = R"("schedule": ")" + pick(random, kSchedules) + "\"";
  if (random.integer(0, 1) == 0) {
    text += R"(, "collective": ")" + pick(random, kCollectives) + "\"";
  }
  if (random.integer(0, 3) == 0) {
    text += R"(, "compression": )" + pick(random, kCompressions);
  }
  if (random.integer(0, 3) == 0) {
    text += R"(, "chunking": "integer")";
  }
  if (random.integer(0, 3) == 0) {
    text += R"(, "next_forward": "barrier")";
  }
  if (random.integer(0, 5) == 0) {
    text += R"(, "exchange": "reduce_broadcast")";
  }
  return text;
}

enum class Workers { differ, equal };

inline std::string random_scenario(base::RandomStream& random, Workers workers = Workers::differ) {
  const std::int64_t nodes = random.integer(0, 4) == 0 ? 1 : random.integer(2, 13);
  const std::int64_t level = random.integer(0, 9);
  std::string network = R"("latency_s": 1e-5, "bandwidth_Bps": )" +
                        number(std::pow(10, random.uniform(8, 10))) + R"(, "reduction_Bps": )" +
                        (random.integer(0, 1) == 0 ? "0" : number(random.uniform(5e8, 5e9)));
  std::string cluster = R"("nodes": )" + std::to_string(nodes);
  if (level < 2) { // flows, packets
    network = level == 0 ? R"("model": "flow")"
                         : R"("model": "packet", "packet": {"transport": "dctcp"})";
    cluster += R"(, "topology": "star_16")";
  }
  static constexpr std::array<const char*, 5> kMethods{"", "", R"("method": "max_plus", )",
                                                       R"("method": "events", )",
                                                       R"("method": "closed_form", )"};
  return "{" + pick(random, kMethods) + R"("seed": )" + std::to_string(random.integer(1, 1000)) +
         R"(, "workload": {"layers": )" + random_layers(random) + R"(}, "cluster": {)" + cluster +
         R"(, "network": {)" + network + R"(}}, "training": {)" + random_training(random) +
         R"(}, "communication": {)" + random_communication(random) + "}" +
         (workers == Workers::equal ? ""
                                    : R"(, "variability": )" + random_variability(random, nodes)) +
         "}";
}

} // namespace stepsim::study::testing
