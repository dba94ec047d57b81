// One file to one rank: its steps are sampled, idle ones and warm-up are dropped, and of the rest
// those whose layers are equal are kept. What was dropped, and what looks wrong, becomes a warning.
#include "import/kineto/kineto_rank.hpp"

#include "base/statistics.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

// At least one step stays, however many are to be skipped.
void choose_steps(KinetoRank& rank, std::int64_t skip_steps) {
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    if (rank.steps[i].times.all() > 0) {
      rank.used.push_back(i);
    }
  }
  if (rank.used.empty()) {
    throw InputError(rank.file, "", "no device work inside a training step");
  }
  if (const std::size_t idle = rank.steps.size() - rank.used.size(); idle > 0) {
    rank.warnings.push_back(counted(idle, "step") + " without device work dropped");
  }
  const auto skip = std::min(static_cast<std::size_t>(std::max<std::int64_t>(skip_steps, 0)),
                             rank.used.size() - 1);
  rank.used.erase(rank.used.begin(), rank.used.begin() + static_cast<std::ptrdiff_t>(skip));
  if (static_cast<std::int64_t>(skip) < skip_steps) {
    rank.warnings.push_back(fmt::format("{} skipped as warm-up, asked for {}: one must remain",
                                        skip == 0 ? "no step" : "only " + counted(skip, "step"),
                                        skip_steps));
  }
}

// The first steps after the profiler started, or after a compilation, may still be slow.
void drop_warm_up(KinetoRank& rank) {
  const auto device_time = [&](std::size_t i) {
    return static_cast<double>(rank.steps[i].times.all());
  };
  std::size_t dropped = 0;
  while (rank.used.size() - dropped > 2) {
    std::vector<double> others;
    for (std::size_t i = dropped + 1; i < rank.used.size(); ++i) {
      others.push_back(device_time(rank.used[i]));
    }
    if (device_time(rank.used[dropped]) <= 1.2 * base::median(others)) {
      break;
    }
    ++dropped;
  }
  if (dropped > 0) {
    rank.warnings.push_back(
        fmt::format("{} more at the beginning dropped: slower than the others by more than 20 %",
                    counted(dropped, "step")));
    rank.used.erase(rank.used.begin(), rank.used.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
}

void keep_largest_group(KinetoRank& rank) {
  std::vector<std::vector<std::size_t>> groups; // few: compared with the first of each
  for (const std::size_t step : rank.used) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& members) {
      return same_layers(rank.steps[members.front()], rank.steps[step]);
    });
    if (group == groups.end()) {
      groups.push_back({step});
    } else {
      group->push_back(step);
    }
  }
  const auto largest = std::ranges::max_element(groups, {}, &std::vector<std::size_t>::size);
  if (groups.size() > 1) {
    rank.warnings.push_back(fmt::format("{} with other layers left out, {} kept",
                                        counted(rank.used.size() - largest->size(), "step"),
                                        largest->size()));
  }
  rank.used = *largest;
}

// What makes times of this file doubtful.
void warn_about_times(KinetoRank& rank) {
  std::vector<std::size_t> shorter; // of all steps: the trace lists those left out too
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    if (rank.steps[i].times.busy > rank.steps[i].times.wall) {
      shorter.push_back(i);
    }
  }
  if (!shorter.empty()) {
    const std::string others =
        shorter.size() == 1 ? "" : " and of " + counted(shorter.size() - 1, "other step");
    rank.warnings.push_back("wall time of " + rank.intervals[shorter.front()].name + others +
                            " does not measure the GPU: its device work lasts longer");
  }
  const StepSample& step = rank.first();
  add_where(
      rank.warnings,
      {{rank.unattributed_fraction > 0.01,
        base::percent(rank.unattributed_fraction, 2) +
            " of the device time was launched outside the training steps or before the profile "
            "and is left out"},
       {step.backward_matched < step.backward_nodes,
        counted(step.backward_nodes - step.backward_matched, "backward node") + " of " +
            std::to_string(step.backward_nodes) +
            " match no forward operator; their time counts for the layer before"}});
}

void warn_about_communication(const KinetoRecording& recording, KinetoRank& rank) {
  // Kernels of NCCL are there, but perhaps not what they carried.
  const bool communicates = std::ranges::any_of(rank.used, [&](std::size_t i) {
    return rank.steps[i].times.sum(WorkClass::communication) > 0;
  });
  const auto sized = [](const CollectiveSample& sample) { return sample.call.elements >= 0; };
  const bool with_sizes = std::ranges::any_of(rank.used, [&](std::size_t i) {
    return std::ranges::any_of(rank.steps[i].buckets, sized) ||
           std::ranges::any_of(rank.steps[i].collectives, sized);
  });
  // Libraries of experts (DeepEP) do nothing but all-to-all.
  const bool all_to_all = std::ranges::any_of(recording.names, [](const std::string& name) {
    const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    return has("deep_ep") || has("::ep::int") ||
           (name.starts_with("nccl") && (has("SendRecv") || has("AllToAll")));
  });
  const bool nccl = std::ranges::any_of(recording.names, [](const std::string& name) {
    return lower_case(name).starts_with("nccl");
  });
  add_where(rank.warnings,
            {{communicates && !with_sizes,
              nccl ? "NCCL kernels without size arguments (older profiler): no buckets"
                   : "communication kernels without size arguments: no buckets"},
             {!communicates && rank.calls.empty() && !rank.forward_only,
              "no collectives: the trace says nothing about communication"},
             {communicates && all_to_all,
              "all-to-all or point-to-point kernels: the job is not data-parallel only"}});
}

// A trace whose events were sampled, or cut off, has backward nodes without their operators.
void require_matches(const KinetoRank& rank) {
  const StepSample& step = rank.first();
  if (2 * step.backward_matched < step.backward_nodes) {
    throw InputError(rank.file, "",
                     fmt::format("{} of {} backward nodes match no forward operator: the trace is "
                                 "incomplete (sampled or cut)",
                                 step.backward_nodes - step.backward_matched, step.backward_nodes));
  }
}

// What the steps show of the way in which the model is run. Layers inside CUDA graphs have no
// operators of their own.
void note_execution(KinetoRank& rank) {
  const StepSample& step = rank.first();
  std::int64_t graphs = 0; // compiled ones
  std::int64_t held = 0;
  for (const LayerSample& layer : step.layers) {
    const std::string& operation = layer.operation.get();
    if ((operation.find("CompiledFunction") != std::string::npos ||
         operation.starts_with("Torch-Compiled Region")) &&
        layer.gradients > 0) {
      ++graphs;
      held += layer.gradients;
    }
  }
  const double forward = std::max(1.0, static_cast<double>(step.times.sum(WorkClass::forward)) /
                                           static_cast<double>(step.repeats));
  const double in_graphs =
      static_cast<double>(step.graph_time) / std::max(1.0, static_cast<double>(step.times.all()));
  add_where(
      rank.warnings,
      {{step.repeats > 1,
        fmt::format(
            "gradients are accumulated over {} micro-steps: layer times are those of one of "
            "them",
            step.repeats)},
       {step.undefined > 0,
        counted(step.undefined, "parameter") +
            " without a gradient in the step (unused, or updated by a fused operator) left out"},
       {step.recomputes, "recomputation found: the backward pass runs forward operators again, " +
                             base::percent(static_cast<double>(step.recomputed) / forward, 2) +
                             " of the time of the forward pass"},
       {graphs == 1 && held > 1,
        fmt::format("one compiled graph holds {} gradients: without DDPOptimizer no communication "
                    "overlaps it",
                    held)},
       {step.graph_launches > 0,
        fmt::format("{} cudaGraphLaunch per step: {} of the device time lies in CUDA graphs, whose "
                    "layers cannot be told apart{}",
                    step.graph_launches, base::percent(in_graphs, 2),
                    in_graphs > 0.5 ? "; profile one run with CUDA graphs off" : "")}});
}

// The words of a warning without its numbers.
std::string without_numbers(std::string words) {
  std::erase_if(words, is_digit);
  return words;
}

} // namespace

// Equal operators in equal order with equally many gradients; times may differ.
bool same_layers(const StepSample& a, const StepSample& b) {
  return std::ranges::equal(a.layers, b.layers, [](const LayerSample& x, const LayerSample& y) {
    return x.operation == y.operation && x.gradients == y.gradients;
  });
}

KinetoRank reduce_rank(KinetoRecording& recording,
                       const std::optional<std::string>& step_annotation, std::int64_t skip_steps) {
  KinetoRank rank;
  rank.file = recording.file;
  rank.device = recording.device;
  rank.world_size = recording.world_size;
  rank.rank = recording.rank;
  rank.record_shapes = recording.record_shapes;
  KinetoWindows windows(recording);
  windows.sample(step_annotation, rank);
  std::ranges::for_each(rank.steps, join_repeats);
  // First the steps that can be used, then of these the largest group of equal ones.
  choose_steps(rank, skip_steps);
  drop_warm_up(rank);
  keep_largest_group(rank);
  if (rank.first().forward_operators > 0) {
    require_matches(rank);
  }
  if (rank.first().layers.empty()) {
    throw InputError(recording.file, "",
                     "no forward operators: profile whole steps, with ProfilerActivity.CPU and "
                     "ProfilerActivity.CUDA");
  }
  rank.forward_only = rank.first().backward_nodes == 0;
  if (!rank.forward_only) {
    const std::size_t last = rank.used.back();
    windows.load(last);
    rank.sharded = sharded_step(recording, rank.intervals[last], rank.steps[last]);
    for (StepSample& step : rank.steps) {
      if (rank.sharded) {
        separate_replicas(*rank.sharded, step);
      }
    }
  }
  if (rank.gpus > 1) {
    rank.warnings.push_back(
        fmt::format("kernels of {} GPUs in one process: their times are added", rank.gpus));
  }
  note_execution(rank);
  warn_about_times(rank);
  warn_about_communication(recording, rank);
  return rank;
}

std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks) {
  if (ranks.size() == 1) {
    return ranks.front().warnings;
  }
  struct Group {
    std::string words, file, text;
    std::size_t others = 0;
    bool alike = true;
  };
  std::vector<Group> groups;
  for (const KinetoRank& rank : ranks) {
    for (const std::string& warning : rank.warnings) {
      std::string words = without_numbers(warning);
      const auto group = std::ranges::find(groups, words, &Group::words);
      if (group == groups.end()) {
        groups.push_back({std::move(words), stem_of(rank.file), warning});
      } else {
        ++group->others;
        group->alike = group->alike && group->text == warning;
      }
    }
  }
  std::vector<std::string> warnings;
  for (const Group& group : groups) {
    const std::string files =
        group.others == 0 ? group.file
                          : group.file + " and " +
                                counted(static_cast<std::int64_t>(group.others), "other file") +
                                (group.alike ? "" : " (with other numbers)");
    warnings.push_back(files + ": " + group.text);
  }
  return warnings;
}

} // namespace stepsim::io
