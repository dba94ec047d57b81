// The rows of the feature matrix: one per key and condition that depends on the whole scenario.
#include "scenario/rules.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/schedule/two_level.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

using collectives::AlgorithmId;
using collectives::CompressionMethod;

bool is_in_step(const Scenario& s) { return !s.training.async(); }
bool applies_at_once(const Scenario& s) {
  return !applies_late(s.training.algorithm) && is_in_step(s);
}
bool is_pipe(const Scenario& s) { return s.training.algorithm == TrainingAlgorithm::pipe_sgd; }
// alpha_beta takes from a topology only what nothing else gives.
bool topology_counts(const Scenario& s) {
  return s.cluster.topology_gives_latency || s.cluster.topology_gives_bandwidth;
}
bool has_two_levels(const Scenario& s) { return s.cluster.intra && s.cluster.gpus_of_domain() > 1; }
bool is_hierarchical(const Scenario& s) {
  return collectives::has_level_algorithms(s.communication.collective);
}
bool is_automatic(const Scenario& s) {
  return s.communication.collective == AlgorithmId::automatic;
}
// Buckets that are sent whole in the steps of sync_sgd: neither sharded, nor to servers, nor in two
// halves. asc_wfbp has the key wherever it is defined.
bool may_share_channel(const Scenario& s) {
  return s.communication.schedule == buckets::Schedule::asc_wfbp ||
         (is_sync(s) && !s.training.sharding.any() && !s.communication.has_servers() &&
          !s.communication.reduce_broadcast);
}
std::string one_message_word(const Scenario& s) {
  return !is_sync(s) ? training_word(s)
         : s.training.sharding.any()
             ? "sharding " + std::string(kShardingStrategies[s.training.sharding.strategy])
         : s.communication.reduce_broadcast ? "exchange reduce_broadcast"
                                            : "collective parameter_server";
}

// What stands in the way, in words.
std::string algorithm_word(const Scenario& s) {
  return s.training.async() ? "mode " + std::string(kServerModes[s.training.mode])
                            : std::string(kTrainingAlgorithms[s.training.algorithm]);
}
std::string method_word(const Scenario& s) {
  return "compression " + std::string(collectives::row(s.communication.compression.method).name);
}
std::string collective_word(const Scenario& s) {
  return "collective " + std::string(collectives::name(s.communication.collective));
}
std::string curve_word(const Scenario& s) {
  return s.training.exchange       ? "exchanges of a given exchange_s"
         : s.communication.library ? "the model of a library"
                                   : "measured exchanges";
}

// True where the evaluators of collectives tell how long a dense exchange takes.
bool is_evaluated(const Scenario& s) { return !has_curve(s); }

// Spreads switch the random factors on; the distribution and its list only shape them.
bool draws_factors(const Scenario& s) {
  return s.variability.compute_cv > 0 || s.variability.exchange_cv > 0;
}
constexpr const char* kSteadyWord = "times without spread: compute_cv and exchange_cv are 0";

// Links of a topology are cables: what they call latency is on the way and holds no host's port.
std::string delay_word(const Scenario& s) {
  return model_word(s) + ", where latency_s is such a delay already";
}
constexpr std::string_view kAlphaBeta = "the network model is alpha_beta";
// What messages at once have of a simulated link follows from the links.
bool has_no_links(const Scenario& s) { return !is_simulated(s); }
std::string shared_links_word(const Scenario& s) {
  return model_word(s) + ", whose links are shared";
}

bool is_library(const Scenario& s) { return s.communication.library; }

constexpr std::string_view kVarying = "compute_cv or exchange_cv is above 0";
constexpr std::string_view kEvaluated = "exchanges are neither measured nor given";
constexpr std::string_view kAppliesAtOnce =
    "the algorithm is neither pipe_sgd nor od_sgd nor asynchronous";
constexpr std::string_view kNotAsync = "training is not asynchronous";

// The third member says where the key has a meaning, the fourth what stands in the way in the
// scenario at hand: "block_bytes has no meaning for collective ring". A lambda without a capture
// converts to both.
constexpr std::array kRules{
    KeyRule{"/training/pipeline_width /training/max_width /training/width_tolerance "
            "/training/warmup_iterations /training/warmup_switch /training/drain",
            "the algorithm is pipe_sgd", is_pipe, "pipe_sgd", true},
    KeyRule{"/training/mode /training/staleness_bound /training/server_mode /training/server_split",
            "the algorithm is parameter_server",
            [](const Scenario& s) {
              return s.training.algorithm == TrainingAlgorithm::parameter_server;
            },
            "parameter_server", true},
    KeyRule{"/training/servers /training/placement",
            "the algorithm or the collective is parameter_server",
            [](const Scenario& s) { return s.communication.has_servers(); }, "parameter_server",
            true},
    KeyRule{"/cluster/network/count_headers", "the network model is flow",
            [](const Scenario& s) { return s.cluster.network.model == NetworkModel::flow; },
            model_word},
    KeyRule{"/cluster/network/packet", "the network model is flow or packet", is_simulated,
            model_word},
    KeyRule{
        "/cluster/network/latency_s /cluster/network/bandwidth_Bps /cluster/network/efficiency",
        "the network model is alpha_beta, or no topology is given",
        [](const Scenario& s) { return !is_simulated(s) || s.cluster.topology.is_null(); },
        [](const Scenario& s) { return model_word(s) + " with a topology, whose links count"; }},
    KeyRule{"/training/exchange_s /training/sync_s /training/wait_s /training/host_copy_Bps",
            kNotAsync, is_in_step, algorithm_word},
    KeyRule{"/training/input_s /training/input_pipelined",
            "training is neither asynchronous nor in rounds of local steps",
            [](const Scenario& s) { return is_in_step(s) && !trains_in_rounds(s.training); },
            algorithm_word},
    KeyRule{"/communication/collective", "the algorithm does not need servers",
            [](const Scenario& s) { return !needs_servers(s.training.algorithm); }, training_word},
    KeyRule{"/communication/plan_cost",
            "the buckets of the schedule depend on the cost of messages",
            [](const Scenario& s) { return buckets::planner(s.communication.schedule).reads_cost; },
            [](const Scenario& s) {
              return "schedule " + std::string(buckets::planner(s.communication.schedule).name);
            }},
    KeyRule{"/communication/plan_cost", kNotAsync, is_in_step, algorithm_word},
    KeyRule{"/communication/concurrency",
            "the schedule is asc_wfbp, or sync_sgd exchanges whole buckets in one all-reduce each",
            may_share_channel, one_message_word},
    KeyRule{"/communication/channel_shares", "concurrency is above 1",
            [](const Scenario& s) {
              return s.communication.schedule_options.concurrency > 1 && may_share_channel(s);
            },
            "one message at a time"},
    KeyRule{"/communication/channel_shares /communication/contention", kAlphaBeta, has_no_links,
            shared_links_word},
    KeyRule{"/communication/framework", "bucket_bytes is given, and first_bucket_bytes is not",
            [](const Scenario& s) {
              const buckets::ScheduleOptions& options = s.communication.schedule_options;
              return s.communication.schedule != buckets::Schedule::ddp ||
                     (options.bucket_bytes != buckets::kDefaultBucketBytes &&
                      !options.first_bucket_bytes);
            },
            "a first bucket of a known size"},
    KeyRule{"/communication/exchange", "the algorithm is sync_sgd", is_sync, training_word},
    KeyRule{"/communication/candidates", "the collective is auto", is_automatic, asked_collective},
    KeyRule{"/communication/library/name /communication/library/version "
            "/communication/library/choice /communication/library/residual "
            "/communication/library/algorithms /communication/library/protocols "
            "/communication/library/ll128 /communication/library/collnet",
            "the collective is library", is_library, asked_collective},
    KeyRule{"/communication/block_bytes",
            "the collective is auto, or sends in blocks on one of its levels",
            [](const Scenario& s) {
              const collectives::Algorithm& row =
                  collectives::algorithm(s.communication.collective);
              return is_automatic(s) || is_hierarchical(s) || row.block_streams > 0 ||
                     sends_chains(s.communication);
            },
            asked_collective},
    KeyRule{"/communication/lp_last_hop", "the collective is lp or auto",
            [](const Scenario& s) {
              return is_automatic(s) || s.communication.collective == AlgorithmId::lp;
            },
            asked_collective},
    KeyRule{"/communication/exchange_sizes", "sparse data is exchanged (stepsim collective)",
            [](const Scenario&) { return false; }, "a dense allreduce"},
    KeyRule{"/communication/inter_algorithm", "the collective has two levels", is_hierarchical,
            asked_collective},
    KeyRule{"/variability/factors", "the distribution is empirical",
            [](const Scenario& s) {
              return s.variability.law == layers::JitterLaw::empirical ||
                     s.variability.factors.empty();
            },
            [](const Scenario& s) {
              return "distribution " + std::string(layers::kJitterLaws[s.variability.law]);
            }},
    KeyRule{"/variability/factors", kVarying, draws_factors, kSteadyWord},
    KeyRule{"/variability/distribution", kVarying,
            [](const Scenario& s) {
              return draws_factors(s) || s.variability.law == layers::JitterLaw::lognormal;
            },
            kSteadyWord},
    KeyRule{"/method", kEvaluated, is_evaluated, curve_word},
    KeyRule{"/method", "training is not asynchronous, or the method is events",
            [](const Scenario& s) {
              return is_in_step(s) ||
                     s.method.value_or(collectives::Method::events) == collectives::Method::events;
            },
            algorithm_word},
    KeyRule{"/cluster/intra_network",
            "a node or an NVLink domain has several GPUs, or rank_placement is given",
            [](const Scenario& s) {
              return s.cluster.gpus_of_domain() > 1 || !s.cluster.rank_placement.is_null();
            },
            "one GPU a node"},
    KeyRule{
        "/cluster/topology",
        "the network is simulated, or the topology gives alpha_beta its latency or bandwidth",
        [](const Scenario& s) { return is_simulated(s) || (topology_counts(s) && !has_curve(s)); },
        [](const Scenario& s) {
          return model_word(s) + (has_curve(s) ? " with " + curve_word(s)
                                  : s.cluster.network.calibration.empty()
                                      ? " beside latency_s and bandwidth_Bps"
                                      : " beside a calibration");
        }},
    KeyRule{"/cluster/rank_placement", "a topology counts",
            [](const Scenario& s) { return is_simulated(s) || topology_counts(s); },
            "a cluster without a topology"},
    KeyRule{"/cluster/network/delay_s", kAlphaBeta, has_no_links, delay_word},
    KeyRule{"/cluster/network/block_latency_s",
            "the network model is alpha_beta and the collective can send in blocks",
            [](const Scenario& s) {
              const Communication& communication = s.communication;
              return !is_simulated(s) &&
                     may_send_blocks(communication, communication.options.inter_algorithm);
            },
            [](const Scenario& s) { return is_simulated(s) ? model_word(s) : collective_word(s); }},
    KeyRule{"/cluster/intra_network/block_latency_s", "the collective can send in blocks",
            [](const Scenario& s) {
              return may_send_blocks(s.communication, s.communication.options.intra_algorithm);
            },
            collective_word},
    KeyRule{"/cluster/network/cost", "gradients are dense: not compressed, or fp16",
            [](const Scenario& s) {
              return collectives::row(s.communication.compression.method).kind ==
                     collectives::CompressionKind::dense;
            },
            method_word},
    KeyRule{"/cluster/network/cost", kNotAsync, is_in_step, algorithm_word},
    KeyRule{"/cluster/network/cost", "exchange_s is not given",
            [](const Scenario& s) { return !s.training.exchange; }, curve_word},
    KeyRule{"/training/exchange_s", "gradients are not compressed",
            [](const Scenario& s) { return !is_compressed(s); }, method_word},
    KeyRule{"/training/discard_iterations", kAppliesAtOnce, applies_at_once,
            [](const Scenario& s) {
              return algorithm_word(s) + ", which counts the second half of a run";
            }},
    KeyRule{"/training/input_pipelined", "input_s is above 0",
            [](const Scenario& s) { return s.training.input.value > 0; },
            "training without input_s"},
    KeyRule{"/training/max_width /training/width_tolerance", "pipeline_width is optimal",
            [](const Scenario& s) { return !is_pipe(s) || !s.training.pipeline_width; },
            "a given pipeline_width"},
    KeyRule{"/training/warmup_switch", "warmup_iterations is above 0",
            [](const Scenario& s) { return !is_pipe(s) || s.training.warmup_iterations > 0; },
            "training without warmup_iterations"},
    KeyRule{"/communication/next_forward", kAppliesAtOnce, applies_at_once, algorithm_word},
    KeyRule{"/communication/overlap_backward /communication/copy_bandwidth_Bps", kNotAsync,
            is_in_step, algorithm_word},
    KeyRule{"/communication/candidates /communication/block_bytes /communication/reduction_mode "
            "/communication/chunking /communication/cost_form",
            kEvaluated, is_evaluated, curve_word},
    KeyRule{"/communication/element_bytes",
            "it is 1, or chunking is integer and exchanges are neither measured nor given",
            [](const Scenario& s) {
              const collectives::Options& options = s.communication.options;
              return options.element_bytes == 1 ||
                     (options.chunking == collectives::Chunking::integer && is_evaluated(s));
            },
            [](const Scenario& s) {
              return is_evaluated(s) ? std::string("chunking real, which cuts anywhere")
                                     : curve_word(s);
            }},
    KeyRule{"/communication/reduction_mode",
            "it is overlapped, or ranks add what they receive: there are no servers",
            [](const Scenario& s) {
              return s.communication.options.reduction_mode ==
                         collectives::ReductionMode::overlapped ||
                     !s.communication.has_servers();
            },
            "servers, which add after the last push"},
    KeyRule{"/communication/cost_form", kNotAsync, is_in_step, algorithm_word},
    KeyRule{"/communication/cost_form",
            "it is exact, the collective has two levels or a node has one GPU",
            [](const Scenario& s) {
              return s.communication.options.cost_form == collectives::CostForm::exact ||
                     !has_two_levels(s) || is_hierarchical(s);
            },
            [](const Scenario& s) { return collective_word(s) + " on nodes with several GPUs"; }},
    KeyRule{"/communication/lp_last_hop /communication/intra_algorithm "
            "/communication/inter_algorithm /communication/ring_startup",
            kEvaluated, is_evaluated, curve_word},
    KeyRule{"/communication/ring_startup", "the collective is ring",
            [](const Scenario& s) { return s.communication.collective == AlgorithmId::ring; },
            collective_word},
    KeyRule{"/communication/ring_startup", "the network model is alpha_beta and a node has one GPU",
            [](const Scenario& s) {
              return !is_simulated(s) && (!s.cluster.intra || s.cluster.gpus_of_domain() == 1);
            },
            [](const Scenario& s) {
              return is_simulated(s) ? model_word(s) : std::string("nodes with several GPUs");
            }},
    KeyRule{"/communication/compression/baseline /communication/compression/scale_agreement",
            kNotAsync, is_in_step, algorithm_word},
    KeyRule{"/communication/compression/index_bytes", "the method is not omnireduce",
            [](const Scenario& s) {
              return s.communication.compression.method != CompressionMethod::omnireduce;
            },
            method_word},
    KeyRule{"/communication/compression/value_bytes",
            "the method sends whole values: not bits, signs or blocks",
            [](const Scenario& s) {
              return !collectives::row(s.communication.compression.method).no_values;
            },
            method_word},
    KeyRule{"/variability/exchange_cv", kNotAsync,
            [](const Scenario& s) { return is_in_step(s) || s.variability.exchange_cv == 0; },
            algorithm_word},
};

} // namespace

const std::vector<KeyRule>& key_rules() {
  static const std::vector<KeyRule> kAll = [] {
    std::vector<KeyRule> all;
    for (const std::span<const KeyRule> rules : {std::span<const KeyRule>(kRules), object_rules(),
                                                 conditions_rules(), job_rules(), packet_rules()}) {
      for (const KeyRule& rule : rules) {
        for (const std::string_view pointer : io::words_of(rule.pointer)) {
          all.push_back(rule);
          all.back().pointer = pointer;
        }
      }
    }
    return all;
  }();
  return kAll;
}

} // namespace stepsim::study
