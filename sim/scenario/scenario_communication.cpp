#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "coll/validate.hpp"
#include "scenario/profile_costs.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

using coll::AlgorithmId;
using Words = std::vector<std::string_view>;

bool is_one_of(AlgorithmId algorithm, std::initializer_list<AlgorithmId> list) {
  return std::ranges::find(list, algorithm) != list.end();
}

std::vector<AlgorithmId> parse_candidates(io::Fields& fields, const ParseContext& context) {
  std::vector<AlgorithmId> candidates;
  const auto list = fields.array("candidates", false);
  if (fields.has("candidates") && list.empty()) {
    context.problems.add(fields.json(), "candidates", "needs at least one algorithm");
  }
  for (const io::Json& word : list) {
    const auto algorithm =
        word.is_string() ? coll::parse_algorithm(word.as_string()) : std::nullopt;
    if (!algorithm || *algorithm == AlgorithmId::automatic) {
      context.problems.add(word, "must be the name of an allreduce algorithm");
    } else if (const auto finding = coll::candidate_finding(coll::Op::allreduce, *algorithm)) {
      context.problems.add(word, *finding);
    } else {
      candidates.push_back(*algorithm);
    }
  }
  return candidates;
}

AlgorithmId parse_level(io::Fields& fields, std::string_view key,
                        const std::vector<AlgorithmId>& offered, AlgorithmId fallback) {
  Words words;
  std::size_t fallback_index = 0;
  for (const AlgorithmId algorithm : offered) {
    fallback_index = algorithm == fallback ? words.size() : fallback_index;
    words.push_back(coll::name(algorithm));
  }
  return offered[fields.word(key, words, fallback_index)];
}

void parse_collective(io::Fields& fields, const ParseContext& context, Communication& out) {
  std::vector<AlgorithmId> offered = coll::valid_algorithms(coll::Op::allreduce);
  if (std::ranges::find(offered, AlgorithmId::automatic) == offered.end()) {
    offered.push_back(AlgorithmId::automatic);
  }
  Words words;
  std::size_t ring = 0;
  for (const AlgorithmId algorithm : offered) {
    ring = algorithm == AlgorithmId::ring ? words.size() : ring;
    words.push_back(coll::name(algorithm));
  }
  words.push_back("calibrated");
  const std::size_t chosen = fields.word("collective", words, ring);
  out.calibrated = chosen == offered.size();
  out.collective = out.calibrated ? AlgorithmId::ring : offered[chosen];
  const AlgorithmId algorithm = out.collective;
  const std::string where = "collective " + std::string(words[chosen]);
  const bool automatic = algorithm == AlgorithmId::automatic;
  coll::Options& options = out.options;

  options.candidates = parse_candidates(fields, context);
  context.needs_meaning(fields, "candidates", automatic, where);
  if (const io::Json* block = fields.any("block_bytes");
      block != nullptr && !(block->is_string() && block->as_string() == "optimal")) {
    const auto bytes = fields.optional_integer("block_bytes", io::at_least(1));
    options.block = bytes ? std::optional<Bytes>(Bytes{*bytes}) : std::nullopt;
  }
  const bool blocked =
      automatic ||
      is_one_of(algorithm, {AlgorithmId::lp, AlgorithmId::double_binary_tree,
                            AlgorithmId::hierarchical, AlgorithmId::hierarchical_leader});
  context.needs_meaning(fields, "block_bytes", blocked, where);
  options.reduction_mode =
      fields.word("reduction_mode", coll::kReductionModes, coll::ReductionMode::overlapped);
  options.chunking = fields.word("chunking", coll::kChunkings, options.chunking);
  options.element_bytes = fields.integer("element_bytes", io::at_least(1), 1);
  options.cost_form = fields.word("cost_form", coll::kCostForms, coll::CostForm::exact);
  static constexpr std::array<std::string_view, 2> kStartup{"2(P-1)", "2P"};
  options.ring_startup_2p = fields.word("ring_startup", kStartup, 0) == 1;
  options.lp_last_hop = fields.boolean("lp_last_hop", true);
  context.needs_meaning(fields, "lp_last_hop", automatic || algorithm == AlgorithmId::lp, where);
  options.exchange_sizes = fields.boolean("exchange_sizes", false);
  context.needs_meaning(fields, "exchange_sizes", false, "a dense allreduce");
  const std::vector<AlgorithmId> trees{AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp};
  options.intra_algorithm = parse_level(fields, "intra_algorithm", trees, AlgorithmId::mst);
  context.needs_meaning(fields, "intra_algorithm", algorithm == AlgorithmId::hierarchical_leader,
                        where);
  const std::vector<AlgorithmId> flat{AlgorithmId::mst,
                                      AlgorithmId::be,
                                      AlgorithmId::bruck,
                                      AlgorithmId::ring,
                                      AlgorithmId::recursive_doubling,
                                      AlgorithmId::lp,
                                      AlgorithmId::double_binary_tree};
  options.inter_algorithm = parse_level(fields, "inter_algorithm", flat, AlgorithmId::ring);
  context.needs_meaning(
      fields, "inter_algorithm",
      is_one_of(algorithm, {AlgorithmId::hierarchical, AlgorithmId::hierarchical_leader}), where);
}

// A gradient of unknown length must hold whole values of its type (4 bytes where that is unknown).
void check_whole_values(const io::Json& json, const ParseContext& context,
                        const train::Workload& workload) {
  for (const train::Gradient& gradient : workload.gradients) {
    const std::int64_t known = train::dtype_bytes(gradient.dtype);
    const std::int64_t size = known > 0 ? known : 4;
    if (gradient.elements == 0 && gradient.bytes.value % size != 0) {
      context.problems.add(json, std::to_string(gradient.bytes.value) +
                                     " bytes is not a whole number of " + std::to_string(size) +
                                     "-byte values");
      return;
    }
  }
}

// `compression`, and the dense run that it is compared with.
void parse_compressed(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  const io::Json* json = fields.any("compression");
  if (json == nullptr || json->is_null()) {
    return;
  }
  Communication& out = scenario.communication;
  const coll::CompressionMethod method = compression_method(*json);
  const CompressionUse use{.gradient_bytes = scenario.workload.bytes().value,
                           .elements = scenario.workload.values(),
                           .bytes_per_value = scenario.workload.bytes_per_value(),
                           .ranks = scenario.cluster.ranks(),
                           .gpus_per_node = scenario.cluster.gpus_per_node,
                           .schedule = out.schedule,
                           .algorithm = scenario.training.algorithm};
  const auto& profile = scenario.cluster.network.profile;
  const coll::CompressCosts costs = profile ? costs_of(*profile, method) : coll::CompressCosts{};
  out.compression = parse_compression(*json, context, costs, use, scenario.warnings);
  if (method == coll::CompressionMethod::none) {
    return;
  }
  check_whole_values(*json, context, scenario.workload);
  if (method == coll::CompressionMethod::hierarchical_topk && !scenario.cluster.intra) {
    context.problems.add(fields.json(), "compression",
                         "hierarchical_topk needs /cluster/intra_network");
  }
  const auto is_matrix = [](const train::Gradient& gradient) {
    return std::ranges::any_of(gradient.shapes, [](const coll::MatrixShape& shape) {
      return shape.rows > 1 && shape.columns > 1;
    });
  };
  if (method == coll::CompressionMethod::powersgd &&
      std::ranges::none_of(scenario.workload.gradients, is_matrix)) {
    scenario.warnings.emplace_back("powersgd: no gradient has a known shape, none is compressed");
  }
  Words words;
  for (const plan::Planner& planner : plan::planners()) {
    words.push_back(planner.name);
  }
  const io::Json baseline = compression_baseline(*json);
  io::Fields dense(baseline, context.problems);
  const plan::Planner& planner = plan::planners()[dense.word("schedule", words, 0)];
  scenario.dense_baseline = out;
  scenario.dense_baseline->compression = {};
  scenario.dense_baseline->schedule = planner.schedule;
  scenario.dense_baseline->schedule_options = parse_schedule_options(dense, context, planner);
  dense.no_more();
}

} // namespace

void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Communication& out = scenario.communication;
  const TrainingAlgorithm algorithm = scenario.training.algorithm;
  const bool sync = algorithm == TrainingAlgorithm::sync_sgd;
  out.options.chunking = scenario.cluster.network.model == NetworkModel::alpha_beta
                             ? coll::Chunking::real
                             : coll::Chunking::integer;
  parse_collective(fields, context, out);
  if (algorithm == TrainingAlgorithm::parameter_server) {
    context.needs_meaning(fields, "collective", false, "parameter_server");
    out.collective = AlgorithmId::parameter_server;
    out.calibrated = false;
  }
  parse_schedule(fields, context, scenario);
  static constexpr std::array<std::string_view, 2> kExchange{"allreduce", "reduce_broadcast"};
  out.reduce_broadcast = fields.word("exchange", kExchange, 0) == 1 && sync;
  context.needs_meaning(fields, "exchange", sync, kTrainingAlgorithms[algorithm]);
  const auto trees = coll::valid_algorithms(coll::Op::reduce);
  if (out.reduce_broadcast && std::ranges::find(trees, out.collective) == trees.end()) {
    context.problems.add(fields.json(), "collective",
                         "reduce_broadcast needs mst, be or lp, got " +
                             std::string(coll::name(out.collective)));
  }
  out.overlap_backward = fields.boolean("overlap_backward", true);
  out.next_forward =
      fields.word("next_forward", train::kNextForwards, train::NextForward::per_layer);
  out.copy_bandwidth_Bps = fields.optional_number("copy_bandwidth_Bps", io::above(0)).value_or(0);
  parse_compressed(fields, context, scenario);
  const bool two_level = coll::AlgorithmId::hierarchical == out.collective ||
                         coll::AlgorithmId::hierarchical_leader == out.collective;
  if (two_level && !scenario.cluster.intra) {
    context.problems.add(fields.json(), "collective",
                         std::string(coll::name(out.collective)) + " needs /cluster/intra_network");
  }
}

} // namespace stepsim::study
