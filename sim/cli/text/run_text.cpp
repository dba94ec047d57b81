// The text has the order in which a user asks: what was run, where the time of an iteration goes,
// what that means, and the details (buckets, trace, jobs, links). Numbers that a result lacks leave
// out their line; nothing is computed here but shares and ratios.
#include "cli/text/answer_texts.hpp"

#include "run/memory_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "scenario/scenario_schedule.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kMaxBuckets = 40; // rows shown; all of them are in the JSON

std::string delay_text(double seconds) {
  return seconds > 0 ? " and " + base::readable_seconds(seconds) + " of delay" : "";
}

// Where links inside the nodes set the time of a large message, a faster network changes nothing.
std::string limit_text(const study::Scenario& scenario) {
  nccl::LibraryQuestion question = *scenario.communication.question;
  question.bytes = 1e9;
  if (scenario.training.sharding.any()) {
    question.operation = nccl::Operation::allgather; // a ring, where an all-reduce may use switches
  }
  const nccl::Limit limit = nccl::predict(question).limited_by;
  const bool inside =
      limit == nccl::Limit::mix || limit == nccl::Limit::nvlink || limit == nccl::Limit::pcie;
  return inside && question.shape.nodes > 1 ? ", large messages bound by links inside the nodes"
                                            : "";
}

// The network without a topology: one rate and one latency. The rate is the effective one, with the
// efficiency of the scenario applied.
std::string network_text(const study::Scenario& scenario) {
  const study::Cluster& cluster = scenario.cluster;
  const study::Network& network = cluster.network;
  std::string text;
  if (!cluster.has_network) {
    text = "one node";
  } else if (network.curve) {
    text = "alpha_beta, cost of a message from " + network.curve_source +
           (scenario.communication.question ? limit_text(scenario) : "");
  } else {
    text = "alpha_beta, " + base::readable_rate(network.bandwidth_Bps * network.efficiency) + ", " +
           base::readable_seconds(network.latency_s) + " per message" + delay_text(network.delay_s);
    if (network.reduction_Bps > 0) {
      text += ", adding at " + base::readable_rate(network.reduction_Bps);
    }
  }
  if (!network.calibration.empty()) {
    text += "; profile " + network.calibration + " (" + network.label +
            (network.grade.empty() ? "" : ", grade " + network.grade) + ")";
  }
  if (cluster.intra && cluster.gpus_of_domain() > 1) {
    text +=
        "; inside a node " + base::readable_rate(1 / cluster.intra->per_byte_s) + ", " +
        base::readable_seconds(cluster.intra->latency_s) + " per message" +
        delay_text(cluster.intra->delay_s) +
        (cluster.intra_calibration.empty() ? "" : " (profile " + cluster.intra_calibration + ")");
  }
  return text;
}

// For the algorithms that exchange in other ways than all workers together in each iteration.
std::string training_text(const study::Result& result) {
  const study::Training& training = result.scenario->training;
  if (training.algorithm == study::TrainingAlgorithm::pipe_sgd) {
    return "pipe_sgd, width " + base::shortest(result.summary.pipeline_width.value_or(1)) + ", " +
           std::to_string(training.warmup_iterations) + " iterations of warm-up";
  }
  if (training.algorithm != study::TrainingAlgorithm::parameter_server) {
    return std::string(study::kTrainingAlgorithms[training.algorithm]);
  }
  const collectives::Options& options = result.scenario->communication.options;
  const bool sharded = options.placement == collectives::Placement::sharded;
  const bool colocated = options.placement == collectives::Placement::colocated;
  return std::string("parameter_server, ") + std::string(study::kServerModes[training.mode]) +
         (training.staleness_bound
              ? " with bound " + std::to_string(*training.staleness_bound) + ", "
              : ", ") +
         base::counted(sharded ? result.scenario->cluster.exchange_ranks() : options.servers,
                       sharded     ? "sharded server"
                       : colocated ? "colocated server"
                                   : "dedicated server");
}

// "" without a codec, so that it can stand in front of any exchange.
std::string codec_text(const collectives::Compression& compression, const char* behind) {
  return compression.method == collectives::CompressionMethod::none
             ? ""
             : std::string(collectives::row(compression.method).name) + behind;
}

// Sparse and encoded methods have exchanges of their own; dense ones and codecs travel in the
// collective.
std::string exchange_text(const study::Communication& communication) {
  const collectives::Compression& compression = communication.compression;
  const collectives::CompressionRow& row = collectives::row(compression.method);
  const std::string dense(study::collective_word(communication));
  switch (row.kind) {
  case collectives::CompressionKind::dense:
  case collectives::CompressionKind::codec:
    return codec_text(compression, " in ") + dense +
           (communication.reduce_broadcast ? " reduce and broadcast" : " allreduce");
  case collectives::CompressionKind::sparse:
    return std::string(row.name) +
           (compression.density ? ", density " + base::significant(*compression.density) : "");
  case collectives::CompressionKind::encoded:
    if (compression.method == collectives::CompressionMethod::custom) { // "mine (custom), ring"
      const std::string& name = compression.custom.name;
      return (name.empty() ? "custom" : base::printable(name) + " (custom)") + ", " +
             std::string(collectives::kCustomExchanges[compression.custom.exchange]);
    }
    return std::string(row.name);
  }
  return dense;
}

// Whether workers push whole gradients to a server instead of buckets: asynchronous ones, and
// synchronous ones that differ from each other. Such runs have no buckets to list.
bool is_server(const study::Result& result) {
  return result.scenario->training.algorithm == study::TrainingAlgorithm::parameter_server &&
         result.buckets.empty();
}

// Everything that decides the result and that a user might have got wrong in the file: scenario,
// workers, network, algorithm, exchange and the method that computed it.
std::string setting_text(const study::Result& result) {
  const study::Scenario& scenario = *result.scenario;
  const study::Cluster& cluster = scenario.cluster;
  const std::string rounds = rounds_text(result);
  const std::string bytes =
      base::readable_bytes(static_cast<double>(scenario.workload.bytes().value));
  const study::ShardingStrategy strategy = scenario.training.sharding.strategy;
  const std::string exchange = strategy == study::ShardingStrategy::none
                                   ? exchange_text(scenario.communication)
                                   : std::string(study::collective_word(scenario.communication)) +
                                         ", " + sharded_exchange_text(result);
  return labelled(
      {{"scenario", (scenario.name.empty() ? std::string("unnamed") : scenario.name) + ", " +
                        scenario.workload.name + " with " +
                        std::string(layers::kProvenances[scenario.workload.provenance]) +
                        " layer times"},
       {"workers", std::to_string(cluster.ranks()) + " (" + base::counted(cluster.nodes, "node") +
                       " x " + (cluster.equal_nodes() ? "" : "up to ") +
                       std::to_string(cluster.gpus_per_node) + cards_text(cluster) + ")"},
       {"network", cluster.fabric ? fabric_text(cluster) : network_text(scenario)},
       {"training", !rounds.empty() ? rounds
                    : scenario.training.algorithm == study::TrainingAlgorithm::sync_sgd
                        ? sharding_text(result)
                        : training_text(result)},
       {"exchange", !rounds.empty()              ? outer_exchange_text(result)
                    : study::has_units(strategy) ? exchange
                    : is_server(result)
                        ? codec_text(scenario.communication.compression, ", ") +
                              "push of all gradients, pull of all weights, " + bytes + " each way"
                        : exchange + ", schedule " + study::schedule_name(scenario.communication) +
                              ": " + base::counted(std::ssize(result.buckets), "message") + ", " +
                              bytes},
       {"conditions", conditions_text(scenario)},
       {"method", result.method}});
}

// Rows with one indent add up to the iteration time; the others overlap with them. part_of takes
// values below the rounding of the iteration time as 0, since a step of 100 ms has no exposed
// communication of 1e-15 s.
std::string times_text(const study::Result& result) {
  const study::Summary& summary = result.summary;
  const double step = study::step_of(summary);
  Table table{{"", "[ms]", "share"}};
  const auto row = [&](const std::string& label, std::optional<double> seconds) {
    seconds = part_of(seconds, step);
    const bool share = seconds && step > 0;
    table.rows.push_back({label, milliseconds_cell(seconds),
                          share ? percent_cell(*seconds / step) : std::string("-")});
  };
  const auto& measured = result.measured_total;
  if (measured) {
    table.rows.push_back({"iteration time, corrected", milliseconds_cell(measured->step_s), "-"});
  }
  row(measured ? "predicted, not corrected" : "iteration time", step);
  // Asynchronous workers wait for nobody: theirs is the mean.
  const bool slowest = summary.straggler_wait_s.value_or(0) > 0;
  const std::string whose = slowest ? " (slowest worker)" : "";
  row("  forward" + whose, summary.forward_s);
  row("  backward" + whose, summary.backward_s);
  row("  update", summary.update_s);
  const auto row_if = [&](const std::string& label, const std::optional<double>& seconds) {
    if (seconds.value_or(0) > 0) {
      row(label, seconds);
    }
  };
  row_if("  codec", summary.codec_compute_s);
  const bool side = result.scenario->communication.compression.select_stream ==
                    collectives::SelectStream::side; // selects next to backward
  if (side) {
    row_if("  select and residual, not hidden", summary.compress_s);
  } else {
    row_if("  select", summary.select_s);
    row_if("  residual", summary.residual_s);
  }
  row("  exposed communication", summary.exposed_communication_s);
  row_if("    of that interference", summary.interference_s);
  row_if("    of that waiting (wait_s)", study::wait_of_step(*result.scenario).value);
  row_if("  waiting for input", summary.input_wait_s);
  row_if("waiting for slower workers, mean", summary.straggler_wait_s);
  if (side) {
    row_if("select, all", summary.select_s);
    row_if("residual, all", summary.residual_s);
  }
  row("communication, all", summary.communication_s);
  if (summary.staging_s.value_or(0) + summary.merge_s.value_or(0) + summary.scatter_s.value_or(0) >
      0) {
    row_if("  staging", summary.staging_s);
    row_if("  wire", summary.wire_s);
    row_if("  merge", summary.merge_s);
    row_if("  scatter", summary.scatter_s);
  }
  if (const auto band = study::band_of(summary)) {
    table.headings.emplace_back();
    for (std::vector<std::string>& cells : table.rows) {
      cells.emplace_back();
    }
    table.rows[measured ? 1 : 0].back() = base::readable_band(*band, 1e3);
    if (const auto corrected = measured ? measured->band() : std::nullopt) {
      table.rows.front().back() = base::readable_band(*corrected, 1e3);
    }
  }
  return table_text(table);
}

std::string merge_text(const study::Result& result) {
  const auto& gap = result.summary.merge_gap_to_optimal;
  if (!gap) {
    return "";
  }
  constexpr double kSame = 1e-9;
  return (*gap < kSame ? "as fast as" : percent_cell(gap) + " slower than") +
         " the optimal merge (" + milliseconds_cell(result.summary.merge_optimal_iteration_time_s) +
         " ms" + (study::merge_is_certified(*result.scenario) ? ")" : ", not certified)");
}

// With several jobs the speed-up is that of the first, which has only its own nodes.
std::string verdict_text(const study::Result& result, std::string_view to_measure) {
  const study::Summary& summary = result.summary;
  const study::Scenario& scenario = *result.scenario;
  const std::int64_t workers = scenario.other_jobs.empty()
                                   ? scenario.cluster.ranks()
                                   : scenario.first_job_nodes * scenario.cluster.gpus_per_node;
  const auto& measured = result.measured_total;
  return labelled(
             {{"overlap",
               summary.overlap_fraction && summary.communication_s.value_or(0) > 0
                   ? percent_cell(part_of(summary.overlap_fraction, 1)) +
                         " of communication hidden behind computation" +
                         (summary.interference_s.value_or(0) > 0 ? ", less what it slows computing"
                                                                 : "")
                   : "no communication"},
              {"round", summary.outer_communication_s ? round_times_text(result) : ""},
              {"speed-up", cell(summary.speedup) + " with " + base::counted(workers, "worker") +
                               ", efficiency " + percent_cell(summary.scaling_efficiency)},
              {summary.interval_parts.empty() ? "interval" : "interval from",
               summary.interval_level ? interval_text(summary, to_measure) : ""},
              {"measured", measured ? measured_text(*measured) : ""},
              {"computing", summary.compute_low_s && summary.compute_high_s
                                ? estimate_text(scenario, summary)
                                : ""},
              {"against dense",
               summary.speedup_vs_dense_overlapped
                   ? cell(summary.speedup_vs_dense_overlapped) + " times as fast as overlapped, " +
                         cell(summary.speedup_vs_dense_sequential) + " times as sequential"
                   : ""},
              {"staleness", summary.staleness_max.value_or(0) > 0
                                ? cell(summary.staleness_mean) + " updates on average, " +
                                      cell(summary.staleness_max) +
                                      " at most; its effect on accuracy is not modelled"
                                : ""},
              {"throughput", !summary.samples_per_s ? ""
                             : measured ? cell(measured->samples_per_s) + " samples/s, corrected"
                                        : cell(summary.samples_per_s) + " samples/s"},
              {"memory", memory_text(summary)},
              {"to finish", finish_text(result)},
              {"failures", summary.goodput
                               ? "goodput " + base::significant(*summary.goodput) +
                                     ", a checkpoint every " +
                                     base::readable_duration(*summary.checkpoint_interval_s)
                               : ""}}) +
         messages_text(summary) +
         labelled({{"bottleneck", summary.bottleneck.empty() ? "-" : summary.bottleneck},
                   {"schedule", merge_text(result)}});
}

// The first forty buckets in launch order.
std::string buckets_text(const study::Result& result) {
  if (result.buckets.empty()) {
    return "";
  }
  std::string out = "\n" + table_text(buckets_table(result, kMaxBuckets));
  if (result.buckets.size() > kMaxBuckets) {
    out += fmt::format("... and {} more; --json lists all\n", result.buckets.size() - kMaxBuckets);
  }
  if (result.scenario->training.algorithm == study::TrainingAlgorithm::pipe_sgd) {
    out += "times of the last iteration, from its start" +
           std::string(result.workers.empty() ? "" : ", by mean times") + "\n";
  }
  return out;
}

// What the trace itself saw, at its own number of ranks: the only place where the model of the
// network meets a measurement of the same exchange. A scenario of other ranks describes another
// cluster, whose network has nothing to do with that of the trace.
std::string measured_text(const study::Result& result) {
  const study::Scenario& scenario = *result.scenario;
  if (result.measured_exchanges.empty() ||
      scenario.workload.measured_ranks != scenario.cluster.ranks()) {
    return "";
  }
  const std::string ranks = base::counted(*scenario.workload.measured_ranks, "rank");
  Table table{{"exchange at " + ranks, "kB", "trace [ms]", "simulated [ms]", "ratio"}};
  const std::span all(result.measured_exchanges);
  for (const study::MeasuredExchange& each : all.first(std::min(all.size(), kMaxBuckets))) {
    table.rows.push_back({"measured bucket " + std::to_string(each.index),
                          base::significant(static_cast<double>(each.bytes.value) / 1e3),
                          milliseconds_cell(each.measured_s), milliseconds_cell(each.simulated_s),
                          each.simulated_s > 0 ? cell(each.measured_s / each.simulated_s) : "-"});
  }
  return "\n" + table_text(table);
}

} // namespace

std::string cards_text(const study::Cluster& cluster) {
  return cluster.nodes > 1 && cluster.gpus_per_node > 1 && !cluster.fabric
             ? ", " + base::counted(cluster.nics_per_node, "network card") + " per node"
             : "";
}

// Exposed time is a share of one iteration and has no meaning where iterations overlap (pipe_sgd).
Table buckets_table(const study::Result& result, std::size_t most) {
  Table table{{"bucket", "layers", "kB", "ready [ms]", "start [ms]", "end [ms]", "exposed [ms]",
               "algorithm"}};
  const bool pipelined = result.scenario->training.algorithm == study::TrainingAlgorithm::pipe_sgd;
  const double step_s = study::step_of(result.summary);
  const std::span all(result.buckets);
  for (const study::Bucket& bucket : all.first(std::min(all.size(), most))) {
    table.rows.push_back(
        {std::to_string(bucket.index),
         std::to_string(bucket.first) +
             (bucket.last == bucket.first ? "" : ".." + std::to_string(bucket.last)),
         base::significant(static_cast<double>(bucket.bytes.value) / 1e3),
         milliseconds_cell(bucket.ready_s), milliseconds_cell(bucket.start_s),
         milliseconds_cell(bucket.end_s),
         pipelined ? "-" : milliseconds_cell(part_of(bucket.exposed_s, step_s)), bucket.algorithm});
  }
  return table;
}

// Parts that have nothing to say are empty.
std::string run_text(const study::Result& result, std::string_view to_measure) {
  const std::string exceeds = study::exceeds_text(result.summary);
  // Values that the file leaves open and that decide the time here (scenario/scenario_tree.hpp).
  const std::string assumed = study::defaults_text(result.defaults);
  return exceeds + (exceeds.empty() ? "" : "\n") + setting_text(result) + "\n" +
         times_text(result) + "\n" + verdict_text(result, to_measure) + buckets_text(result) +
         measured_text(result) + jobs_text(result) + links_text(result) +
         (assumed.empty() ? "" : "\nassumed: " + assumed + "\n");
}

} // namespace stepsim::cli
