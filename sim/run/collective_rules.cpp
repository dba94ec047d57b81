#include "run/collective_file.hpp"

#include <string>
#include <tuple>

#include "collectives/algorithms.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"
#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

// Several interfaces next to an algorithm that uses one of them are a mistake.
void refuse_idle_interfaces(const CollectiveFile& file, const io::Json& tree,
                            io::Problems& problems) {
  const auto& [collective, levels] = std::tie(file.collective, file.collective.links.two_level);
  if (tree.find("nics_per_node") != nullptr && levels && levels->nics_per_node > 1 &&
      levels->gpus_per_node > 1 && collective.ranks > levels->gpus_per_node && !file.compression &&
      !file.system.question && collectives::leaves_nodes_once(collective)) {
    problems.add(tree, "nics_per_node",
                 "has no meaning for " + std::string(collectives::name(collective.algorithm)) +
                     ", which is flat and uses one network card of a node; two_level and "
                     "ring_rails use them all");
  }
}

// The switches of the network add what rings, or the switch of a node, have summed inside nodes.
void refuse_inner_algorithm(const collectives::Collective& collective, const io::Json& tree,
                            io::Problems& problems) {
  const io::Json* given = io::resolve(tree, "/options/intra_algorithm");
  if (given != nullptr && !given->is_null() && collective.algorithm == collectives::kCollnet &&
      collective.options.intra_algorithm != collectives::kNvls) {
    problems.add(*given, "has no meaning for " + std::string(collectives::kCollnetInside));
  }
}

} // namespace

void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems) {
  refuse_idle_interfaces(file, tree, problems);
  refuse_inner_algorithm(file.collective, tree, problems);
}

} // namespace stepsim::study
