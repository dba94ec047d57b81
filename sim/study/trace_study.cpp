#include "study/trace_study.hpp"

#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/files/trace_file.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/first_scenario.hpp"
#include "study/fits.hpp"
#include "study/step_changes.hpp"

namespace stepsim::study {

namespace {

// Names in the folder.
constexpr const char* kTraceFile = "trace.json";
constexpr const char* kKernelsFile = "kernels.json";
constexpr const char* kScenarioFile = "scenario.json";
constexpr const char* kConditionsFile = "conditions.json";
constexpr const char* kLibraryFile = "library.json";

constexpr std::array kTried{ChangeKind::network,    ChangeKind::sharding, ChangeKind::rounds,
                            ChangeKind::collective, ChangeKind::schedule, ChangeKind::compression};

PredictedStep predicted(const Summary& summary) { return {step_of(summary), band_of(summary)}; }

class Study {
public:
  Study(const StudyOptions& options, Files& files)
      : options_(options), files_(&files), kernels_(options.trace) {}

  [[nodiscard]] TraceStudy answer() {
    TraceStudy study;
    const layers::Trace& trace = files_->trace(io::Json(options_.trace)).first;
    study.trace = with_kernel_times(trace);
    study.name = trace.name;
    study.warnings = trace.warnings;
    std::optional<TraceMachine> machine = machine_of(trace, "", *files_);
    if (!machine && !options_.node_type.empty()) {
      machine = machine_of(trace, options_.node_type, *files_);
    }
    if (!machine && options_.node_type.empty()) {
      const std::string device = trace.device.value_or("an unknown GPU");
      const std::vector<std::string> types = node_types_of_gpu(device, *files_);
      throw UsageError((types.empty() ? device + ": no shipped node type has it"
                                      : base::counted(trace.ranks.value_or(1), "rank") +
                                            (trace.ranks.value_or(1) == 1 ? " fills" : " fill") +
                                            " no whole number of " + types.front()) +
                       "; name the cluster with --cluster NAME|FILE (stepsim presets lists the "
                       "names)");
    }
    node_type_ = options_.node_type.empty() ? machine->node_type : options_.node_type;
    if (options_.logs) {
      study.library = fit_library(*options_.logs, study.warnings);
    }
    const std::vector<JobStep> steps = timed_steps(trace);
    std::string carried = options_.trace;
    if (!machine) {
      study.machine_unknown = "the machine of the trace is unknown";
    } else if (steps.empty()) {
      study.machine_unknown = "the trace holds no steps whose length is known";
    } else if (has_forward_alone(trace)) {
      study.machine_unknown = "the recorded steps are forward passes alone";
    } else {
      if (trace.time_scale != 1) {
        kernels_ = saved(kKernelsFile, io::to_json(study.trace));
      }
      leave_out_advice(study.warnings); // the host is carried, whatever times are read
      study.answer = answer_to(study.trace, *machine, steps);
      if (!options_.ideal) {
        carried = path_of_output(kTraceFile);
        warn_of_others(study.answer->gap, machine->gpus(), study.warnings);
        warn_of_slow_exchanges(*study.answer, study.warnings);
      }
    }
    add_points(study, carried);
    return study;
  }

private:
  void warn_of_slow_exchanges(const TraceAnswer& answer, std::vector<std::string>& warnings) {
    constexpr double kMany = 0.05; // of the step
    const double above_s =
        base::found(answer.gap.parts, std::string_view("exchange"), &GapPart::key)->seconds;
    if (above_s > kMany * answer.gap.times.step_s) {
      const TraceMachine& machine = answer.machine;
      const Scenario ideal = parse_scenario(
          scenario_of(kernels_, machine.node_type, "", machine.nodes, machine.gpus_per_node, true)
              .tree,
          *files_);
      if (auto text = far_exchanges(ideal, measured_exchanges(ideal))) {
        warnings.push_back(*std::move(text));
      }
    }
  }

  // Such as the all-to-all of experts and of embedding tables.
  void warn_of_others(const TraceGap& gap, std::int64_t gpus,
                      std::vector<std::string>& warnings) const {
    constexpr double kMany = 0.01; // of the step
    constexpr const char* kWhat = "collectives that exchange no gradients";
    const double moved_s =
        std::ranges::find(gap.parts, "other_collectives", &GapPart::key)->seconds;
    const double waited_s = gap.times.other_collectives_s - moved_s;
    if (waited_s > kMany * gap.times.step_s) {
      warnings.push_back("ranks waited " + base::readable_seconds(waited_s) +
                         " of the step for each other in " + kWhat +
                         "; that is carried as computing, which the efficiency does not count");
    }
    if (moved_s > kMany * gap.times.step_s && options_.gpus.back() > gpus) {
      warnings.push_back(std::string(kWhat) + " took " + base::readable_seconds(moved_s) +
                         " of the step; they are carried as long as they were, and take longer on "
                         "more GPUs");
    }
  }

  std::string path_of_output(const std::string& name) const { return options_.folder + "/" + name; }
  std::string saved(const std::string& name, const io::Json& tree) {
    const std::string path = path_of_output(name);
    options_.save(path, tree);
    return path;
  }

  LibraryFromLogs fit_library(const io::LibraryMeasurements& logs,
                              std::vector<std::string>& warnings) {
    if (!options_.network.empty()) {
      throw UsageError("--logs: they say what the library takes over the network of the node type; "
                       "leave --network out");
    }
    const io::FittedMeasurements fitted =
        io::fit_measurements(logs, files_->node(io::Json(node_type_)), node_type_ + ", from logs");
    warnings.insert(warnings.end(), logs.warnings.begin(), logs.warnings.end());
    warnings.insert(warnings.end(), fitted.file.warnings.begin(), fitted.file.warnings.end());
    library_ = saved(kLibraryFile, io::to_json(fitted.file, fitted.calibration));
    const nccl::LibraryFit& fit = fitted.fit;
    const std::vector<double> errors = nccl::left_out_errors(fit, nccl::leave_shapes_out(fit));
    return {logs.points.size(),
            errors.empty() ? nccl::ErrorNumbers{} : nccl::error_numbers(errors)};
  }

  // A scenario of the trace at `trace` on machines of a node type.
  FirstScenario scenario_of(const std::string& trace, const std::string& node_type,
                            const std::string& network, std::int64_t nodes,
                            std::int64_t gpus_per_node, bool ideal) {
    io::Json tree{io::Object{}};
    io::assign(tree, "/workload/trace", trace);
    io::assign(tree, "/cluster/preset", node_type);
    io::assign(tree, "/cluster/nodes", nodes);
    io::assign(tree, "/cluster/gpus_per_node", gpus_per_node);
    if (!network.empty() && nodes > 1) {
      io::assign(tree, "/cluster/network", network);
    }
    if (!library_.empty() && node_type == node_type_) {
      io::assign(tree, "/communication/library/calibration", library_);
    }
    if (ideal) {
      set_conditions(ConditionsKind::ideal, tree);
    }
    return first_scenario(std::move(tree), *files_, path_of_output(kScenarioFile));
  }

  // Adds what is carried beside the layer times.
  void carry(io::Json& tree, const TraceAnswer& answer) const {
    if (answer.carried.input_s > 0) {
      io::assign(tree, "/training/input_s", answer.carried.input_s);
      io::assign(tree, "/training/input_pipelined", false);
    }
    if (answer.wait_s > 0) {
      io::assign(tree, "/training/wait_s", answer.wait_s);
    }
    const io::Json* kind = io::resolve(tree, "/conditions/kind");
    if (!conditions_.empty() && kind != nullptr && *kind == io::Json("typical")) {
      io::assign(tree, "/conditions/file", conditions_);
    }
    // As read back from its file, so that names in it are relative to that.
    tree =
        with_short_forms_expanded(io::parse_json(io::pretty(tree), path_of_output(kScenarioFile)));
  }

  [[nodiscard]] Summary summary_of(const io::Json& tree) {
    return run(parse_scenario(tree, *files_, Leftovers::ignore), Detail::summary).summary;
  }

  // What is carried from these steps, and the step that is then predicted of the machine of the
  // trace.
  TraceAnswer carried_from(const layers::Trace& trace, const TraceMachine& machine,
                           std::span<const JobStep> steps) {
    const DeviceTimes times = device_times(steps);
    TraceAnswer answer{.machine = machine, .carried = carried_of(trace, times)};
    const FirstScenario ideal =
        scenario_of(kernels_, machine.node_type, "", machine.nodes, machine.gpus_per_node, true);
    const Summary kernels = summary_of(ideal.tree);
    answer.gap =
        gap_of(trace, times, step_of(kernels), kernels.exposed_communication_s.value_or(0));
    const std::string stretched =
        saved(kTraceFile, io::to_json(with_carried(trace, answer.carried)));
    const FirstScenario own =
        scenario_of(stretched, machine.node_type, "", machine.nodes, machine.gpus_per_node, false);
    conditions_.clear();
    io::Json tree = own.tree;
    carry(tree, answer);
    if (machine.gpus() > 1) {
      fit(tree, times.step_s);
      tree = own.tree;
      carry(tree, answer);
      answer.wait_s = unexplained(tree, times.step_s);
      carry(tree, answer);
    }
    answer.predicted = predicted(summary_of(tree));
    return answer;
  }

  TraceAnswer answer_to(const layers::Trace& trace, const TraceMachine& machine,
                        std::span<const JobStep> steps) {
    std::optional<double> other;
    std::optional<double> half;
    if (steps.size() >= 2) {
      const std::size_t middle = steps.size() / 2;
      Files separate(files_->data_folder()); // the files that are saved change afterwards
      Files& kept = *std::exchange(files_, &separate);
      half = carried_from(trace, machine, steps.first(middle)).predicted.step_s;
      files_ = &kept;
      other = device_times(steps.subspan(middle)).step_s;
    }
    TraceAnswer answer = carried_from(trace, machine, steps);
    answer.other_half_s = other;
    answer.predicted_half_s = half;
    return answer;
  }

  // The factors of conditions that one measured step tells (CON 5).
  void fit(const io::Json& tree, double step_s) {
    if (!is_typical(parse_scenario(tree, *files_, Leftovers::ignore))) {
      return;
    }
    io::Json row{io::Object{}};
    row.set("scenario", tree);
    row.set("step_s", step_s);
    io::Json measured{io::Object{}};
    measured.set("schema_version", 1);
    measured.set("kind", "measured_steps");
    measured.set("source", "the steps of the trace");
    measured.set("rows", io::Array{row});
    const ConditionsFit fitted = fit_conditions(measured, *files_);
    if (!fitted.fitted.empty()) {
      conditions_ = kConditionsFile;
      (void)saved(conditions_, conditions_tree(fitted));
    }
  }

  // How long workers wait in each step, where the step of the machine of the trace is as long as
  // measured; 0 where it is as long without, or longer.
  [[nodiscard]] double unexplained(const io::Json& tree, double step_s) {
    constexpr double kEnough = 1e-6; // of the step
    constexpr int kTimes = 4;        // exchanges may be under way meanwhile
    double wait_s = 0;
    for (int i = 0; i < kTimes; ++i) {
      const io::Json waiting = with_value(tree, "/training/wait_s", wait_s);
      const double missing =
          step_s - period_of(parse_scenario(waiting, *files_, Leftovers::ignore));
      if (missing <= kEnough * step_s) {
        break;
      }
      wait_s += missing;
    }
    return wait_s;
  }

  // Whether what is called computing waits for launches longer than it computes.
  [[nodiscard]] bool waits_for_host(const TraceStudy& study, const Summary& summary) const {
    return study.answer && !options_.ideal && summary.bottleneck == "compute" &&
           study.answer->gap.times.host_s > study.answer->gap.times.compute_s;
  }

  void add_points(TraceStudy& study, const std::string& trace) {
    const std::int64_t most = files_->node(io::Json(node_type_)).node.gpus;
    FirstScenario last;
    for (const std::int64_t gpus : options_.gpus) {
      if (gpus > most && gpus % most != 0) {
        throw UsageError("--gpus: " + std::to_string(gpus) + " is no multiple of the " +
                         std::to_string(most) + " GPUs of a machine (" + node_type_ + ")");
      }
      last =
          scenario_of(trace, node_type_, options_.network, std::max<std::int64_t>(1, gpus / most),
                      std::min(gpus, most), options_.ideal);
      if (study.answer && !options_.ideal) {
        carry(last.tree, *study.answer);
      }
      const Scenario scenario = parse_scenario(last.tree, *files_);
      study.largest = run(scenario);
      const Summary& summary = study.largest.summary;
      study.points.push_back({gpus, predicted(summary), summary.samples_per_s,
                              summary.scaling_efficiency,
                              waits_for_host(study, summary) ? "host" : summary.bottleneck});
    }
    study.cluster = std::to_string(last.nodes) + " x " + node_type_;
    io::assign(last.tree, "/name", study.name + " on " + node_type_);
    study.assumed = last.assumed;
    study.scenario = last.tree;
    (void)saved(kScenarioFile, last.tree);
    const Scenario scenario = parse_scenario(last.tree, *files_);
    if (study.answer) {
      leave_out_advice(study.largest.warnings);
    }
    append_each_once(study.warnings, study.largest.warnings);
    const Summary& summary = study.largest.summary;
    study.help = what_if_lines(last.tree, scenario, step_of(summary), *files_,
                               {.kinds = kTried,
                                .parts = summary.interval_parts,
                                .exceeds_memory = !summary.memory_fits.value_or(true),
                                .progress = options_.progress});
    std::erase_if(study.help, [](const WhatIf& each) { return each.gain <= 0; });
    std::ranges::stable_sort(study.help, {},
                             [](const WhatIf& each) { return effort_of(each.kind); });
    study.measure_next = measure_next(last.tree, scenario, summary, *files_);
    try {
      study.buckets = ddp_buckets(last.tree, *files_, {});
      study.emitted = ddp_buckets_tree(last.tree, *study.buckets);
    } catch (const UsageError&) {            // sharded training has no buckets
    } catch (const SimulationError& error) { // clusters whose sweep would take hours
      study.warnings.push_back(std::string("no sizes of buckets were tried: ") + error.what());
    }
  }

  const StudyOptions& options_;
  Files* files_;
  std::string kernels_; // the trace with kernel times, a path or name
  std::string node_type_;
  std::string library_;    // calibration fitted to logs, a path; "" = none
  std::string conditions_; // file with fitted factors, in the folder; "" = none
};

} // namespace

Effort effort_of(ChangeKind kind) {
  switch (kind) {
  case ChangeKind::collective:
  case ChangeKind::schedule:
    return Effort::free;
  case ChangeKind::sharding:
  case ChangeKind::rounds:
  case ChangeKind::compression:
    return Effort::software;
  default:
    return Effort::hardware;
  }
}

TraceStudy trace_study(const StudyOptions& options, Files& files) {
  return Study(options, files).answer();
}

std::vector<std::string> node_types_of_gpu(const std::string& device, Files& files) {
  const layers::PartName wanted = layers::part_name(device);
  std::vector<std::string> types;
  for (const auto& [name, path] : shipped_files(files.data_folder(), kShippedNodes)) {
    const layers::PartName has = layers::part_name(files.node(io::Json(name)).gpu);
    if (!has.part.empty() && wanted.part.starts_with(has.part) && wanted.in_slot == has.in_slot) {
      types.push_back(name);
    }
  }
  std::ranges::stable_partition(types, [](const std::string& name) {
    return name.starts_with("dgx") || name.starts_with("hgx");
  });
  return types;
}

std::optional<TraceMachine> machine_of(const layers::Trace& trace, const std::string& node_type,
                                       Files& files) {
  TraceMachine machine{.node_type = node_type};
  if (node_type.empty()) {
    machine.others = node_types_of_gpu(trace.device.value_or(""), files);
    if (machine.others.empty()) {
      return std::nullopt;
    }
    machine.node_type = machine.others.front();
    machine.others.erase(machine.others.begin());
  }
  const std::int64_t ranks = trace.ranks.value_or(1);
  const auto& type = files.node(io::Json(machine.node_type));
  const std::string recorded = trace.device.value_or("");
  machine.other_gpu = layers::may_be_other_gpu(recorded, type.gpu) ? recorded : "";
  const std::int64_t most = type.node.gpus;
  machine.gpus_per_node = std::min(ranks, most);
  machine.nodes = ranks / machine.gpus_per_node;
  return machine.gpus() == ranks ? std::optional(std::move(machine)) : std::nullopt;
}

} // namespace stepsim::study
