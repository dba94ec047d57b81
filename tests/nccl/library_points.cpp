// Random systems, sizes and parameters with what the library model makes of them: one JSON object
// per line, all numbers in full. library_oracle.py computes the same from the text of the model.
#include <cmath>
#include <cstdio>
#include <string>

#include "base/random.hpp"
#include "nccl/candidates.hpp"

using namespace stepsim::nccl;

namespace {

constexpr int kPoints = 4000;

void print_node(const NodeType& node) {
  std::printf("{\"gpus\": %u, \"ring\": %.17g, \"cards\": %u, \"card\": %.17g, "
              "\"generation\": \"%s\", \"host\": \"%s\", \"link\": \"%s\", \"nvls\": %d, "
              "\"domain\": %u, ",
              node.gpus, node.ring_Bps, node.nics, node.nic_Bps,
              std::string(kGenerations[node.generation]).c_str(),
              std::string(kHosts[node.host]).c_str(), std::string(kInnerLinks[node.link]).c_str(),
              node.in_switch_reduction ? 1 : 0, node.domain_nodes);
}

void print_pairs(const Layout& layout, Operation operation, double bytes,
                 const Multipliers& multipliers) {
  std::printf("\"pairs\": [");
  bool first = true;
  const Candidates all = candidates(layout, operation, {});
  for (const Pair& pair : all.all()) {
    const OperationTime time = operation_time(layout, operation, bytes, pair, multipliers);
    std::printf("%s[\"%s\", \"%s\", %.17g, %.17g, %.17g]", first ? "" : ", ",
                std::string(kAlgorithms[pair.algorithm]).c_str(),
                std::string(kProtocols[pair.protocol]).c_str(),
                published_seconds(layout, operation, bytes, pair), time.seconds,
                time.bound.seconds);
    first = false;
  }
  std::printf("]}\n");
}

} // namespace

int main() {
  stepsim::base::RandomStream random({.seed = 1});
  for (int point = 0; point < kPoints; ++point) {
    NodeType node;
    node.name = "random";
    node.gpus = 8;
    node.ring_Bps = random.uniform(20e9, 900e9);
    node.nics = static_cast<std::uint32_t>(random.integer(1, 8));
    node.nic_Bps = random.uniform(1e9, 100e9);
    node.generation = static_cast<Generation>(random.integer(0, 3));
    node.host = static_cast<Host>(random.integer(0, 1));
    node.link = static_cast<InnerLink>(random.integer(0, 1));
    node.in_switch_reduction = random.integer(0, 1) == 1;
    Shape shape{static_cast<std::uint32_t>(random.integer(1, 6)),
                static_cast<std::uint32_t>(random.integer(1, 8))};
    if (random.integer(0, 3) == 0) {
      node.domain_nodes = static_cast<std::uint32_t>(random.integer(1, 3));
      shape.nodes *= node.domain_nodes;
    } else if (random.integer(0, 3) == 0) {
      shape.nodes *= 100;
    }
    const auto operation = static_cast<Operation>(random.integer(0, 5));
    const double bytes = std::floor(std::exp2(random.uniform(0, 35)));
    Parameters parameters{};
    for (std::size_t i = 0; i < kParameterCount; ++i) {
      const ParameterRow& row = parameter_rows()[i];
      parameters[i] = row.prior_mean + row.prior_sd * random.uniform(-2, 2);
    }
    const Multipliers multipliers = multipliers_of(parameters);
    print_node(node);
    std::printf("\"op\": \"%s\", \"nodes\": %u, \"gpus_per_node\": %u, \"bytes\": %.17g, ",
                std::string(kOperations[operation]).c_str(), shape.nodes, shape.gpus, bytes);
    std::printf("\"multipliers\": {");
    for (std::size_t i = 0; i < kParameterCount; ++i) {
      const Parameter parameter = parameter_rows()[i].parameter;
      std::printf("%s\"%s\": %.17g", i > 0 ? ", " : "", std::string(kParameters[parameter]).c_str(),
                  multipliers[parameter]);
    }
    std::printf("}, ");
    print_pairs(layout_of(node, shape), operation, bytes, multipliers);
  }
  return 0;
}
