// /training and /variability of a scenario (PIP 2, 9).
// Keys of all algorithms are read whatever the algorithm is, so that their values are checked; the
// feature matrix (rules.hpp) refuses those that do not count.

#include "scenario/scenario_parts.hpp"

#include "document/json_text.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using Algorithm = TrainingAlgorithm;

// A number or "optimal", which is an absent width.
void parse_width(io::Fields& fields, const ParseContext& context, Training& training) {
  if (const io::Json* width = fields.any("pipeline_width");
      width != nullptr && width->is_string()) {
    if (width->as_string() == "optimal") {
      training.pipeline_width.reset();
    } else {
      context.problems.add(*width, "must be an integer >= 1 or \"optimal\", got \"" +
                                       width->as_string() + "\"");
    }
  } else {
    training.pipeline_width = fields.integer("pipeline_width");
  }
}

// Widths that cannot work together are errors; those that merely change nothing are warnings.
void parse_pipeline(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Training& training = scenario.training;
  parse_width(fields, context, training);
  training.warmup_iterations = fields.integer(
      "warmup_iterations", io::between(0, static_cast<double>(training.iterations)), 0);
  parse_overlap(fields, context, scenario);
  if (training.algorithm != Algorithm::pipe_sgd) {
    return;
  }
  if (training.warmup_switch == programs::WarmupSwitch::block && training.pipeline_width != 2) {
    fields.refuse("warmup_switch", "the block switch is defined for width 2");
  }
  if (training.pipeline_width.value_or(2) > 1 && scenario.cluster.ranks() == 1) {
    scenario.warnings.emplace_back("one worker: pipeline_width is 1");
  }
  if (training.pipeline_width.value_or(1) > training.iterations) {
    scenario.warnings.emplace_back("pipeline_width is larger than iterations");
  }
}

// sharded is colocated with a server on every worker, so that the number of servers follows from
// the ranks.
void parse_server(io::Fields& fields, Scenario& scenario) {
  Training& training = scenario.training;
  collectives::Options& options = scenario.communication.options;
  const std::int64_t ranks = scenario.cluster.ranks();
  const bool bound_given = fields.any("staleness_bound") != nullptr;
  const auto bound = fields.optional_integer("staleness_bound");
  if (training.mode == ServerMode::ssp) {
    training.staleness_bound = bound;
    fields.refuse_if(!bound_given, "mode", "needs staleness_bound");
  }
  options.placement = fields.word("placement", collectives::kPlacements);
  const bool sharded = options.placement == collectives::Placement::sharded;
  const std::int64_t servers = fields.integer("servers", io::between(1, 1048576),
                                              sharded ? std::max<std::int64_t>(1, ranks) : 1);
  options.servers = static_cast<std::uint32_t>(servers);
  training.whole_split = fields.word("server_split") == "whole";
  if (training.algorithm == Algorithm::parameter_server) {
    scenario.communication.collective = collectives::AlgorithmId::parameter_server;
  }
}

// x1 and x2 are the ends of a line: they must differ.
void parse_convergence(io::Fields& fields, Training& training) {
  fields.object("convergence", [&](io::Fields& part) {
    Convergence convergence;
    io::read_bound(keys::kConvergenceRows, part, convergence);
    part.no_more();
    part.refuse_if(convergence.most <= convergence.harmless, "x2", "must be above x1 ({}), got {}",
                   base::shortest(convergence.harmless), base::shortest(convergence.most));
    training.convergence = convergence;
  });
}

// Each worker at most once: two factors for one worker would leave open whether they multiply.
void parse_stragglers(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  std::set<std::int64_t> seen;
  const auto ranks = static_cast<double>(std::max<std::int64_t>(1, scenario.cluster.ranks()));
  for (const io::Json& entry : fields.array("stragglers", false)) {
    io::Fields straggler(entry, context.problems, fields.row("stragglers").keys.front());
    const std::int64_t worker = straggler.integer("worker", io::between(0, ranks - 1));
    const double factor = straggler.number("factor");
    straggler.no_more();
    if (!seen.insert(worker).second) {
      context.problems.add(entry, "worker", "worker " + std::to_string(worker) + " appears twice");
    }
    scenario.variability.stragglers.push_back({static_cast<std::uint32_t>(worker), factor});
  }
}

void add_pipelined(const Scenario& scenario, io::Json& tree) {
  const Training& training = scenario.training;
  tree.set("pipeline_width",
           training.pipeline_width ? io::Json(*training.pipeline_width) : io::Json("optimal"));
  tree.set("warmup_iterations", training.warmup_iterations);
}

void add_servers(const Scenario& scenario, io::Json& tree) {
  const Training& training = scenario.training;
  const collectives::Options& options = scenario.communication.options;
  tree.set("staleness_bound", io::or_null(training.staleness_bound));
  tree.set("servers", static_cast<std::int64_t>(options.servers));
  tree.set("placement", collectives::kPlacements[options.placement]);
  io::set_if(!training.async() || is_simulated(scenario), tree, "server_split",
             training.whole_split ? "whole" : "even");
}

bool has_one_job(const Scenario& s) { return s.other_jobs.empty(); }
bool has_batch(const Scenario& s) { return s.workload.batch_size.has_value(); }
bool has_end(const Scenario& s) { return s.job.samples || s.job.tokens; }
bool has_tokens(const Scenario& s) { return s.job.tokens.has_value(); }
bool fails(const Scenario& s) { return s.job.node_mtbf_s.has_value(); }

constexpr std::array kJobRules{
    KeyRule{"/job", "the scenario has one job", has_one_job, "several jobs"},
    KeyRule{"/job/samples /job/tokens", "the workload has a batch size", has_batch,
            "a workload without batch_size"},
    KeyRule{"/job/tokens_per_sample", "tokens is given", has_tokens, "a training without tokens"},
    KeyRule{"/job/price_per_gpu_hour", "samples or tokens is given", has_end,
            "a training without samples and tokens"},
    KeyRule{"/job/checkpoint_s /job/restart_s", "node_mtbf_s is given", fails,
            "machines that never fail: no node_mtbf_s"},
};

} // namespace

void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Training& training = scenario.training;
  io::read_bound(keys::kTrainingRows, fields, training);
  if (training.discard_iterations.value_or(0) >= training.iterations) {
    fields.refuse("discard_iterations", "must be less than iterations ({}), got {}",
                  training.iterations, *training.discard_iterations);
  }
  const auto& profile = scenario.cluster.network.profile;
  training.host_copy_Bps = speed_or_calibrated(
      fields, "host_copy_Bps", profile ? profile->host_copy_Bps() : std::nullopt, context);
  // A trace times the update on its device; a number in the scenario is for another device or
  // optimizer.
  training.update = {fields.number_or("update_s", scenario.workload.update.value)};
  if (fields.has("reduced_precision")) {
    training.reduced_precision = fields.boolean("reduced_precision", false);
  }
  parse_pipeline(fields, context, scenario);
  parse_server(fields, scenario);
  parse_sharding(fields, context, scenario);
  parse_local(fields, context, scenario);
  parse_convergence(fields, training);
}

// A uniform law that stays above 0 with mean 1 has a coefficient of variation below 1 / sqrt(3); an
// exponential one has 1.
void parse_variability(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  layers::Variability& out = scenario.variability;
  out.seed = static_cast<std::uint64_t>(scenario.seed);
  out.law = fields.word("distribution", layers::kJitterLaws);
  const double most = out.law == layers::JitterLaw::uniform ? 1 / std::sqrt(3.0) : 1e3;
  out.compute_cv = fields.number("compute_cv", io::between(0, most), 0);
  out.exchange_cv = fields.number("exchange_cv", io::between(0, most), 0);
  for (const auto& [key, cv] : {std::pair{std::string_view("compute_cv"), out.compute_cv},
                                std::pair{std::string_view("exchange_cv"), out.exchange_cv}}) {
    fields.refuse_if(out.law == layers::JitterLaw::exponential && cv != 0 && cv != 1, key,
                     "must be 0 or 1 for distribution exponential, got " + base::shortest(cv));
  }
  const bool empirical = out.law == layers::JitterLaw::empirical;
  for (const io::Json& value : fields.array("factors", empirical)) {
    const io::Range range = fields.row("factors").keys.front().range;
    out.factors.push_back(io::checked_number(value, range, context.problems).value_or(1));
  }
  fields.refuse_if(empirical && fields.has("factors") && out.factors.empty(), "factors",
                   "needs at least one factor");
  parse_stragglers(fields, context, scenario);
  if (scenario.training.sync.value > 0 && out.varies()) {
    scenario.warnings.emplace_back("sync_s beside jitter or stragglers counts their waiting twice");
  }
}

// Asynchronous servers have no exchange to which a time could be added.
io::Json training_tree(const Scenario& scenario) {
  const Training& training = scenario.training;
  io::Json tree{io::Object{}};
  io::write_bound(keys::kTrainingRows, training, tree);
  tree.set("update_s", training.update.value);
  add_sharding(scenario, tree);
  add_pipelined(scenario, tree);
  if (needs_servers(training.algorithm)) {
    add_servers(scenario, tree);
  }
  add_local(scenario, tree);
  add_overlap(scenario, tree);
  io::set_given(tree, "reduced_precision", training.reduced_precision);
  if (const auto& convergence = training.convergence) {
    io::Json part{io::Object{}};
    io::write_bound(keys::kConvergenceRows, *convergence, part);
    tree.set("convergence", std::move(part));
  }
  return tree;
}

// The seed is not here: it is that of the scenario.
io::Json variability_tree(const layers::Variability& variability) {
  io::Array stragglers;
  for (const layers::Straggler& straggler : variability.stragglers) {
    stragglers.push_back(io::Object{{"worker", static_cast<std::int64_t>(straggler.worker)},
                                    {"factor", straggler.factor}});
  }
  io::Json tree = io::Object{{"compute_cv", variability.compute_cv},
                             {"exchange_cv", variability.exchange_cv},
                             {"distribution", layers::kJitterLaws[variability.law]},
                             {"stragglers", std::move(stragglers)}};
  io::set_given(tree, "factors", variability.factors);
  return tree;
}

void parse_job(io::Fields& fields, Scenario& scenario) {
  Job& job = scenario.job;
  io::read_bound(keys::kJobRows, fields, job);
  fields.refuse_if(job.samples && job.tokens, "tokens", "give samples or tokens, not both");
  if (job.tokens && !job.tokens_per_sample) {
    job.tokens_per_sample = scenario.workload_source.tokens;
    fields.refuse_if(!job.tokens_per_sample, "tokens",
                     "needs tokens_per_sample: this workload has no length of a sequence");
  }
  const auto& node = scenario.cluster.node;
  if ((job.samples || job.tokens) && !job.price_per_gpu_hour && node) {
    job.price_per_gpu_hour = node->price_per_gpu_hour;
  }
  for (const auto& [key, value] : {std::pair{std::string_view("checkpoint_s"), job.checkpoint_s},
                                   std::pair{std::string_view("restart_s"), job.restart_s}}) {
    fields.refuse_if(job.node_mtbf_s && !value, key, "required with node_mtbf_s");
  }
}

std::span<const KeyRule> job_rules() { return kJobRules; }

// Several training jobs on one fabric: `workload` is a list.
// Only the first job has the full scenario around it; of the others the workload is kept and the
// nodes, and run/network_figures.cpp makes scenarios of them when they run.

// A job differs from the others in its workload and its nodes; cluster, training and communication
// are common to all.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  const auto& list = top.array("workload", true);
  top.refuse_if(list.empty(), "workload", "needs at least one job");
  for (std::size_t j = 0; j < list.size(); ++j) {
    io::Fields fields(list[j], context.problems, keys::kJobs.front());
    Scenario job; // for its workload alone
    const std::int64_t nodes = fields.integer("nodes");
    parse_workload(fields, context, job);
    fields.no_more();
    if (j == 0) {
      scenario.workload_source = std::move(job.workload_source);
      scenario.workload = std::move(job.workload);
      scenario.first_job_nodes = nodes;
    } else {
      scenario.other_jobs.push_back(
          {std::move(job.workload_source), std::move(job.workload), nodes});
    }
  }
}

// Servers and even ranks are asked of every job by itself, because every job runs the collective
// among its own workers.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario) {
  const io::Json* place = tree.find("workload");
  if (place == nullptr || !place->is_array()) {
    scenario.first_job_nodes = scenario.cluster.nodes;
    return;
  }
  require_equal_nodes(scenario.cluster, "a list of jobs", *place, problems);
  std::vector<std::int64_t> counts{scenario.first_job_nodes};
  std::int64_t nodes = scenario.first_job_nodes;
  for (const OtherJob& job : scenario.other_jobs) {
    counts.push_back(job.nodes);
    nodes += job.nodes;
  }
  const collectives::Options& options = scenario.communication.options;
  const std::int64_t workers = std::ranges::min(counts) * scenario.cluster.gpus_per_node;
  if (scenario.communication.has_servers() &&
      options.placement == collectives::Placement::colocated && options.servers > workers) {
    problems.add(*io::resolve(tree, "/training"), "servers",
                 "every job has its own, on its workers: at most " + std::to_string(workers) +
                     ", as the smallest job has, got " + std::to_string(options.servers));
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const std::int64_t ranks = counts[j] * scenario.cluster.gpus_per_node;
    if (!collectives::takes_ranks(scenario.communication.collective,
                                  static_cast<std::uint32_t>(ranks))) {
      problems.add(place->as_array()[j], "nodes",
                   std::string(collectives::name(scenario.communication.collective)) +
                       " needs an even number of ranks, this job has " + std::to_string(ranks));
    }
  }
  if (nodes != scenario.cluster.nodes) {
    problems.add(*place, "the jobs have " + std::to_string(nodes) + " nodes, the cluster " +
                             std::to_string(scenario.cluster.nodes));
  }
  if (scenario.cluster.network.model == NetworkModel::alpha_beta) {
    problems.add(*place, "a list of jobs needs network model flow or packet");
  }
}

} // namespace stepsim::study
