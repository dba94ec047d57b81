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
    file.shape = parse_shape(json->as_string());
  }
  if (!file.shape) {
    context.problems.add(*json, "must be NODESxGPUS, such as 10x8, got " + io::shown(*json));
  } else if (static_cast<double>(file.shape->nodes) * file.shape->gpus > keys::kMaxRanks) {
    context.problems.add(*json, "must be at most 1048576 ranks, got " + io::shown(*json));
    file.shape.reset();
  }
}

// "contradicts /shape 10x8, which has 80 ranks, got 79"
void check_against_shape(io::Fields& fields, std::string_view key, const nccl::Shape& shape,
                         std::int64_t of_shape, std::string_view noun) {
  if (const auto given = fields.optional_integer(key); given && *given != of_shape) {
    fields.refuse(key, "contradicts /shape {}, which has {} {}, got {}", nccl::text(shape),
                  of_shape, noun, *given);
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
  Cluster& cluster = file.cluster;
  if (const io::Json* json = fields.given("library")) {
    file.library = read_library(*json, context);
  }
  cluster.node = node_source(fields.any("preset"), file.library, context);
  read_shape(fields, context, file);
  const io::Json* counts = fields.given("ranks_per_node");
  if (counts != nullptr && counts->is_array()) {
    cluster.nodes = static_cast<std::int64_t>(counts->as_array().size());
  } else if (file.shape) {
    cluster.nodes = file.shape->nodes;
  }
  if (counts != nullptr && fields.has("shape")) {
    context.problems.add(*counts, "ranks_per_node and shape exclude each other");
  }
  read_counts(fields, context,
              file.shape     ? file.shape->gpus
              : cluster.node ? cluster.node->type.gpus
                             : 1,
              cluster);
  const bool counted = fields.has("shape") || counts != nullptr;
  file.collective.ranks = static_cast<std::uint32_t>(
      counted ? fields.integer_or("ranks", cluster.ranks()) : fields.required_integer("ranks"));
  if (file.shape) {
    const std::uint32_t ranks = file.shape->nodes * file.shape->gpus;
    check_against_shape(fields, "ranks", *file.shape, ranks, "ranks");
    check_against_shape(fields, "gpus_per_node", *file.shape, file.shape->gpus, "GPUs per node");
  } else if (counts != nullptr && file.collective.ranks != cluster.ranks()) {
    fields.refuse("ranks_per_node", "adds up to " + base::counted(cluster.ranks(), "rank") +
                                        ", but /ranks is " + std::to_string(file.collective.ranks));
  }
}

void ask_library(const io::Json& tree, CollectiveFile& file) {
  io::Problems problems;
  refuse_network(tree, problems);
  const auto operation = nccl::kOperations.find(collectives::name(file.collective.op));
  if (!operation) {
    problems.add(tree, "op",
                 std::string(collectives::name(file.collective.op)) + " is not in the library");
  }
  if (!file.cluster.node) {
    problems.add(tree, "algorithm",
                 "library needs a node type: /preset, or /library/calibration with a file of "
                 "stepsim-calibrate fit-library");
  }
  if (file.method != collectives::AskedMethod::automatic &&
      file.method != collectives::AskedMethod::closed_form) {
    problems.add(tree, "method", "has no meaning for algorithm library, which is a closed form");
  }
  problems.throw_if_any();
  // A last node that is not full has no cost of its own.
  const std::uint32_t ranks = file.collective.ranks;
  nccl::LibraryQuestion& question = *file.question;
  question = question_of(file.cluster, file.library);
  question.operation = *operation;
  question.bytes = file.collective.bytes;
  question.shape.gpus = std::min(question.shape.gpus, ranks);
  if (file.cluster.equal_nodes() && ranks % question.shape.gpus != 0) {
    problems.add(tree, "ranks", "{} ranks do not fill nodes of {} GPUs; give /shape NODESxGPUS",
                 ranks, question.shape.gpus);
    problems.throw_if_any();
  }
  if (const io::Json* type = tree.find("element_type"); type != nullptr && type->is_string()) {
    question.options.element_type = nccl::kElementTypes.find(type->as_string());
  }
  try {
    (void)nccl::layout_of(question.node, question.shape);
  } catch (const UsageError& error) {
    problems.add(tree, file.shape ? "shape" : "ranks", error.what());
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
  if (!file.question) {
    return collectives::cost_by_bytes(file.collective, file.collective.algorithm);
  }
  const auto calibration = file.library.calibration; // which the question refers to
  return [calibration, cost = nccl::LibraryCost(*file.question)](double bytes) {
    return cost.seconds(bytes);
  };
}

} // namespace stepsim::study
