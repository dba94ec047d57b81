// Chunks are real numbers in closed forms and whole elements where messages are simulated; the
// default follows the network model. Servers make parameter_server the collective, whatever
// `collective` says.

#include "scenario/scenario_parts.hpp"

#include "collectives/validate.hpp"
#include "document/json_text.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_schedule.hpp"

namespace stepsim::study {

namespace {

using collectives::AlgorithmId;
using collectives::Options;

// Keys that are read and written as they are.
constexpr auto kOptionMembers =
    io::members<&Options::reduction_mode, &Options::chunking, &Options::element_bytes,
                &Options::cost_form, &Options::lp_last_hop, &Options::exchange_sizes>;
constexpr auto kCommunicationMembers =
    io::members<&Communication::overlap_backward, &Communication::host_reduction,
                &Communication::next_forward>;

// Empty means all that fit.
std::vector<AlgorithmId> read_candidates(io::Fields& fields, collectives::Op op) {
  std::vector<AlgorithmId> candidates;
  for (const io::Json& word : fields.list("candidates", "algorithm")) {
    const auto algorithm =
        word.is_string() ? collectives::parse_algorithm(word.as_string()) : std::nullopt;
    const auto finding = algorithm ? collectives::candidate_finding(op, *algorithm) : std::nullopt;
    if (algorithm && !finding) {
      candidates.push_back(*algorithm);
      continue;
    }
    const io::Key& row = fields.row("candidates").keys.front();
    fields.problems().add(word,
                          finding ? *finding
                          : word.is_string()
                              ? base::unknown_word("algorithm", word.as_string(), row.words.all())
                              : "must be a word, got " + io::shown(word));
  }
  return candidates;
}

// `calibrated` and `library` name a cost and no algorithm: ring stands in until resolve_curve and
// resolve_library have found it.
void parse_collective(io::Fields& fields, const Scenario& scenario, Communication& out) {
  const io::Json* compression = fields.any("compression");
  const bool compressed = compression != nullptr && !compression->is_null() &&
                          compression_method(*compression) != collectives::CompressionMethod::none;
  const bool in_two = fields.word("exchange") == "reduce_broadcast";
  const std::string_view chosen =
      fields.word_or("collective", default_collective(scenario, compressed, in_two));
  out.calibrated = chosen == keys::kCalibrated;
  out.library = chosen == keys::kLibrary;
  out.collective =
      out.calibrated || out.library ? AlgorithmId::ring : *collectives::parse_algorithm(chosen);
  (void)fields.any("library"); // parse_library reads it
  read_options(fields, collectives::Op::allreduce, out.options);
}

// A gradient of unknown length must hold whole values of its type (4 bytes where that is unknown).
// Selecting and coding work on values, so that a size which cuts one in two is an error of the
// workload.
void check_whole_values(const io::Json& json, const ParseContext& context,
                        const layers::Workload& workload) {
  for (const layers::Gradient& gradient : workload.gradients) {
    const std::int64_t known = layers::dtype_bytes(gradient.dtype);
    const std::int64_t size = known > 0 ? known : 4;
    if (gradient.elements == 0 && gradient.bytes.value % size != 0) {
      context.problems.refuse(json, "{} bytes is not a whole number of {}-byte values",
                              gradient.bytes.value, size);
      return;
    }
  }
}

// Compressed messages leave the model of the library where dense ones would have it.
void warn_of_left_library(io::Fields& fields, Scenario& scenario) {
  const Communication& out = scenario.communication;
  const io::Json* asked = fields.any("collective");
  const bool open = asked == nullptr || asked->is_null() || *asked == io::Json(keys::kLibrary);
  if (open && scenario.cluster.ranks() > 1 && !needs_servers(scenario.training.algorithm) &&
      !trains_in_rounds(scenario.training) &&
      default_collective(scenario, false, out.reduce_broadcast) == keys::kLibrary) {
    scenario.warnings.push_back(fmt::format(
        "the model of the library is of dense gradients: messages of {} take the links of the "
        "cluster instead, and so does the dense step that they are compared with",
        collectives::row(out.compression.method).name));
  }
}

// `compression`, and the dense run that it is compared with.
void parse_compressed(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  const io::Json* json = fields.any("compression");
  if (json == nullptr || json->is_null()) {
    return;
  }
  Communication& out = scenario.communication;
  const collectives::CompressionMethod method = compression_method(*json);
  const CompressionUse use{.gradient_bytes = scenario.workload.bytes().value,
                           .elements = scenario.workload.values(),
                           .bytes_per_value = scenario.workload.bytes_per_value(),
                           .ranks = scenario.cluster.ranks(),
                           .gpus_per_node = scenario.cluster.gpus_of_domain(),
                           .schedule = out.schedule,
                           .algorithm = scenario.training.algorithm};
  const auto& profile = scenario.cluster.network.profile;
  collectives::CompressCosts costs =
      profile ? costs_of(*profile, method) : collectives::CompressCosts{};
  if (method == collectives::CompressionMethod::powersgd && !is_given(*json, "/costs") &&
      costs == collectives::CompressCosts{}) {
    const io::Json* rank = io::resolve(*json, "/rank");
    const bool known = rank != nullptr && rank->is_integer();
    costs = low_rank_costs(scenario, known ? rank->as_integer() : 0);
  }
  out.compression = parse_compression(*json, context, costs, use, scenario.warnings);
  if (method == collectives::CompressionMethod::none) {
    return;
  }
  check_whole_values(*json, context, scenario.workload);
  if (method == collectives::CompressionMethod::hierarchical_topk && !scenario.cluster.intra) {
    fields.refuse("compression", "hierarchical_topk needs /cluster/intra_network");
  }
  const auto is_matrix = [](const layers::Gradient& gradient) {
    return std::ranges::any_of(gradient.shapes, [](const collectives::MatrixShape& shape) {
      return shape.rows > 1 && shape.columns > 1;
    });
  };
  if (method == collectives::CompressionMethod::powersgd &&
      std::ranges::none_of(scenario.workload.gradients, is_matrix)) {
    scenario.warnings.emplace_back("powersgd: no gradient has a known shape, none is compressed");
  }
  // The dense run differs in compression and schedule only; everything else of the scenario is as
  // it is.
  const io::Json baseline = compression_baseline(*json);
  io::Fields dense(baseline, context.problems, keys::kSchedule);
  const buckets::Planner& planner =
      *buckets::find_planner(dense.word_or("schedule", buckets::planners().front().name));
  scenario.dense_baseline = out;
  scenario.dense_baseline->compression = {};
  scenario.dense_baseline->schedule = planner.schedule;
  scenario.dense_baseline->schedule_options = parse_schedule_options(dense, context, planner);
  dense.no_more();
  warn_of_left_library(fields, scenario);
}

// Bytes of a value on the wire; codecs of any ratio say only by how much they shrink it.
double sent_bytes(CodecMethod method, double value_bytes) {
  switch (method) {
  case CodecMethod::truncate16:
    return 2;
  case CodecMethod::quantize8:
  case CodecMethod::int8:
    return 1;
  case CodecMethod::fp4:
    return 0.5;
  case CodecMethod::none:
  case CodecMethod::custom_codec:
    break;
  }
  return value_bytes;
}

// "mst, be or lp"
std::string one_of(const std::vector<AlgorithmId>& algorithms) {
  const auto name_of = [](AlgorithmId each) { return collectives::name(each); };
  return base::joined(base::collected<std::string_view>(algorithms, name_of), " or ");
}

} // namespace

void read_options(io::Fields& fields, collectives::Op op, collectives::Options& options) {
  options.candidates = read_candidates(fields, op);
  if (const io::Json* block = fields.any("block_bytes");
      block != nullptr && !(block->is_string() && block->as_string() == "optimal")) {
    if (block->is_string() && !io::number_of(*block)) {
      fields.problems().add(*block,
                            "must be an integer >= 1 or \"optimal\", got " + io::shown(*block));
    } else if (const auto bytes = fields.optional_integer("block_bytes")) {
      options.block = Bytes{*bytes};
    }
  }
  io::read_members(kOptionMembers, fields, options);
  options.ring_startup_2p = fields.word("ring_startup") == "2P";
  options.intra_algorithm = *collectives::parse_algorithm(fields.word("intra_algorithm"));
  options.inter_algorithm = *collectives::parse_algorithm(fields.word("inter_algorithm"));
  const io::Json* chunks = fields.any("pipeline_chunks");
  if (chunks != nullptr && chunks->is_string() && chunks->as_string() == "optimal") {
    options.pipeline_chunks = std::nullopt;
  } else {
    options.pipeline_chunks =
        static_cast<std::uint32_t>(fields.optional_integer("pipeline_chunks").value_or(1));
  }
}

double speed_or_calibrated(io::Fields& fields, std::string_view key,
                           const std::optional<double>& measured, const ParseContext& context) {
  const io::Json* given = fields.any(key);
  if (given == nullptr || *given != io::Json(keys::kCalibrated)) {
    return fields.optional_number(key).value_or(0);
  }
  if (!measured) {
    context.problems.add(*given, "calibrated: /cluster/network names no calibration that has it");
  }
  return measured.value_or(0);
}

// The schedule comes before the compression, which depends on it (`k` needs the whole gradient in
// one message).
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Communication& out = scenario.communication;
  const TrainingAlgorithm algorithm = scenario.training.algorithm;
  const bool sync = algorithm == TrainingAlgorithm::sync_sgd;
  out.options.chunking = scenario.cluster.network.model == NetworkModel::alpha_beta
                             ? collectives::Chunking::real
                             : collectives::Chunking::integer;
  parse_collective(fields, scenario, out);
  if (needs_servers(algorithm)) {
    out.collective = AlgorithmId::parameter_server;
    out.calibrated = out.library = false;
  }
  parse_schedule(fields, context, scenario);
  out.reduce_broadcast = fields.word("exchange") == "reduce_broadcast" && sync;
  const auto trees = collectives::valid_algorithms(collectives::Op::reduce);
  fields.refuse_if(
      out.reduce_broadcast && std::ranges::find(trees, out.collective) == trees.end(), "collective",
      "reduce_broadcast needs " + one_of(trees) + ", got " + std::string(collective_word(out)));
  // Workers start again together when the last pull has ended (PIP 3.2, TRN 4.7). On simulated
  // networks, and with priorities, a layer waits for its own parts (PKT 7.2).
  const bool in_line = scenario.cluster.network.model == NetworkModel::alpha_beta &&
                       out.schedule != buckets::Schedule::priority;
  const bool pulls_once = algorithm == TrainingAlgorithm::parameter_server &&
                          !scenario.training.async() &&
                          (in_line || out.schedule == buckets::Schedule::single);
  out.next_forward = pulls_once ? programs::NextForward::barrier : programs::NextForward::per_layer;
  io::read_members(kCommunicationMembers, fields, out);
  const auto& profile = scenario.cluster.network.profile;
  out.copy_bandwidth_Bps = speed_or_calibrated(
      fields, "copy_bandwidth_Bps", profile ? profile->copy_bandwidth_Bps : std::nullopt, context);
  if (fields.has("plan_cost")) {
    io::Fields cost(*fields.any("plan_cost"), context.problems, fields.row("plan_cost"));
    out.plan_cost = {cost.number("startup_s"), cost.number("per_byte_s")};
    cost.no_more();
  }
  (void)fields.any("plan_cost");
  parse_compressed(fields, context, scenario);
  if (trains_in_rounds(scenario.training) && is_compressed(scenario)) {
    if (context.leftovers == Leftovers::refuse) {
      fields.refuse("compression", "compression has no meaning for " +
                                       std::string(kTrainingAlgorithms[algorithm]) +
                                       "; /training/outer_compression is that of outer exchanges");
    }
    out.compression = {};
    scenario.dense_baseline.reset();
  }
  if (const auto ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
      !collectives::takes_ranks(out.collective, ranks)) {
    fields.refuse("collective", std::string(collectives::name(out.collective)) +
                                    " needs an even number of ranks, got " + std::to_string(ranks));
  }
  fields.refuse_if(out.collective == AlgorithmId::hierarchical_leader &&
                       out.options.intra_algorithm == collectives::kNvls,
                   "intra_algorithm", "hierarchical_leader has no nvls inside a node; collnet has");
  if (collectives::is_two_level(out.collective) && !scenario.cluster.intra &&
      scenario.cluster.topology.is_null() && scenario.cluster.gpus_of_domain() > 1) {
    fields.refuse("collective",
                  std::string(collectives::name(out.collective)) + " needs /cluster/intra_network");
  }
}

ValueCodec parse_value_codec(io::Fields& fields, std::string_view key, const ParseContext& context,
                             double value_bytes) {
  ValueCodec codec;
  fields.object(key, [&](io::Fields& part) {
    codec.method = part.word("method", kCodecMethods);
    const bool none = codec.method == CodecMethod::none;
    part.refuse_if(codec.method == CodecMethod::custom_codec && !part.has("ratio"), "ratio",
                   "required (a number)");
    codec.ratio =
        part.number_or("ratio", std::max(1.0, value_bytes / sent_bytes(codec.method, value_bytes)));
    codec.encode_Bps = part.number("encode_Bps");
    codec.decode_Bps = part.number("decode_Bps");
    part.no_more();
    for (const std::string_view own : {"ratio", "encode_Bps", "decode_Bps"}) {
      context.needs_meaning(part, own, !none, "method none");
    }
    codec = none ? ValueCodec{} : codec;
  });
  return codec;
}

io::Json value_codec_tree(const ValueCodec& codec) {
  return io::Object{{"method", kCodecMethods[codec.method]},
                    {"ratio", codec.ratio},
                    {"encode_Bps", codec.encode_Bps},
                    {"decode_Bps", codec.decode_Bps}};
}

io::Json communication_tree(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const collectives::Options& options = communication.options;
  const io::Key& keys = *io::find_key(keys::kScenario, "communication");
  io::Json tree = io::write_members(kOptionMembers, keys, options);
  io::add(tree, io::write_members(kCommunicationMembers, keys, communication));
  io::add(tree,
          io::Object{
              {"schedule", buckets::planner(communication.schedule).name},
              {"collective", collective_word(communication)},
              {"exchange", communication.reduce_broadcast ? "reduce_broadcast" : "allreduce"},
              {"block_bytes", options.block ? io::Json(options.block->value) : io::Json("optimal")},
              {"ring_startup", options.ring_startup_2p ? "2P" : "2(P-1)"},
              {"intra_algorithm", collectives::name(options.intra_algorithm)},
              {"inter_algorithm", collectives::name(options.inter_algorithm)},
              {"pipeline_chunks", options.pipeline_chunks ? io::Json(static_cast<std::int64_t>(
                                                                *options.pipeline_chunks))
                                                          : io::Json("optimal")}});
  if (!options.candidates.empty()) {
    tree.set("candidates", io::write_each(options.candidates, [](AlgorithmId candidate) {
               return collectives::name(candidate);
             }));
  }
  io::set_given(tree, "copy_bandwidth_Bps", communication.copy_bandwidth_Bps);
  if (const auto& cost = communication.plan_cost) {
    tree.set("plan_cost",
             io::Object{{"startup_s", cost->startup_s}, {"per_byte_s", cost->per_byte_s}});
  }
  io::set_given(tree, "library", library_tree(communication));
  if (has_buckets(scenario.training)) {
    add_schedule_options(buckets::planner(communication.schedule), communication.schedule_options,
                         tree);
  }
  if (communication.compression.method != collectives::CompressionMethod::none) {
    tree.set("compression", compression_tree(communication.compression));
  }
  return tree;
}

} // namespace stepsim::study
