#include "run/collective_file.hpp"

#include "document/json_text.hpp"
#include "run/collective_keys.hpp"

namespace stepsim::study {

namespace {

void read_shape(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  const io::Json* json = fields.given("shape");
  if (json == nullptr) {
    return;
  }
  if (json->is_string()) {
    file.system.shape = parse_shape(json->as_string());
  }
  if (!file.system.shape) {
    context.problems.add(*json, "must be NODESxGPUS, such as 10x8, got " + io::shown(*json));
  } else if (static_cast<double>(file.system.shape->nodes) * file.system.shape->gpus >
             keys::kMaxRanks) {
    context.problems.add(*json, "must be at most 1048576 ranks, got " + io::shown(*json));
    file.system.shape.reset();
  }
}

// "contradicts /shape 10x8, which has 80 ranks, got 79"
void check_against_shape(io::Fields& fields, std::string_view key, const nccl::Shape& shape,
                         std::int64_t of_shape, std::string_view noun) {
  const auto given = fields.optional_integer(key);
  if (given && *given != of_shape) {
    fields.refuse(key, "contradicts /shape " + nccl::text(shape) + ", which has " +
                           std::to_string(of_shape) + " " + std::string(noun) + ", got " +
                           std::to_string(*given));
  }
}

// Keys of a network that the model of the library does not know.
void refuse_network(const io::Json& tree, io::Problems& problems) {
  const std::string no_links =
      ", whose cost is contention-free: it knows a node type and no single links";
  const std::string together = ": all ranks enter together";
  for (const auto& [key, why] : {std::pair("topology", no_links), std::pair("links", no_links),
                                 std::pair("enter_s", together), std::pair("late_s", together)}) {
    if (const io::Json* found = tree.find(key); found != nullptr && !found->is_null()) {
      problems.add(tree, key, "has no meaning for algorithm library" + why);
    }
  }
  for (const std::string_view network : {"/network", "/intra_network"}) {
    const io::Json* found = io::resolve(tree, std::string(network) + "/delay_s");
    if (found != nullptr && !found->is_null()) {
      problems.add(*found, "has no meaning for algorithm library, whose latencies hold no port");
    }
  }
}

// Empty where it is not given or wrong; other keys that count ranks contradict it.
std::vector<std::int64_t> read_ranks_per_node(io::Fields& fields, const ParseContext& context) {
  std::vector<std::int64_t> counts;
  const io::Json* json = fields.given("ranks_per_node");
  if (json == nullptr) {
    return counts;
  }
  for (const std::string_view key : {"shape", "gpus_per_node"}) {
    if (fields.has(key)) {
      context.problems.add(*json,
                           "/ranks_per_node and /" + std::string(key) + " exclude each other");
    }
  }
  double ranks = 0;
  for (const io::Json& each : fields.list("ranks_per_node", "node")) {
    counts.push_back(
        io::checked_integer(each, io::between(1, keys::kMaxRanks), context.problems).value_or(1));
    ranks += static_cast<double>(counts.back());
  }
  if (ranks > keys::kMaxRanks) {
    context.problems.add(*json, "must be at most 1048576 ranks");
    counts.clear();
  }
  return counts;
}

// Nodes of `gpus` ranks each; a last node that is not full has no cost of its own.
std::optional<nccl::Shape> shape_of(const io::Json& tree, const CollectiveFile& file,
                                    io::Problems& problems) {
  if (file.system.shape) {
    return file.system.shape;
  }
  const std::uint32_t ranks = file.collective.ranks;
  const auto& levels = file.collective.links.two_level;
  if (levels && !levels->ranks_per_node.empty()) {
    const std::vector<std::uint32_t>& counts = levels->ranks_per_node;
    return nccl::Shape{.nodes = static_cast<std::uint32_t>(counts.size()),
                       .gpus = levels->gpus_per_node,
                       .smallest = *std::ranges::min_element(counts),
                       .ranks = ranks};
  }
  const std::uint32_t gpus = std::min(ranks, levels ? levels->gpus_per_node : 1);
  if (ranks % gpus != 0) {
    problems.add(tree, "ranks",
                 std::to_string(ranks) + " ranks do not fill nodes of " + std::to_string(gpus) +
                     " GPUs; give /shape NODESxGPUS");
    return std::nullopt;
  }
  return nccl::Shape{ranks / gpus, gpus};
}

} // namespace

std::optional<nccl::Shape> parse_shape(std::string_view text) {
  const std::size_t middle = text.find('x');
  if (middle == std::string_view::npos) {
    return std::nullopt;
  }
  const auto count = [](std::string_view digits) {
    return base::parse_number<std::uint32_t>(digits).value_or(0);
  };
  const nccl::Shape shape{count(text.substr(0, middle)), count(text.substr(middle + 1))};
  return shape.nodes > 0 && shape.gpus > 0 ? std::optional(shape) : std::nullopt;
}

void parse_system(io::Fields& fields, const ParseContext& context, CollectiveFile& file) {
  CollectiveSystem& system = file.system;
  if (const io::Json* json = fields.given("library")) {
    system.settings = read_library(*json, context);
  }
  system.node = node_source(fields.any("preset"), system.settings, context);
  read_shape(fields, context, file);
  system.ranks_per_node = read_ranks_per_node(fields, context);
  if (!system.shape) {
    const std::vector<std::int64_t>& counts = system.ranks_per_node;
    const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const bool counted = fields.has("shape") || fields.has("ranks_per_node");
    const std::int64_t of_nodes = std::max<std::int64_t>(sum, 1);
    file.collective.ranks = static_cast<std::uint32_t>(
        counted ? fields.integer_or("ranks", of_nodes) : fields.required_integer("ranks"));
    if (sum > 0 && file.collective.ranks != sum) {
      fields.refuse("ranks_per_node", "adds up to " + base::counted(sum, "rank") +
                                          ", but /ranks is " +
                                          std::to_string(file.collective.ranks));
    }
    return;
  }
  const std::uint32_t ranks = system.shape->nodes * system.shape->gpus;
  check_against_shape(fields, "ranks", *system.shape, ranks, "ranks");
  check_against_shape(fields, "gpus_per_node", *system.shape, system.shape->gpus, "GPUs per node");
  file.collective.ranks = ranks;
}

std::uint32_t gpus_per_node(io::Fields& fields, std::uint32_t machine_gpus, CollectiveFile& file) {
  const CollectiveSystem& system = file.system;
  if (!system.ranks_per_node.empty()) {
    return static_cast<std::uint32_t>(*std::ranges::max_element(system.ranks_per_node));
  }
  const auto given = fields.optional_integer("gpus_per_node");
  if (system.node) {
    note_override(file, fields, "gpus_per_node",
                  given && *given != static_cast<std::int64_t>(system.node->type.gpus));
  }
  if (given) {
    return static_cast<std::uint32_t>(*given);
  }
  if (system.shape) {
    return system.shape->gpus;
  }
  const std::uint32_t of_node = system.node ? system.node->type.gpus : 1;
  return machine_gpus > 0 ? machine_gpus : of_node;
}

// A topology has interfaces of its own.
std::uint32_t nics_per_node(io::Fields& fields, std::uint32_t gpus, CollectiveFile& file) {
  const auto given = fields.optional_integer("nics_per_node");
  const bool filled = file.system.node && !fields.has("topology");
  const std::uint32_t of_node = filled ? std::min(file.system.node->type.nics, gpus) : 1;
  if (filled) {
    note_override(file, fields, "nics_per_node", given && *given != std::int64_t{of_node});
  }
  return static_cast<std::uint32_t>(given.value_or(of_node));
}

void note_override(CollectiveFile& file, io::Fields& object, std::string_view key, bool differs) {
  if (differs && object.has(key)) {
    file.system.overrides.push_back(object.json().pointer() + "/" + std::string(key));
  }
}

void ask_library(const io::Json& tree, CollectiveFile& file) {
  io::Problems problems;
  CollectiveSystem& system = file.system;
  refuse_network(tree, problems);
  const auto operation = nccl::kOperations.find(collectives::name(file.collective.op));
  if (!operation) {
    problems.add(tree, "op",
                 std::string(collectives::name(file.collective.op)) + " is not in the library");
  }
  if (!system.node) {
    problems.add(tree, "algorithm",
                 "library needs a node type: /preset, or /library/calibration with a file of "
                 "stepsim-calibrate fit-library");
  }
  if (file.method != collectives::AskedMethod::automatic &&
      file.method != collectives::AskedMethod::closed_form) {
    problems.add(tree, "method", "has no meaning for algorithm library, which is a closed form");
  }
  problems.throw_if_any();
  const auto shape = shape_of(tree, file, problems);
  problems.throw_if_any();
  nccl::LibraryQuestion& question = *system.question;
  question = {.operation = *operation,
              .shape = *shape,
              .bytes = file.collective.bytes,
              .node = system.node->type,
              .calibration = system.settings.calibration.get(),
              .options = system.settings.options};
  const collectives::Links& links = file.collective.links;
  const auto overridden = [&](std::string_view key) {
    return std::ranges::find(system.overrides, tree.pointer() + std::string(key)) !=
           system.overrides.end();
  };
  for (const auto& [key, count] : {std::pair("nics_per_node", &question.node.nics),
                                   std::pair("nvlink_domain_nodes", &question.node.domain_nodes)}) {
    if (const io::Json* written = tree.find(key); written != nullptr && written->is_number()) {
      *count = static_cast<std::uint32_t>(written->as_double()); // of one node, as the model counts
    }
  }
  if (overridden(io::pointer_to<&CollectiveFile::bandwidth_Bps, "/network/">())) {
    question.node.nic_Bps = *file.bandwidth_Bps;
  }
  if (overridden(io::pointer_to<&CollectiveFile::bandwidth_Bps, "/intra_network/">())) {
    question.node.ring_Bps = 1 / links.two_level->intra.per_byte_s;
  }
  if (const io::Json* type = tree.find("element_type"); type != nullptr && type->is_string()) {
    question.options.element_type = nccl::kElementTypes.find(type->as_string());
  }
  try {
    (void)nccl::layout_of(question.node, question.shape);
  } catch (const UsageError& error) {
    problems.add(tree, system.shape ? "shape" : "ranks", error.what());
    problems.throw_if_any();
  }
  if (const auto why = library_problem(question)) {
    if (question.options.algorithms.empty()) {
      problems.add(tree, "library", *why);
    } else {
      problems.add(*tree.find("library"), "algorithms", *why);
    }
  }
  problems.throw_if_any();
}

collectives::CostByBytes cost_by_bytes(const CollectiveFile& file) {
  if (!file.system.question) {
    return collectives::cost_by_bytes(file.collective, file.collective.algorithm);
  }
  const auto calibration = file.system.settings.calibration; // which the question refers to
  return [calibration, cost = nccl::LibraryCost(*file.system.question)](double bytes) {
    return cost.seconds(bytes);
  };
}

} // namespace stepsim::study
