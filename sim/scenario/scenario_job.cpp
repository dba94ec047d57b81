#include "scenario/scenario_parts.hpp"

#include <array>
#include <string>

#include "scenario/keys/job_keys.hpp"

namespace stepsim::study {

void parse_job(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Job& job = scenario.job;
  io::read_bound(keys::kJobRows, fields, job);
  if (job.samples && job.tokens) {
    context.problems.add(fields.json(), "tokens", "give samples or tokens, not both");
  }
  if (job.tokens && !job.tokens_per_sample) {
    job.tokens_per_sample = scenario.workload_source.tokens;
    if (!job.tokens_per_sample) {
      context.problems.add(fields.json(), "tokens",
                           "needs tokens_per_sample: the workload is no model of a sequence");
    }
  }
  const auto& node = scenario.cluster.node;
  if ((job.samples || job.tokens) && !job.price_per_gpu_hour && node) {
    job.price_per_gpu_hour = node->price_per_gpu_hour;
  }
  for (const auto& [key, value] : {std::pair{std::string_view("checkpoint_s"), job.checkpoint_s},
                                   std::pair{std::string_view("restart_s"), job.restart_s}}) {
    if (job.node_mtbf_s && !value) {
      context.problems.add(fields.json(), key, "required with node_mtbf_s");
    }
  }
}

namespace {

bool has_one_job(const Scenario& s) { return s.other_jobs.empty(); }
bool has_batch(const Scenario& s) { return s.workload.batch_size.has_value(); }
bool has_end(const Scenario& s) { return s.job.samples || s.job.tokens; }
bool has_tokens(const Scenario& s) { return s.job.tokens.has_value(); }
bool fails(const Scenario& s) { return s.job.node_mtbf_s.has_value(); }
std::string batch_word(const Scenario&) { return "a workload without batch_size"; }
std::string failure_word(const Scenario&) { return "machines that never fail: no node_mtbf_s"; }

constexpr std::string_view kBatch = "the workload has a batch size";
constexpr std::string_view kFails = "node_mtbf_s is given";

constexpr std::array kJobRules{
    KeyRule{"/job", "the scenario has one job", has_one_job,
            [](const Scenario&) { return std::string("several jobs"); }},
    KeyRule{"/job/samples", kBatch, has_batch, batch_word},
    KeyRule{"/job/tokens", kBatch, has_batch, batch_word},
    KeyRule{"/job/tokens_per_sample", "tokens is given", has_tokens,
            [](const Scenario&) { return std::string("a training without tokens"); }},
    KeyRule{"/job/price_per_gpu_hour", "samples or tokens is given", has_end,
            [](const Scenario&) { return std::string("a training without samples and tokens"); }},
    KeyRule{"/job/checkpoint_s", kFails, fails, failure_word},
    KeyRule{"/job/restart_s", kFails, fails, failure_word},
};

} // namespace

void add_job_rules(std::vector<KeyRule>& all) {
  all.insert(all.end(), kJobRules.begin(), kJobRules.end());
}

} // namespace stepsim::study
