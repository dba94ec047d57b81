// Values that a reader of the file would look for are always written, null if they are unknown;
// texts and lists that say nothing when empty are left out. Reading the text gives an equal trace.
#include "scenario/files/trace_file.hpp"

#include "document/fields/written.hpp"
#include "scenario/files/keys/trace_keys.hpp"
#include "scenario/files/source_json.hpp"

namespace stepsim::io {

namespace {

Json to_json(const layers::Tensor& tensor) {
  Json json;
  json.set("elements", or_null(tensor.elements));
  set_given(json, "dtype", tensor.dtype);
  json.set("bytes", or_null(tensor.bytes));
  set_given(json, "bucket", tensor.bucket);
  set_given(json, "name", tensor.name);
  set_given(json, "shape", tensor.shape);
  if (tensor.extra_bytes.value > 0) {
    json.set("extra_bytes", tensor.extra_bytes.value);
  }
  return json;
}

Json to_json(const layers::Layer& layer) {
  Json json;
  json.set("name", layer.name);
  json.set("forward_s", or_null(layer.forward));
  json.set("backward_s", or_null(layer.backward));
  json.set("gradient_bytes", or_null(layer.gradient_bytes));
  json.set("tensors", write_each(layer.tensors, [](const auto& each) { return to_json(each); }));
  set_given(json, "operation", layer.operation);
  return json;
}

// Only what several profiles have shown.
void set_transfer(Json& json, const layers::MeasuredTransfer& transfer) {
  if (!transfer.median) {
    return;
  }
  json.set("transfer_s", or_null(transfer.median));
  json.set("transfer_low_s", or_null(transfer.low));
  json.set("transfer_high_s", or_null(transfer.high));
  json.set("wait_s", write_each(transfer.wait, [](Seconds time) { return time.value; }));
}

Json to_json(const layers::MeasuredUnit& unit) {
  Json json;
  json.set("elements", unit.elements);
  set_given(json, "gather_dtype", unit.gather_dtype);
  set_given(json, "reduce_dtype", unit.reduce_dtype);
  json.set("gathers_forward", unit.gathers_forward);
  json.set("gathers_backward", unit.gathers_backward);
  json.set("layers", Array{unit.first_layer, unit.last_layer});
  return json;
}

Json to_json(const layers::MeasuredSharding& sharding) {
  Json json;
  json.set("group_size", sharding.group_size);
  json.set("world_size", or_null(sharding.world_size));
  json.set("reshard_after_forward", sharding.reshard_after_forward);
  return json;
}

Json to_json(const layers::MeasuredBucket& bucket, std::size_t index) {
  Json json;
  json.set("index", index);
  json.set("elements", bucket.elements);
  json.set("bytes", bucket.bytes.value);
  set_given(json, "dtype", bucket.dtype);
  json.set("tensors", bucket.tensors);
  json.set("min_s", or_null(bucket.min));
  json.set("median_s", or_null(bucket.median));
  json.set("max_s", or_null(bucket.max));
  set_given(json, "group", bucket.group);
  set_transfer(json, bucket.transfer);
  return json;
}

Json to_json(const layers::MeasuredCollective& collective) {
  Json json;
  json.set("op", collective.op);
  json.set("elements", collective.elements);
  json.set("bytes", collective.bytes.value);
  set_given(json, "dtype", collective.dtype);
  json.set("per_step", collective.per_step);
  json.set("min_s", or_null(collective.min));
  set_transfer(json, collective.transfer);
  return json;
}

Json to_json(const layers::MeasuredStep& step) {
  Json json;
  json.set("name", step.name);
  json.set("used", step.used);
  for (const keys::StepTime& time : keys::kStepTimes) {
    json.set(time.row.name, (step.*time.member).value);
  }
  return json;
}

Json to_json(const layers::Checks& checks) {
  Json json;
  json.set("steps_used", checks.steps_used);
  json.set("backward_nodes", checks.backward_nodes);
  json.set("backward_matched", checks.backward_matched);
  json.set("gradient_nodes", checks.gradient_nodes);
  json.set("unattributed_fraction", checks.unattributed_fraction);
  json.set("gpu_busy_fraction", or_null(checks.gpu_busy_fraction));
  set_given(json, "rank_spread", checks.rank_spread);
  set_given(json, "idle_fraction", checks.idle_fraction);
  set_given(json, "launch_idle_fraction", checks.launch_idle_fraction);
  set_given(json, "recompute_fraction", checks.recompute_fraction);
  set_given(json, "graph_fraction", checks.graph_fraction);
  if (!checks.wait_fraction.empty()) {
    json.set("wait_fraction", list_of(checks.wait_fraction));
    json.set("last_rank", list_of(checks.last_rank));
  }
  return json;
}

// A list that is absent reads as an empty one.
template <class Value>
void set_list(Json& json, std::string_view key, const std::vector<Value>& values) {
  set_given(json, key, write_each(values, [](const Value& value) { return to_json(value); }));
}

} // namespace

Json to_json(const layers::Trace& trace) {
  Json json;
  json.set("schema_version", 1);
  json.set("kind", "trace");
  json.set("name", trace.name);
  json.set("provenance", layers::kProvenances[trace.provenance]);
  if (trace.source) {
    json.set("source", to_json(*trace.source));
  }
  json.set("device", or_null(trace.device));
  json.set("ranks", or_null(trace.ranks));
  json.set("batch_size", or_null(trace.batch_size));
  json.set("time_basis", or_null(trace.time_basis));
  set_given(json, "granularity", trace.granularity, layers::kGranularities);
  json.set("time_scale", trace.time_scale);
  set_given(json, "accumulation", trace.accumulation);
  set_list(json, "layers", trace.layers);
  json.set("update_s", trace.update.value);
  json.set("input_s", trace.input.value);
  json.set("other_s", trace.other.value);
  json.set("framework_s", trace.framework.value);
  Array buckets;
  for (const layers::MeasuredBucket& bucket : trace.buckets) {
    buckets.push_back(to_json(bucket, buckets.size()));
  }
  set_given(json, "buckets", buckets);
  set_list(json, "collectives", trace.collectives);
  set_list(json, "units", trace.units);
  if (trace.sharding) {
    json.set("sharding", to_json(*trace.sharding));
  }
  set_list(json, "steps", trace.steps);
  if (trace.checks) {
    json.set("checks", to_json(*trace.checks));
  }
  json.set("warnings", Array(trace.warnings.begin(), trace.warnings.end()));
  return json;
}

} // namespace stepsim::io
