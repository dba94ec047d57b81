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
layers::Tensor parse_trace_tensor(Fields& fields) {
  const Json& json = fields.json();
  Problems& problems = fields.problems();
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
layers::Layer parse_trace_layer(Fields& fields) {
  layers::Layer layer;
  layer.name = fields.text("name");
  layer.forward = optional_seconds(fields, "forward_s");
  layer.backward = optional_seconds(fields, "backward_s");
  layer.gradient_bytes = optional_bytes(fields, "gradient_bytes");
  layer.operation = fields.text("operation");
  layer.tensors = fields.each("tensors", parse_trace_tensor);
  std::int64_t sum = 0;
  bool known = true;
  for (const layers::Tensor& tensor : layer.tensors) {
    known = known && tensor.bytes;
    // Saturates above every legal total.
    sum = std::min(sum + tensor.bytes.value_or(Bytes{0}).value + tensor.extra_bytes.value,
                   std::int64_t{1} << 54);
  }
  if (known && !layer.tensors.empty() && layer.gradient_bytes &&
      layer.gradient_bytes->value != sum) {
    fields.problems().add(
        fields.json(), "gradient_bytes",
        fmt::format("{}, but the tensors sum to {}", layer.gradient_bytes->value, sum));
  }
  return layer;
}

layers::MeasuredTransfer parse_transfer(Fields& fields) {
  layers::MeasuredTransfer transfer;
  transfer.median = optional_seconds(fields, "transfer_s");
  transfer.low = optional_seconds(fields, "transfer_low_s");
  transfer.high = optional_seconds(fields, "transfer_high_s");
  for (const double wait : fields.numbers("wait_s")) {
    transfer.wait.push_back({wait});
  }
  return transfer;
}

layers::MeasuredUnit parse_unit(Fields& fields) {
  layers::MeasuredUnit unit;
  unit.elements = fields.integer("elements");
  unit.gather_dtype = std::string(fields.optional_word("gather_dtype").value_or(""));
  unit.reduce_dtype = std::string(fields.optional_word("reduce_dtype").value_or(""));
  unit.gathers_forward = fields.integer("gathers_forward");
  unit.gathers_backward = fields.integer("gathers_backward");
  const auto range = fields.list("layers");
  if (!range.empty()) {
    const auto bound = [&](const Json& value) {
      return checked_integer(value, keys::kTraceUnitLayer.front().range, fields.problems())
          .value_or(0);
    };
    unit.first_layer = bound(range.front());
    unit.last_layer = bound(range.back());
    if (range.size() != 2 || unit.last_layer < unit.first_layer) {
      fields.problems().add(fields.json(), "layers", "must be the first and the last layer");
    }
  }
  return unit;
}

layers::MeasuredSharding parse_sharding(Fields& fields) {
  layers::MeasuredSharding sharding;
  sharding.group_size = fields.integer("group_size");
  sharding.world_size = fields.optional_integer("world_size");
  sharding.reshard_after_forward = fields.boolean("reshard_after_forward");
  return sharding;
}

// `index` may be left out. Where it is given it must be the position, because launch order is what
// the list stands for.
layers::MeasuredBucket parse_bucket(Fields& fields, std::int64_t expected) {
  layers::MeasuredBucket bucket;
  if (fields.integer_or("index", expected) != expected) {
    fields.problems().add(
        fields.json(), "index",
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
  bucket.transfer = parse_transfer(fields);
  return bucket;
}

layers::MeasuredCollective parse_collective(Fields& fields) {
  layers::MeasuredCollective collective;
  collective.op = fields.text("op");
  collective.elements = fields.integer("elements");
  collective.bytes = {fields.integer("bytes")};
  collective.dtype = dtype(fields);
  collective.per_step = fields.integer("per_step");
  collective.min = optional_seconds(fields, "min_s");
  collective.transfer = parse_transfer(fields);
  return collective;
}

// Steps are what the layer times were condensed from. No run uses them; they are kept, so that a
// trace that is read and written again still shows what it rests on.
layers::MeasuredStep parse_step(Fields& fields) {
  layers::MeasuredStep step;
  step.name = fields.text("name");
  step.used = fields.boolean("used");
  for (const keys::StepTime& time : keys::kStepTimes) {
    step.*time.member = seconds(fields, time.row.name);
  }
  return step;
}

// What an import found out about its own quality. No run uses it.
layers::Checks parse_checks(Fields& fields) {
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
  checks.wait_fraction = fields.numbers("wait_fraction");
  checks.last_rank = fields.numbers("last_rank");
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
  fields.object("source", [&](Fields& part) { trace.source = read_source(part); });
  trace.device = fields.optional_text("device");
  trace.ranks = fields.optional_integer("ranks");
  trace.batch_size = fields.optional_integer("batch_size");
  trace.time_basis = fields.optional_word("time_basis");
  trace.granularity = fields.optional_word("granularity", layers::kGranularities);
  trace.time_scale = fields.number("time_scale");
  trace.accumulation = fields.optional_integer("accumulation");
  trace.layers = fields.each("layers", parse_trace_layer, "layer");
  trace.update = seconds(fields, "update_s");
  trace.input = seconds(fields, "input_s");
  trace.other = seconds(fields, "other_s");
  trace.framework = seconds(fields, "framework_s");
  trace.buckets = fields.each("buckets", [next = std::int64_t{0}](Fields& bucket) mutable {
    return parse_bucket(bucket, next++);
  });
  trace.collectives = fields.each("collectives", parse_collective);
  trace.units = fields.each("units", parse_unit);
  fields.object("sharding", [&](Fields& part) { trace.sharding = parse_sharding(part); });
  trace.steps = fields.each("steps", parse_step);
  fields.object("checks", [&](Fields& part) { trace.checks = parse_checks(part); });
  trace.warnings = parse_warnings(fields);
  fields.no_more();
  problems.throw_if_any();
  return trace;
}

} // namespace stepsim::io
