// Several training jobs on one fabric: `workload` is a list.
// Only the first job has the full scenario around it; of the others the workload is kept and the
// nodes, and run/network_setup.cpp makes scenarios of them when they run.
#include "scenario/scenario_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithms.hpp"
#include "document/json_text.hpp"
#include "scenario/keys/workload_keys.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

// A job differs from the others in its workload and its nodes; cluster, training and communication
// are common to all.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  const auto& list = top.array("workload", true);
  if (list.empty()) {
    context.problems.add(top.json(), "workload", "needs at least one job");
  }
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
  std::int64_t nodes = scenario.first_job_nodes;
  std::int64_t smallest = scenario.first_job_nodes;
  for (const OtherJob& job : scenario.other_jobs) {
    nodes += job.nodes;
    smallest = std::min(smallest, job.nodes);
  }
  const collectives::Options& options = scenario.communication.options;
  const std::int64_t workers = smallest * scenario.cluster.gpus_per_node;
  if (scenario.communication.collective == collectives::AlgorithmId::parameter_server &&
      options.placement == collectives::Placement::colocated && options.servers > workers) {
    problems.add(*io::resolve(tree, "/training"), "servers",
                 "every job has its own, on its workers: at most " + std::to_string(workers) +
                     ", as the smallest job has, got " + std::to_string(options.servers));
  }
  std::vector<std::int64_t> counts{scenario.first_job_nodes};
  for (const OtherJob& job : scenario.other_jobs) {
    counts.push_back(job.nodes);
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
