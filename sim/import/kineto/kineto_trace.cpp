// Layers and their times are common to all ranks; gradients are read from the last used step of the
// first rank, whose buckets are those that DDP has settled on.
#include "import/kineto/kineto_trace.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "files/import_source.hpp"
#include "import/kineto/kineto_sizes.hpp"
#include "import/kineto/kineto_summary.hpp"

namespace stepsim::io {

namespace {

// "aten::add_" -> "add"; a layer's name is this and a running number.
std::string_view plain_operation(std::string_view operation) {
  if (operation.starts_with("aten::")) {
    operation.remove_prefix(6);
  }
  while (operation.size() > 1 && operation.ends_with('_')) {
    operation.remove_suffix(1);
  }
  return operation;
}

// Ranks of data-parallel training run the same model: medians over ranks need equal layers.
void require_equal_layers(std::span<const KinetoRank> ranks) {
  for (const KinetoRank& rank : ranks.subspan(1)) {
    if (!same_layers(rank.first(), ranks.front().first())) {
      throw InputError(rank.file, "", "layers differ from those of " + ranks.front().file);
    }
  }
}

// Layers are named by their operator and a running number: "conv2d_3".
std::vector<train::Layer> timed_layers(std::span<const KinetoRank> ranks) {
  std::vector<train::Layer> layers;
  std::map<std::string_view, int> numbers;
  const std::vector<LayerSample>& samples = ranks.front().first().layers;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string_view plain = plain_operation(samples[i].operation);
    const auto median = [&](Nanoseconds LayerSample::*time) {
      return Seconds{median_over_ranks(ranks,
                                       [&](const StepSample& step) {
                                         return static_cast<double>(step.layers[i].*time);
                                       }) /
                     1e9};
    };
    train::Layer layer;
    layer.operation = samples[i].operation;
    layer.name = std::string(plain) + "_" + std::to_string(++numbers[plain]);
    layer.forward = median(&LayerSample::forward);
    layer.backward = median(&LayerSample::backward);
    layer.gradient_bytes = Bytes{0};
    layers.push_back(std::move(layer));
  }
  return layers;
}

Seconds median_of(std::span<const KinetoRank> ranks, WorkClass work) {
  return {median_over_ranks(
              ranks,
              [=](const StepSample& step) { return static_cast<double>(step.times.sum(work)); }) /
          1e9};
}

train::Tensor tensor_of(const GradientSize& size) {
  train::Tensor tensor;
  tensor.elements = size.elements;
  tensor.dtype = size.dtype;
  tensor.bytes = Bytes{size.bytes};
  tensor.name = size.name;
  tensor.shape = size.shape;
  return tensor;
}

// Adds a tensor; one of unknown size makes the layer's size unknown.
void add_tensor(train::Layer& layer, train::Tensor tensor) {
  if (!tensor.bytes) {
    layer.gradient_bytes.reset();
  } else if (layer.gradient_bytes) {
    *layer.gradient_bytes += *tensor.bytes;
  }
  layer.tensors.push_back(std::move(tensor));
}

// The gradients of one step in the order in which they were ready, with sizes where these are
// known.
void add_gradients(const KinetoRank& rank, const KinetoOptions& options, train::Trace& trace,
                   std::vector<std::string>* remarks) {
  const StepSample& step = rank.steps[rank.used.back()];
  SizeSources sources;
  sources.model = options.model;
  sources.tables = options.models;
  const GradientSizes sizes = find_sizes(step, sources, rank.file);
  std::ranges::copy(sizes.notes, std::back_inserter(trace.warnings));
  if (remarks != nullptr && !sizes.fit.empty()) {
    remarks->push_back(sizes.fit);
  }
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    train::Tensor tensor = sizes.sizes.empty() ? train::Tensor{} : tensor_of(sizes.sizes[i]);
    if (step.gradients[i].bucket >= 0) {
      tensor.bucket = step.gradients[i].bucket;
    }
    add_tensor(trace.layers[static_cast<std::size_t>(step.gradients[i].layer)], std::move(tensor));
  }
}

// Forward-only traces: backward by rule, tensors by kind of operator.
void assume_backward(const KinetoRank& rank, const KinetoOptions& options, train::Trace& trace) {
  if (!options.backward_ratio) {
    throw InputError(rank.file, "", "no backward nodes; pass --backward-ratio R");
  }
  trace.provenance = train::Provenance::assumed;
  trace.warnings.push_back("no backward pass in the file: backward = " +
                           base::significant(*options.backward_ratio) + " x forward (assumed)");
  for (train::Layer& layer : trace.layers) {
    layer.backward = *layer.forward * *options.backward_ratio;
  }
  if (!options.model) {
    for (train::Layer& layer : trace.layers) {
      layer.gradient_bytes.reset();
    }
    trace.warnings.emplace_back("gradient sizes are unknown: import with --model");
    return;
  }
  const auto sizes =
      sizes_by_kind(rank.first(), table_named(options.models, *options.model), rank.file);
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    for (const GradientSize& size : sizes[i]) {
      add_tensor(trace.layers[i], tensor_of(size));
    }
  }
}

// Factors far from 1 say that the profiler, or something else, took part in the measurement.
void scale_times(train::Trace& trace, double factor) {
  trace.time_scale = factor;
  for (train::Layer& layer : trace.layers) {
    layer.forward = *layer.forward * factor;
    layer.backward = *layer.backward * factor;
  }
  for (Seconds* time : {&trace.update, &trace.input, &trace.other, &trace.framework}) {
    *time = *time * factor;
  }
  if (factor < 0.8 || factor > 1.5) {
    trace.warnings.push_back("compute times are scaled by " + base::significant(factor) +
                             " to the step time: check that the step was measured without the "
                             "profiler");
  }
}

// An idle GPU waits for the host: kernel times then say less about the step.
void warn_if_idle(train::Trace& trace, bool wall) {
  const double busy = trace.checks->gpu_busy_fraction.value_or(1);
  if (busy < 0.8) {
    trace.warnings.push_back(
        "the GPU was idle " + base::significant(100 * (1 - busy), 2) +
        " % of the step: launch-bound or profiler overhead (about 4 us per operator)" +
        (wall ? "" : "; check with --measured-step"));
  }
}

// The words of a warning without its numbers.
std::string without_numbers(std::string_view warning) {
  std::string words;
  for (const char c : warning) {
    if (c < '0' || c > '9') {
      words += c;
    }
  }
  return words;
}

// What is true of several files is said once, with the numbers of the first.
std::vector<std::string> warnings_of(std::span<const KinetoRank> ranks) {
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

} // namespace

train::Trace trace_of_ranks(std::span<const KinetoRank> ranks, const KinetoOptions& options,
                            std::vector<std::string>* remarks) {
  require_equal_layers(ranks);
  const KinetoRank& first = ranks.front();
  train::Trace trace;
  trace.warnings = warnings_of(ranks);
  trace.provenance = train::Provenance::imported;
  trace.device = first.device;
  trace.ranks = first.world_size;
  // Without a world size in the files there are at least as many ranks as files.
  if (!trace.ranks && ranks.size() > 1) {
    trace.ranks = std::ssize(ranks);
  }
  trace.batch_size = options.batch_size;
  trace.layers = timed_layers(ranks);
  trace.update = median_of(ranks, WorkClass::update);
  trace.input = median_of(ranks, WorkClass::input);
  trace.framework = median_of(ranks, WorkClass::framework);
  trace.other = median_of(ranks, WorkClass::other);
  if (first.forward_only) {
    assume_backward(first, options, trace);
  } else {
    add_gradients(first, options, trace, remarks);
    if (options.backward_ratio) {
      trace.warnings.emplace_back("--backward-ratio ignored: the file has a backward pass");
    }
  }
  // A step that was measured without the profiler implies the wall: its time holds the gaps.
  const bool wall = options.time == TimeBasis::wall || options.measured_step;
  trace.time_basis = wall ? "wall" : "kernel";
  trace.granularity = train::Granularity::tensor;
  if (wall) {
    scale_times(trace, wall_factor(ranks, options.measured_step));
  }
  trace.buckets = measured_buckets(ranks, trace.warnings);
  trace.collectives = measured_collectives(ranks);
  trace.steps = measured_steps(ranks);
  trace.checks = measured_checks(ranks);
  warn_if_idle(trace, wall);
  return trace;
}

} // namespace stepsim::io
