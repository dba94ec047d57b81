// Layers, buckets, collectives and steps of a trace, each by a function of its own. Sizes that say
// one thing twice (elements and bytes, tensors and layers) must agree exactly: a trace in which
// they do not was put together by hand, and nobody could tell which of the numbers is right.
#include "scenario/files/trace_file.hpp"

#include <fmt/core.h>

#include "scenario/files/keys/trace_keys.hpp"
#include "scenario/files/source_json.hpp"

namespace stepsim::io {

namespace {

// Null and absent mean the same: the recording did not show it.
std::optional<Seconds> optional_seconds(Fields& fields, std::string_view key) {
  const auto value = fields.optional_number(key);
  return value ? std::optional(Seconds{*value}) : std::nullopt;
}
std::optional<Bytes> optional_bytes(Fields& fields, std::string_view key) {
  const auto value = fields.optional_integer(key);
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}
Seconds seconds(Fields& fields, std::string_view key) { return {fields.number(key)}; }
std::string dtype(Fields& fields) {
  return std::string(fields.optional_word("dtype").value_or(""));
}

// A tensor whose element type is unknown has bytes that nothing can be compared with.
layers::Tensor parse_trace_tensor(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kTraceTensors.front());
  layers::Tensor tensor;
  tensor.name = fields.text("name");
  tensor.elements = fields.optional_integer("elements");
  tensor.dtype = dtype(fields);
  tensor.bytes = optional_bytes(fields, "bytes");
  tensor.bucket = fields.optional_integer("bucket");
  double count = 1;
  for (const Json& size : fields.list("shape")) {
    const auto checked = checked_integer(size, keys::kTraceShape.front().range, problems);
    tensor.shape.push_back(checked.value_or(1));
    count *= static_cast<double>(tensor.shape.back());
  }
  tensor.extra_bytes = {fields.integer("extra_bytes")};
  fields.no_more();
  if (!tensor.shape.empty() && tensor.elements && count != static_cast<double>(*tensor.elements)) {
    problems.add(json, "shape", fmt::format("does not make {} elements", *tensor.elements));
  }
  const std::int64_t size = layers::dtype_bytes(tensor.dtype);
  if (tensor.elements && tensor.bytes && size > 0 &&
      tensor.bytes->value != *tensor.elements * size) {
    problems.add(json, "bytes",
                 fmt::format("{}, but {} elements of {} are {}", tensor.bytes->value,
                             *tensor.elements, tensor.dtype, *tensor.elements * size));
  }
  if (!tensor.elements && tensor.bytes && size > 0 && tensor.bytes->value % size != 0) {
    problems.add(json, "bytes",
                 fmt::format("{} bytes is not a whole number of {}-byte values of {}",
                             tensor.bytes->value, size, tensor.dtype));
  }
  return tensor;
}

// The sum is compared only if all tensors have bytes; otherwise the layer's own number is all there
// is.
layers::Layer parse_trace_layer(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kTraceLayers.front());
  layers::Layer layer;
  layer.name = fields.text("name");
  layer.forward = optional_seconds(fields, "forward_s");
  layer.backward = optional_seconds(fields, "backward_s");
  layer.gradient_bytes = optional_bytes(fields, "gradient_bytes");
  layer.operation = fields.text("operation");
  std::int64_t sum = 0;
  bool known = true;
  for (const Json& tensor : fields.list("tensors")) {
    layer.tensors.push_back(parse_trace_tensor(tensor, problems));
    known = known && layer.tensors.back().bytes;
    // Saturates above every legal total.
    sum = std::min(sum + layer.tensors.back().bytes.value_or(Bytes{0}).value +
                       layer.tensors.back().extra_bytes.value,
                   std::int64_t{1} << 54);
  }
  if (known && !layer.tensors.empty() && layer.gradient_bytes &&
      layer.gradient_bytes->value != sum) {
    problems.add(json, "gradient_bytes",
                 fmt::format("{}, but the tensors sum to {}", layer.gradient_bytes->value, sum));
  }
  fields.no_more();
  return layer;
}

// Numbers of a list whose element has a row of its own.
std::vector<double> numbers(Fields& fields, std::string_view key, const Key& element,
                            Problems& problems) {
  std::vector<double> values;
  for (const Json& value : fields.list(key)) {
    values.push_back(checked_number(value, element.range, problems).value_or(0));
  }
  return values;
}

layers::MeasuredTransfer parse_transfer(Fields& fields, Problems& problems) {
  layers::MeasuredTransfer transfer;
  transfer.median = optional_seconds(fields, "transfer_s");
  transfer.low = optional_seconds(fields, "transfer_low_s");
  transfer.high = optional_seconds(fields, "transfer_high_s");
  for (const double wait : numbers(fields, "wait_s", keys::kTraceWait.front(), problems)) {
    transfer.wait.push_back({wait});
  }
  return transfer;
}

layers::MeasuredUnit parse_unit(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kTraceUnits.front());
  layers::MeasuredUnit unit;
  unit.elements = fields.integer("elements");
  unit.gather_dtype = std::string(fields.optional_word("gather_dtype").value_or(""));
  unit.reduce_dtype = std::string(fields.optional_word("reduce_dtype").value_or(""));
  unit.gathers_forward = fields.integer("gathers_forward");
  unit.gathers_backward = fields.integer("gathers_backward");
  const auto range = fields.list("layers");
  if (!range.empty()) {
    const auto bound = [&](const Json& value) {
      return checked_integer(value, keys::kTraceUnitLayer.front().range, problems).value_or(0);
    };
    unit.first_layer = bound(range.front());
    unit.last_layer = bound(range.back());
    if (range.size() != 2 || unit.last_layer < unit.first_layer) {
      problems.add(json, "layers", "must be the first and the last layer");
    }
  }
  fields.no_more();
  return unit;
}

layers::MeasuredSharding parse_sharding(const Json& json, Problems& problems) {
  Fields fields(json, problems, *find_key(keys::kTrace, "sharding"));
  layers::MeasuredSharding sharding;
  sharding.group_size = fields.integer("group_size");
  sharding.world_size = fields.optional_integer("world_size");
  sharding.reshard_after_forward = fields.boolean("reshard_after_forward");
  fields.no_more();
  return sharding;
}

// `index` may be left out. Where it is given it must be the position, because launch order is what
// the list stands for.
layers::MeasuredBucket parse_bucket(const Json& json, std::size_t position, Problems& problems) {
  Fields fields(json, problems, keys::kTraceBuckets.front());
  layers::MeasuredBucket bucket;
  const auto expected = static_cast<std::int64_t>(position);
  if (fields.integer_or("index", expected) != expected) {
    problems.add(json, "index",
                 fmt::format("buckets are numbered from 0 in launch order, this is {}", expected));
  }
  bucket.elements = fields.integer("elements");
  bucket.bytes = {fields.integer("bytes")};
  bucket.dtype = dtype(fields);
  bucket.tensors = fields.integer("tensors");
  bucket.min = optional_seconds(fields, "min_s");
  bucket.median = optional_seconds(fields, "median_s");
  bucket.max = optional_seconds(fields, "max_s");
  bucket.group = fields.text("group");
  bucket.transfer = parse_transfer(fields, problems);
  fields.no_more();
  return bucket;
}

layers::MeasuredCollective parse_collective(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kTraceCollectives.front());
  layers::MeasuredCollective collective;
  collective.op = fields.text("op");
  collective.elements = fields.integer("elements");
  collective.bytes = {fields.integer("bytes")};
  collective.dtype = dtype(fields);
  collective.per_step = fields.integer("per_step");
  collective.min = optional_seconds(fields, "min_s");
  collective.transfer = parse_transfer(fields, problems);
  fields.no_more();
  return collective;
}

// Steps are what the layer times were condensed from. No run uses them; they are kept, so that a
// trace that is read and written again still shows what it rests on.
layers::MeasuredStep parse_step(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kTraceSteps.front());
  layers::MeasuredStep step;
  step.name = fields.text("name");
  step.used = fields.boolean("used");
  for (const keys::StepTime& time : keys::kStepTimes) {
    step.*time.member = seconds(fields, time.row.name);
  }
  fields.no_more();
  return step;
}

// What an import found out about its own quality. No run uses it.
layers::Checks parse_checks(const Json& json, Problems& problems) {
  Fields fields(json, problems, *find_key(keys::kTrace, "checks"));
  layers::Checks checks;
  checks.steps_used = fields.integer("steps_used");
  checks.backward_nodes = fields.integer("backward_nodes");
  checks.backward_matched = fields.integer("backward_matched");
  checks.gradient_nodes = fields.integer("gradient_nodes");
  checks.unattributed_fraction = fields.number("unattributed_fraction");
  checks.gpu_busy_fraction = fields.optional_number("gpu_busy_fraction");
  checks.rank_spread = fields.optional_number("rank_spread");
  checks.idle_fraction = fields.optional_number("idle_fraction");
  checks.launch_idle_fraction = fields.optional_number("launch_idle_fraction");
  checks.recompute_fraction = fields.optional_number("recompute_fraction");
  checks.graph_fraction = fields.optional_number("graph_fraction");
  checks.wait_fraction =
      numbers(fields, "wait_fraction", keys::kTraceWaitFraction.front(), problems);
  checks.last_rank = numbers(fields, "last_rank", keys::kTraceLastRank.front(), problems);
  fields.no_more();
  return checks;
}

} // namespace

layers::Trace parse_trace(const Json& json) {
  Problems problems;
  Fields fields(json, problems, keys::kTrace);
  fields.header("trace");
  layers::Trace trace;
  trace.name = fields.string("name", "");
  trace.provenance = fields.word("provenance", layers::kProvenances);
  if (const Json* source = fields.any("source"); fields.has("source")) {
    trace.source = parse_source(*source, problems);
  }
  trace.device = fields.optional_text("device");
  trace.ranks = fields.optional_integer("ranks");
  trace.batch_size = fields.optional_integer("batch_size");
  trace.time_basis = fields.optional_word("time_basis");
  trace.granularity = fields.optional_word("granularity", layers::kGranularities);
  trace.time_scale = fields.number("time_scale");
  trace.accumulation = fields.optional_integer("accumulation");
  for (const Json& layer : fields.list("layers", "layer")) {
    trace.layers.push_back(parse_trace_layer(layer, problems));
  }
  trace.update = seconds(fields, "update_s");
  trace.input = seconds(fields, "input_s");
  trace.other = seconds(fields, "other_s");
  trace.framework = seconds(fields, "framework_s");
  for (const Json& bucket : fields.list("buckets")) {
    trace.buckets.push_back(parse_bucket(bucket, trace.buckets.size(), problems));
  }
  for (const Json& collective : fields.list("collectives")) {
    trace.collectives.push_back(parse_collective(collective, problems));
  }
  for (const Json& unit : fields.list("units")) {
    trace.units.push_back(parse_unit(unit, problems));
  }
  if (const Json* sharding = fields.any("sharding"); fields.has("sharding")) {
    trace.sharding = parse_sharding(*sharding, problems);
  }
  for (const Json& step : fields.list("steps")) {
    trace.steps.push_back(parse_step(step, problems));
  }
  if (const Json* checks = fields.any("checks"); fields.has("checks")) {
    trace.checks = parse_checks(*checks, problems);
  }
  trace.warnings = parse_warnings(fields);
  fields.no_more();
  problems.throw_if_any();
  return trace;
}

} // namespace stepsim::io
