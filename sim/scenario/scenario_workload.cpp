// Whatever form a workload has, it ends as layers with times and gradients with sizes. Layers
// written in the scenario become a small trace first, so that only traces and model tables have
// code of their own.

#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

// Layers written into the scenario itself: the first keys of a trace's layers.
// A layer has one tensor at most here. Its shape must agree with its bytes: two or four bytes per
// element where no type is given.
layers::Trace inline_trace(io::Fields& fields, const ParseContext& context) {
  layers::Trace trace;
  trace.name = "inline layers";
  trace.provenance = layers::Provenance::assumed;
  const auto layers = fields.array("layers", true);
  if (fields.has("layers") && layers.empty() && fields.any("layers")->is_array()) {
    context.problems.add(*fields.any("layers"), "needs at least one layer");
  }
  trace.layers.reserve(layers.size());
  for (const io::Json& json : layers) {
    io::Fields layer(json, context.problems, fields.row("layers").keys.front());
    layers::Layer& value = trace.layers.emplace_back();
    value.name = layer.string("name");
    value.forward = Seconds{layer.number("forward_s")};
    value.backward = Seconds{layer.number("backward_s")};
    value.gradient_bytes = Bytes{layer.integer("gradient_bytes")};
    const bool typed = layer.has("dtype");
    const std::string_view type = layer.word_or("dtype", layers::dtype_words().front());
    layers::Tensor tensor{.dtype = typed ? std::string(type) : "", .bytes = value.gradient_bytes};
    double elements = 1;
    for (const io::Json& size : layer.array("shape", false)) { // for low-rank compression
      const auto checked =
          io::checked_integer(size, layer.row("shape").keys.front().range, context.problems);
      tensor.shape.push_back(checked.value_or(1));
      elements *= static_cast<double>(tensor.shape.back());
    }
    const std::int64_t known = layers::dtype_bytes(tensor.dtype);
    if (known > 0 && value.gradient_bytes->value % known != 0) {
      context.problems.add(json, "gradient_bytes",
                           "{} bytes is not a whole number of {}-byte values of {}",
                           value.gradient_bytes->value, known, tensor.dtype);
    }
    const double bytes_each = static_cast<double>(value.gradient_bytes->value) / elements;
    if (!tensor.shape.empty() &&
        (typed ? bytes_each != static_cast<double>(known) : bytes_each != 2 && bytes_each != 4)) {
      context.problems.add(json, "shape", "{} elements do not make {} bytes of {} bytes each",
                           base::significant(elements), value.gradient_bytes->value,
                           typed ? std::to_string(known) : "2 or 4");
    }
    if ((!tensor.dtype.empty() || !tensor.shape.empty()) && value.gradient_bytes->value > 0) {
      value.tensors.push_back(std::move(tensor));
    }
    layer.no_more();
  }
  return trace;
}

// `run` needs every time and every size of a trace.
// One problem counts all layers without a size, one those without times.
void check_complete(const layers::Trace& trace, const std::string& file) {
  std::vector<base::Problem> problems;
  bool size_missing = false; // what one layer lacks, all tend to lack: one line says it
  bool time_missing = false;
  for (std::size_t l = 0; l < trace.layers.size(); ++l) {
    const layers::Layer& layer = trace.layers[l];
    const std::string pointer = "/layers/" + std::to_string(l);
    if (!layer.gradient_bytes && !size_missing) {
      size_missing = true;
      const auto more =
          std::ranges::count_if(trace.layers,
                                [](const layers::Layer& each) { return !each.gradient_bytes; }) -
          1;
      problems.push_back({file, pointer + "/gradient_bytes",
                          "unknown" +
                              (more > 0 ? ", as for " + base::counted(more, "more layer") : "") +
                              "; import with --model, or record_shapes=True"});
    }
    if ((!layer.forward || !layer.backward) && !time_missing) {
      time_missing = true;
      const auto more = std::ranges::count_if(trace.layers,
                                              [](const layers::Layer& each) {
                                                return !each.forward || !each.backward;
                                              }) -
                        1;
      problems.push_back(
          {file, pointer + (layer.forward ? "/backward_s" : "/forward_s"),
           "no times" + (more > 0 ? ", as for " + base::counted(more, "more layer") : "") +
               ": the trace holds sizes only; give --gpu: stepsim init --model NAME --gpu GPU "
               "estimates the times of a model"});
    }
  }
  if (!problems.empty()) {
    throw InputError(std::move(problems));
  }
}

// Reports a problem for a sequence length that the table does not allow.
void check_sequence_length(const io::Json& place, const ParseContext& context,
                           const layers::ModelTable& table, std::optional<std::int64_t> length) {
  if (!length) {
    return;
  }
  if (!table.sequence) {
    context.problems.add(place, "sequence_length", table.name + " has no sequence length");
  } else if (const std::int64_t most = table.sequence->max_sequence_length;
             most > 0 && *length > most) {
    context.problems.add(place, "sequence_length", "{} has {} positions, got {}", table.name, most,
                         *length);
  }
}

std::optional<layers::MeasuredStepTime> parse_measured_step(io::Fields& fields) {
  std::optional<layers::MeasuredStepTime> measured;
  fields.object("measured_step", [&](io::Fields& step) {
    measured.emplace();
    measured->step = Seconds{step.number("step_s")};
    measured->batch_size = step.optional_integer("batch_size");
    measured->sequence_length = step.optional_integer("sequence_length");
  });
  return measured;
}

// "fp16" of a v100: what its part has.
std::vector<std::string_view> precisions_of(const layers::Gpu& gpu) {
  return base::collected_if<std::string_view>(
      layers::kPrecisions.all(),
      [&](std::string_view word) { return gpu.has(*layers::kPrecisions.find(word)); });
}

// Reads the keys. Empty without the key `gpu`, and after a problem with one of the keys.
std::optional<layers::GpuEstimate> parse_estimate(io::Fields& fields, const ParseContext& context) {
  const std::size_t before = context.problems.list().size();
  layers::GpuEstimate estimate;
  const auto gpu = fields.optional_word("gpu");
  const auto precision = fields.optional_word("dtype", layers::kPrecisions);
  estimate.recompute = fields.word("recompute", layers::kRecomputes);
  estimate.accepted = fields.boolean("accept_estimate");
  estimate.measured = parse_measured_step(fields);
  estimate.gpu = gpu ? layers::find_gpu(*gpu) : nullptr;
  if (estimate.gpu == nullptr || context.problems.list().size() > before) {
    return std::nullopt;
  }
  estimate.precision = precision.value_or(estimate.gpu->usual_precision());
  if (!estimate.gpu->has(estimate.precision)) {
    fields.refuse("dtype", "{} has no {}; its formats are {}", estimate.gpu->name,
                  layers::kPrecisions[estimate.precision],
                  base::joined(precisions_of(*estimate.gpu), " and "));
    return std::nullopt;
  }
  return estimate;
}

// Reports a problem for a network without attention if the estimate is not accepted, and for a
// measured step at a sequence length that the table does not allow.
void check_estimate(io::Fields& fields, const ParseContext& context,
                    const layers::ModelTable& table, const layers::GpuEstimate& estimate) {
  const bool compared = layers::estimates_compared(table) || estimate.measured;
  fields.refuse_if(!compared && !estimate.accepted, "gpu",
                   "{}{}, and estimates of such networks were not compared with measured steps; "
                   "import a trace, give measured_step, or accept the estimate (accept_estimate, "
                   "--accept-estimate)",
                   table.name,
                   layers::has_attention(table) ? " reads images" : " has no attention");
  if (estimate.measured) {
    check_sequence_length(*fields.any("measured_step"), context, table,
                          estimate.measured->sequence_length);
  }
}

// How long the layers of a model take: from the speed of a device, from an estimate for a named
// GPU, or from measured totals that are spread over the layers.
// A given compute time c is split by the factor f of backward over forward: forward is c / (1 + f).
void parse_profile(io::Fields& fields, const ParseContext& context, WorkloadSource& source) {
  layers::ProfileOptions& profile = source.profile;
  const bool has_device = fields.has("device");
  const bool has_measured = fields.has("measured");
  if (int{has_device} + int{has_measured} + int{fields.has("gpu")} != 1) {
    context.problems.add(fields.json(), "give exactly one of device, measured and gpu");
  }
  profile.estimate = parse_estimate(fields, context);
  fields.object("device", [&](io::Fields& device) {
    profile.device = layers::DeviceSpeed{};
    profile.device->flops = {device.number("flops_Ps")};
    profile.device->utilization = device.number("utilization");
  });
  profile.backward_factor = fields.number("backward_factor");
  fields.object("measured", [&](io::Fields& measured) {
    profile.measured = layers::MeasuredTotals{};
    if (measured.has("compute_s")) {
      const double compute = measured.required_number("compute_s");
      source.measured_compute = Seconds{compute};
      const double forward = compute / (1 + profile.backward_factor);
      profile.measured->forward = {forward};
      profile.measured->backward = {profile.backward_factor * forward};
    } else {
      profile.measured->forward = {measured.required_number("forward_s")};
      profile.measured->backward = {measured.required_number("backward_s")};
    }
    source.measured_gpus = measured.integer("gpus");
  });
  profile.batch_size = fields.required_integer("batch_size");
  profile.attention = *layers::kAttentions.find(fields.word("attention"));
  profile.loss = fields.optional_word("loss", layers::kLosses);
  profile.kernels = fields.optional_word("kernels", layers::kKernelWords);
  profile.layer_overhead = {fields.number("layer_overhead_s")};
  profile.value_bytes = static_cast<int>(fields.integer("value_bytes"));
}

// Nothing is computed after a problem: an incomplete profile would only add misleading ones.
void load_model(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  WorkloadSource& source = scenario.workload_source;
  parse_profile(fields, context, source);
  const layers::ModelTable& table = context.files.model(*fields.any("model"));
  const auto length = fields.optional_integer("sequence_length");
  check_sequence_length(fields.json(), context, table, length);
  source.has_attention = layers::has_attention(table);
  context.needs_meaning(fields, "attention", source.has_attention,
                        table.name + ", which has no such layers");
  context.needs_meaning(fields, "kernels", source.has_attention,
                        table.name + ", whose norms and activations are single kernels");
  context.needs_meaning(fields, "loss", layers::has_output_head(table),
                        table.name + ", which has no output head");
  if (source.profile.attention == layers::Attention::plain && !layers::has_heads(table)) {
    fields.refuse("attention", table.name +
                                   " does not say how many heads its attention layers have, "
                                   "which plain attention needs");
  }
  if (source.profile.estimate) {
    check_estimate(fields, context, table, *source.profile.estimate);
  }
  if (!context.problems.empty()) {
    return; // the profile is incomplete: nothing to compute with
  }
  source.sequence_length = length;
  if (table.sequence) {
    source.tokens = length.value_or(table.sequence->sequence_length);
  }
  if (source.profile.estimate && table.sequence) { // decides the times, and is shown as a default
    source.sequence_length = source.tokens;
  }
  scenario.workload =
      length && *length >= 1
          ? workload_from_model(with_sequence_length(table, *length), source.profile)
          : workload_from_model(table, source.profile);
}

} // namespace

// Keys of models are refused elsewhere; granularity defaults to what the trace was measured at.
void parse_workload(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  WorkloadSource& source = scenario.workload_source;
  const int given = static_cast<int>(fields.has("trace")) + static_cast<int>(fields.has("model")) +
                    static_cast<int>(fields.has("layers"));
  const bool says_granularity = fields.has("granularity");
  layers::Granularity& granularity = source.profile.granularity;
  granularity = *layers::kGranularities.find(
      fields.word_or("granularity", layers::kGranularities[layers::Granularity::tensor]));
  if (given != 1) {
    context.problems.add(fields.json(), "give exactly one of trace, model, layers");
    fields.know_all();
    return;
  }
  const bool is_model = fields.has("model");
  for (const std::string_view key : kModelKeys) {
    (void)fields.any(key);
    context.needs_meaning(fields, key, is_model, "a workload that is no model");
  }
  if (is_model) {
    source.model = fields.string("model");
    if (fields.any("model")->is_string()) {
      load_model(fields, context, scenario);
    }
  } else {
    fields.refuse_if(!is_model && granularity == layers::Granularity::weight, "granularity",
                     "weight needs a model: traces do not hold tensor shapes");
    source.batch_size = fields.optional_integer("batch_size");
    if (fields.has("trace")) {
      source.trace = fields.string("trace");
      if (fields.any("trace")->is_string()) {
        const auto& [trace, path] = context.files.trace(*fields.any("trace"));
        check_complete(trace, path);
        if (!says_granularity) {
          granularity = trace.granularity.value_or(layers::Granularity::tensor);
        }
        scenario.workload = workload_from_trace(trace, granularity);
      }
    } else {
      source.layers = true;
      const std::size_t before = context.problems.list().size();
      const layers::Trace trace = inline_trace(fields, context);
      if (context.problems.list().size() == before) {
        scenario.workload = workload_from_trace(trace, granularity);
      }
    }
    if (source.batch_size) {
      scenario.workload.batch_size = source.batch_size;
    }
  }
  if (const auto total = fields.optional_number("scale_backward_to_s")) {
    source.scale_backward_to = Seconds{*total};
    scale_backward(scenario.workload, {*total});
  }
}

void set_estimate(io::Json& workload, const layers::GpuEstimate& estimate) {
  workload.set("gpu", estimate.gpu->name);
  workload.set("dtype", layers::kPrecisions[estimate.precision]);
  workload.set("recompute", layers::kRecomputes[estimate.recompute]);
  workload.set("accept_estimate", estimate.accepted);
  if (estimate.measured) {
    io::Json step{io::Object{{"step_s", estimate.measured->step.value}}};
    io::set_given(step, "batch_size", estimate.measured->batch_size);
    io::set_given(step, "sequence_length", estimate.measured->sequence_length);
    workload.set("measured_step", std::move(step));
  }
}

} // namespace stepsim::study
