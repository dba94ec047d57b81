// Layers and their times are common to all ranks; gradients are read from the last used step of the
// first rank, whose buckets are those that DDP has settled on.
#include "import/kineto/import_kineto.hpp"

namespace stepsim::io {

namespace {

// Files of several jobs, or twice the same rank, say nothing together.
void require_one_job(std::span<const KinetoRank> ranks, std::vector<std::string>& notes) {
  std::set<std::int64_t> seen;
  const std::optional<std::int64_t> world = ranks.front().world_size;
  for (const KinetoRank& rank : ranks) {
    if (rank.world_size && world && rank.world_size != world) {
      throw InputError(
          rank.file, "",
          fmt::format("ranks of different jobs: world size {} and {}", *world, *rank.world_size));
    }
    if (rank.rank && !seen.insert(*rank.rank).second) {
      throw InputError(rank.file, "", fmt::format("rank {} is there twice", *rank.rank));
    }
  }
  if (ranks.size() > 1 && world && std::ssize(ranks) < *world) {
    notes.push_back(fmt::format("{} of the {} ranks of the job are there", ranks.size(), *world));
  }
}

// Ranks of data-parallel training run the same model: medians over ranks need equal layers.
void require_equal_layers(std::span<const KinetoRank> ranks) {
  for (const KinetoRank& rank : ranks.subspan(1)) {
    if (!same_layers(rank.first(), ranks.front().first())) {
      throw InputError(rank.file, "", "layers differ from those of " + ranks.front().file);
    }
  }
}

template <class Time> Seconds median_of(std::span<const KinetoRank> ranks, const Time& time) {
  return {median_over_ranks(
              ranks, [&](const StepSample& step) { return static_cast<double>(time(step)); }) /
          1e9};
}

std::vector<layers::Layer> timed_layers(std::span<const KinetoRank> ranks) {
  std::vector<layers::Layer> layers;
  const std::vector<LayerSample>& samples = ranks.front().first().layers;
  const std::vector<std::string> names = layer_names(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    layers::Layer layer;
    layer.operation = samples[i].operation;
    layer.name = names[i];
    layer.forward = median_of(ranks, [=](const auto& step) { return step.layers[i].forward; });
    layer.backward = median_of(ranks, [=](const auto& step) { return step.layers[i].backward; });
    layer.gradient_bytes = Bytes{0};
    layers.push_back(std::move(layer));
  }
  return layers;
}

Seconds median_of(std::span<const KinetoRank> ranks, WorkClass work) {
  return median_of(ranks, [=](const StepSample& step) { return step.times.sum(work); });
}

// Adds a tensor; one of unknown size makes the layer's size unknown.
void add_tensor(layers::Layer& layer, layers::Tensor tensor) {
  if (!tensor.bytes) {
    layer.gradient_bytes.reset();
  } else if (layer.gradient_bytes) {
    *layer.gradient_bytes += *tensor.bytes + tensor.extra_bytes;
  }
  layer.tensors.push_back(std::move(tensor));
}

// The element type of logged buckets: as asked, else that of the sizes; empty if unknown.
std::string logged_dtype(const StepSample& step, const SizeSources& sources) {
  if (sources.dtype || sources.table != nullptr) {
    return sources.dtype.value_or(sources.table != nullptr ? sources.table->rows.front().dtype
                                                           : "");
  }
  const auto shaped = std::ranges::find_if(
      step.gradients, [](const GradientSample& each) { return each.shape.has_value(); });
  return shaped == step.gradients.end() ? "" : shaped->shape->get().dtype;
}

// The gradients of one step in the order in which they were ready, with sizes where these are
// known. What is never reduced does not travel and is left out.
void add_gradients(const KinetoRank& rank, SizeSources sources, KinetoImport& result) {
  StepSample step = rank.steps[rank.used.back()];
  if (sources.log != nullptr && step.buckets.empty()) {
    add_logged_buckets(*sources.log, logged_dtype(step, sources), step);
    if (!sources.log->parameters.empty() && step.gradients.front().bucket < 0) {
      result.trace.warnings.push_back(fmt::format(
          "{}: the parameters of its buckets are not those of the {} gradients of a step",
          sources.log->file, step.gradients.size()));
    }
  }
  const std::vector<double> weights = size_weights(step, result.trace.layers);
  sources.weights = weights;
  GradientSizes sizes = find_sizes(step, sources, rank.file);
  std::ranges::move(sizes.notes, std::back_inserter(result.trace.warnings));
  result.sizes = std::move(sizes.source);
  result.remedy = std::move(sizes.remedy);
  if (sizes.assumed) {
    result.trace.provenance = layers::Provenance::assumed;
  }
  for (std::size_t b = 0; step.logged_buckets && b < step.buckets.size(); ++b) {
    const auto dtype =
        dtype_of_pytorch(sizes.sizes.empty() ? "" : sizes.sizes.front().tensor.dtype);
    result.trace.buckets.push_back({step.buckets[b].call.elements,
                                    {sources.log->bucket_bytes[b]},
                                    std::string(dtype ? dtype->word : "float32"),
                                    step.buckets[b].gradients,
                                    {},
                                    {},
                                    {}});
  }
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    layers::Layer& layer = result.trace.layers[static_cast<std::size_t>(step.gradients[i].layer)];
    if (sizes.sizes.empty()) {
      add_tensor(layer, {});
    } else if (sizes.sizes[i].bucket != GradientSize::kNever) {
      add_tensor(layer, sizes.sizes[i].tensor);
    }
  }
}

// Buckets without a size or a type get that of their gradients. Where one of these is unknown too
// there are no buckets.
void complete_buckets(layers::Trace& trace) {
  struct Sum {
    std::int64_t elements{}, bytes{}, tensors{};
    std::string dtype;
  };
  std::vector<Sum> sums(trace.buckets.size());
  bool known = true;
  for (const layers::Layer& layer : trace.layers) {
    for (const layers::Tensor& tensor : layer.tensors) {
      known = known && tensor.elements && tensor.bucket;
      if (tensor.bucket && tensor.elements) {
        Sum& sum = sums[static_cast<std::size_t>(*tensor.bucket)];
        sum.elements += *tensor.elements;
        sum.bytes += tensor.bytes->value;
        sum.dtype = tensor.dtype;
        ++sum.tensors;
      }
    }
  }
  const bool sized = std::ranges::all_of(
      trace.buckets, [](const layers::MeasuredBucket& bucket) { return bucket.elements >= 0; });
  for (std::size_t b = 0; b < sums.size(); ++b) {
    layers::MeasuredBucket& bucket = trace.buckets[b];
    if (bucket.elements < 0) {
      bucket.elements = sums[b].elements;
      bucket.bytes = {sums[b].bytes};
      bucket.dtype = sums[b].dtype;
    } else if (const auto dtype = dtype_of_pytorch(sums[b].dtype); bucket.dtype.empty() && dtype) {
      bucket.bytes = *tensor_of(bucket.elements, *dtype).bytes;
      bucket.dtype = dtype->word;
    }
    bucket.tensors = sums[b].tensors > 0 ? sums[b].tensors : bucket.tensors;
  }
  if (!sized && !known) {
    trace.buckets.clear();
    for (layers::Layer& layer : trace.layers) {
      for (layers::Tensor& tensor : layer.tensors) {
        tensor.bucket.reset();
      }
    }
  }
}

// Forward-only traces: backward by rule, tensors by kind of operator.
void assume_backward(const KinetoRank& rank, const KinetoOptions& options, KinetoImport& result) {
  layers::Trace& trace = result.trace;
  if (!options.backward_ratio) {
    throw InputError(rank.file, "", "no backward nodes; pass --backward-ratio R");
  }
  trace.provenance = layers::Provenance::assumed;
  trace.warnings.push_back("no backward pass in the file: backward = " +
                           base::significant(*options.backward_ratio) + " x forward (assumed)");
  for (layers::Layer& layer : trace.layers) {
    layer.backward = *layer.forward * *options.backward_ratio;
  }
  if (!options.model) {
    for (layers::Layer& layer : trace.layers) {
      layer.gradient_bytes.reset();
    }
    trace.warnings.emplace_back("gradient sizes are unknown");
    result.remedy = "no backward pass, no sizes: give --model NAME|FILE";
    if (options.parameters || options.sizes) {
      result.remedy += "; --parameters and --sizes need a backward pass";
    }
    return;
  }
  const DtypeWord dtype = *dtype_of_pytorch(options.dtype.value_or("float32"));
  const auto sizes =
      sizes_by_kind(rank.first(), table_named(options.models(), *options.model), rank.file);
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    for (const auto& [size, extra_elements, bucket] : sizes[i]) {
      ++tensors;
      layers::Tensor tensor = tensor_of(*size.elements, dtype);
      tensor.name = size.name;
      tensor.shape = size.shape;
      add_tensor(trace.layers[i], std::move(tensor));
    }
  }
  result.sizes = fmt::format("model table {} ({} of {} tensors), {}{}", *options.model, tensors,
                             tensors, options.dtype ? "" : "dtype assumed: ", dtype.word);
}

// Factors far from 1 say that the profiler, or something else, took part in the measurement.
void scale_times(layers::Trace& trace, double factor) {
  trace.time_scale = factor;
  for (layers::Layer& layer : trace.layers) {
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

// An idle GPU waits for the host, or for something else: kernel times then say less about the step.
// It is also idle between the items of two steps, where the share of the whole step is larger.
void warn_if_idle(std::span<const KinetoRank> ranks, layers::Trace& trace, bool wall) {
  double idle = trace.checks->idle_fraction.value_or(0);
  double launches = trace.checks->launch_idle_fraction.value_or(0);
  double all = 0, late = 0, waits = 0, loader = 0;
  for (const KinetoRank& rank : ranks) {
    for (const std::size_t i : rank.used) {
      const DeviceStep& step = rank.device_use[i];
      const auto part = [&](DeviceUse use) { return static_cast<double>(step.of(use)); };
      all += static_cast<double>(step.length());
      late += part(DeviceUse::host);
      loader += part(DeviceUse::loader);
      waits += part(DeviceUse::host) + part(DeviceUse::loader) + part(DeviceUse::idle);
    }
  }
  if (waits > idle * all) {
    idle = waits / all;
    launches = late / waits;
  }
  if (loader > 0 && loader >= std::max(0.2 * all, 0.5 * waits)) {
    trace.warnings.push_back("input-bound: the GPU idles " + base::percent(idle) + ", " +
                             base::percent(loader / waits) +
                             " of it while the host waits for input; more loader workers help");
  } else if (idle >= 0.2 && launches >= 0.5) {
    trace.warnings.push_back("host-bound: the GPU idles " + base::percent(idle) + ", " +
                             base::percent(launches) + " of it waiting for launches" +
                             (wall ? ""
                                   : "; times from \"kernel\" are what a faster host would give; "
                                     "--time wall keeps the host"));
  } else if (idle >= 0.05) {
    trace.warnings.push_back("the GPU idles " + base::percent(idle) + " of the step, " +
                             base::percent(launches) + " of it waiting for launches");
  }
}

} // namespace

KinetoImport trace_of_ranks(std::span<const KinetoRank> ranks, const KinetoOptions& options,
                            SizeSources sources) {
  KinetoImport result;
  layers::Trace& trace = result.trace;
  const KinetoRank& first = ranks.front();
  trace.warnings = common_warnings(ranks);
  require_one_job(ranks, trace.warnings);
  require_equal_layers(ranks);
  trace.provenance = layers::Provenance::imported;
  trace.device = first.device;
  trace.ranks = first.world_size;
  // Without a world size in the files there are at least as many ranks as files.
  if (!trace.ranks && ranks.size() > 1) {
    trace.ranks = std::ssize(ranks);
  }
  trace.batch_size = options.batch_size;
  if (first.first().repeats > 1) {
    trace.accumulation = first.first().repeats;
    trace.reduces_each =
        first.first().reduces_each || (first.sharded && first.sharded->reduces_each);
  }
  trace.layers = timed_layers(ranks);
  trace.update = median_of(ranks, WorkClass::update);
  trace.input = median_of(ranks, WorkClass::input) / static_cast<double>(first.first().repeats);
  trace.framework = median_of(ranks, WorkClass::framework);
  trace.other = median_of(ranks, WorkClass::other);
  Waiting waiting = separate_waiting(ranks);
  std::ranges::move(waiting.notes, std::back_inserter(trace.warnings));
  result.variability = measured_variability(ranks);
  trace.buckets = measured_buckets(ranks, waiting, &StepSample::buckets, trace.warnings);
  if (first.forward_only) {
    assume_backward(first, options, result);
  } else {
    sources.model = options.model;
    sources.tables = options.models;
    sources.parameters = options.parameters;
    sources.dtype = options.dtype;
    sources.record_shapes = first.record_shapes;
    if (first.sharded) {
      trace.units = first.sharded->units;
      trace.sharding = first.sharded->sharding;
      sources.units = first.sharded->units;
    }
    add_gradients(first, sources, result);
    if (options.backward_ratio) {
      trace.warnings.emplace_back("--backward-ratio ignored: the file has a backward pass");
    }
  }
  complete_buckets(trace);
  std::ranges::move(measured_buckets(ranks, waiting, &StepSample::replicas, trace.warnings),
                    std::back_inserter(trace.buckets));
  if (!options.keep_layers) {
    join_layers(trace);
  }
  // A step that was measured without the profiler implies the wall: its time holds the gaps.
  const bool wall = options.time == TimeBasis::wall || options.measured_step;
  trace.time_basis = wall ? "wall" : "kernel";
  trace.granularity = layers::Granularity::tensor;
  if (wall) {
    scale_times(trace, wall_factor(ranks, options.measured_step));
  }
  trace.collectives = measured_collectives(ranks, waiting);
  trace.steps = measured_steps(ranks);
  trace.checks = measured_checks(ranks, waiting);
  warn_if_idle(ranks, trace, wall);
  return result;
}

} // namespace stepsim::io
