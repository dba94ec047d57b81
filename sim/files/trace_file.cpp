#include "files/trace_file.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "files/source_json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::string_view, 2> kTimeBases{"kernel", "wall"};

const Range kByteRange = between(0, 0x1p53);

std::optional<Seconds> optional_seconds(Fields& fields, std::string_view key) {
  const auto value = fields.optional_number(key, at_least(0));
  return value ? std::optional(Seconds{*value}) : std::nullopt;
}
std::optional<Bytes> optional_bytes(Fields& fields, std::string_view key) {
  const auto value = fields.optional_integer(key, kByteRange);
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}
Seconds seconds(Fields& fields, std::string_view key) {
  return {fields.number(key, at_least(0), 0)};
}
std::string dtype(Fields& fields) {
  if (!fields.has("dtype")) {
    (void)fields.any("dtype");
    return "";
  }
  const std::span<const std::string_view> words = train::dtype_words();
  return std::string(words[fields.word("dtype", words, std::nullopt)]);
}

train::Tensor parse_trace_tensor(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::Tensor tensor;
  tensor.name = fields.string("name", "");
  tensor.elements = fields.optional_integer("elements", kByteRange);
  tensor.dtype = dtype(fields);
  tensor.bytes = optional_bytes(fields, "bytes");
  tensor.bucket = fields.optional_integer("bucket", at_least(0));
  double count = 1;
  for (const Json& size : fields.array("shape", false)) {
    tensor.shape.push_back(checked_integer(size, at_least(1), problems).value_or(1));
    count *= static_cast<double>(tensor.shape.back());
  }
  fields.no_more();
  if (!tensor.shape.empty() && tensor.elements && count != static_cast<double>(*tensor.elements)) {
    problems.add(json, "shape", "does not make " + std::to_string(*tensor.elements) + " elements");
  }
  const std::int64_t size = train::dtype_bytes(tensor.dtype);
  if (tensor.elements && tensor.bytes && size > 0 &&
      tensor.bytes->value != *tensor.elements * size) {
    problems.add(json, "bytes",
                 std::to_string(tensor.bytes->value) + ", but " + std::to_string(*tensor.elements) +
                     " elements of " + tensor.dtype + " are " +
                     std::to_string(*tensor.elements * size));
  }
  return tensor;
}

train::Layer parse_trace_layer(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::Layer layer;
  layer.name = fields.string("name");
  layer.forward = optional_seconds(fields, "forward_s");
  layer.backward = optional_seconds(fields, "backward_s");
  layer.gradient_bytes = optional_bytes(fields, "gradient_bytes");
  layer.operation = fields.string("operation", "");
  std::int64_t sum = 0;
  bool known = true;
  for (const Json& tensor : fields.array("tensors", false)) {
    layer.tensors.push_back(parse_trace_tensor(tensor, problems));
    known = known && layer.tensors.back().bytes;
    // Saturates above every legal total.
    sum =
        std::min(sum + layer.tensors.back().bytes.value_or(Bytes{0}).value, std::int64_t{1} << 54);
  }
  if (known && !layer.tensors.empty() && layer.gradient_bytes &&
      layer.gradient_bytes->value != sum) {
    problems.add(json, "gradient_bytes",
                 std::to_string(layer.gradient_bytes->value) + ", but the tensors sum to " +
                     std::to_string(sum));
  }
  fields.no_more();
  return layer;
}

train::MeasuredBucket parse_bucket(const Json& json, std::size_t position, Problems& problems) {
  Fields fields(json, problems);
  train::MeasuredBucket bucket;
  const auto expected = static_cast<std::int64_t>(position);
  if (fields.integer("index", at_least(0), expected) != expected) {
    problems.add(json, "index",
                 "buckets are numbered from 0 in launch order, this is " +
                     std::to_string(expected));
  }
  bucket.elements = fields.integer("elements", kByteRange);
  bucket.bytes = {fields.integer("bytes", kByteRange)};
  bucket.dtype = dtype(fields);
  bucket.tensors = fields.integer("tensors", at_least(0), 0);
  bucket.min = optional_seconds(fields, "min_s");
  bucket.median = optional_seconds(fields, "median_s");
  bucket.max = optional_seconds(fields, "max_s");
  fields.no_more();
  return bucket;
}

train::MeasuredCollective parse_collective(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::MeasuredCollective collective;
  collective.op = fields.string("op");
  collective.elements = fields.integer("elements", kByteRange, 0);
  collective.bytes = {fields.integer("bytes", kByteRange)};
  collective.dtype = dtype(fields);
  collective.per_step = fields.integer("per_step", at_least(0), 1);
  collective.min = optional_seconds(fields, "min_s");
  fields.no_more();
  return collective;
}

// The keys of one step, in one place for reading and writing.
struct StepKey {
  std::string_view key;
  Seconds train::MeasuredStep::*member;
};
constexpr std::array<StepKey, 12> kStepKeys{{
    {"wall_s", &train::MeasuredStep::wall},
    {"gpu_busy_s", &train::MeasuredStep::gpu_busy},
    {"compute_busy_s", &train::MeasuredStep::compute_busy},
    {"exposed_communication_s", &train::MeasuredStep::exposed_communication},
    {"forward_s", &train::MeasuredStep::forward},
    {"backward_s", &train::MeasuredStep::backward},
    {"gradient_nodes_s", &train::MeasuredStep::gradient_nodes},
    {"update_s", &train::MeasuredStep::update},
    {"framework_s", &train::MeasuredStep::framework},
    {"input_s", &train::MeasuredStep::input},
    {"other_s", &train::MeasuredStep::other},
    {"communication_s", &train::MeasuredStep::communication},
}};

train::MeasuredStep parse_step(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::MeasuredStep step;
  step.name = fields.string("name");
  step.used = fields.boolean("used", false);
  for (const auto& [key, member] : kStepKeys) {
    step.*member = seconds(fields, key);
  }
  fields.no_more();
  return step;
}

train::Checks parse_checks(const Json& json, Problems& problems) {
  Fields fields(json, problems);
  train::Checks checks;
  checks.steps_used = fields.integer("steps_used", at_least(0), 0);
  checks.backward_nodes = fields.integer("backward_nodes", at_least(0), 0);
  checks.backward_matched = fields.integer("backward_matched", at_least(0), 0);
  checks.gradient_nodes = fields.integer("gradient_nodes", at_least(0), 0);
  checks.unattributed_fraction = fields.number("unattributed_fraction", between(0, 1), 0);
  checks.gpu_busy_fraction = fields.optional_number("gpu_busy_fraction", at_least(0));
  checks.rank_spread = fields.optional_number("rank_spread", at_least(0));
  fields.no_more();
  return checks;
}

} // namespace

train::Trace parse_trace(const Json& json) {
  Problems problems;
  Fields fields(json, problems);
  fields.header("trace");
  train::Trace trace;
  trace.name = fields.string("name", "");
  trace.provenance = fields.word("provenance", train::kProvenances, std::nullopt);
  if (const Json* source = fields.any("source"); fields.has("source")) {
    trace.source = parse_source(*source, problems);
  }
  if (fields.has("device")) {
    trace.device = fields.string("device");
  }
  (void)fields.any("device");
  trace.ranks = fields.optional_integer("ranks", at_least(1));
  trace.batch_size = fields.optional_integer("batch_size", at_least(1));
  if (fields.has("time_basis")) {
    trace.time_basis = kTimeBases[fields.word("time_basis", kTimeBases, std::nullopt)];
  }
  (void)fields.any("time_basis");
  if (fields.has("granularity")) {
    // Traces do not say which tensor is a weight.
    static constexpr auto kWords = train::kGranularities.first<2>();
    trace.granularity = fields.word("granularity", kWords, std::nullopt);
  }
  (void)fields.any("granularity");
  trace.time_scale = fields.number("time_scale", above(0), 1);
  const auto layers = fields.array("layers", true);
  if (const Json* list = fields.any("layers");
      list != nullptr && list->is_array() && layers.empty()) {
    problems.add(*list, "needs at least one layer");
  }
  for (const Json& layer : layers) {
    trace.layers.push_back(parse_trace_layer(layer, problems));
  }
  trace.update = seconds(fields, "update_s");
  trace.input = seconds(fields, "input_s");
  trace.other = seconds(fields, "other_s");
  trace.framework = seconds(fields, "framework_s");
  for (const Json& bucket : fields.array("buckets", false)) {
    trace.buckets.push_back(parse_bucket(bucket, trace.buckets.size(), problems));
  }
  for (const Json& collective : fields.array("collectives", false)) {
    trace.collectives.push_back(parse_collective(collective, problems));
  }
  for (const Json& step : fields.array("steps", false)) {
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
