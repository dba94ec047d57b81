// Values that a reader of the file would look for are always written, null if they are unknown;
// texts and lists that say nothing when empty are left out. Reading the text gives an equal trace.
#include "scenario/files/trace_file.hpp"

#include "scenario/files/keys/trace_keys.hpp"
#include "scenario/files/source_json.hpp"

namespace stepsim::io {

namespace {

Json or_null(const std::optional<Seconds>& value) { return value ? Json(value->value) : Json(); }
Json or_null(const std::optional<Bytes>& value) { return value ? Json(value->value) : Json(); }
template <class Value> Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

void set_text(Json& json, std::string_view key, const std::string& text) {
  if (!text.empty()) {
    json.set(key, text);
  }
}

Json to_json(const layers::Tensor& tensor) {
  Json json;
  json.set("elements", or_null(tensor.elements));
  set_text(json, "dtype", tensor.dtype);
  json.set("bytes", or_null(tensor.bytes));
  if (tensor.bucket) {
    json.set("bucket", *tensor.bucket);
  }
  set_text(json, "name", tensor.name);
  if (!tensor.shape.empty()) {
    json.set("shape", Array(tensor.shape.begin(), tensor.shape.end()));
  }
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
  Array tensors;
  for (const layers::Tensor& tensor : layer.tensors) {
    tensors.push_back(to_json(tensor));
  }
  json.set("tensors", std::move(tensors));
  set_text(json, "operation", layer.operation);
  return json;
}

Array list_of(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// Only what several profiles have shown.
void set_transfer(Json& json, const layers::MeasuredTransfer& transfer) {
  if (!transfer.median) {
    return;
  }
  json.set("transfer_s", or_null(transfer.median));
  json.set("transfer_low_s", or_null(transfer.low));
  json.set("transfer_high_s", or_null(transfer.high));
  Array wait;
  for (const Seconds& time : transfer.wait) {
    wait.push_back(time.value);
  }
  json.set("wait_s", std::move(wait));
}

Json to_json(const layers::MeasuredUnit& unit) {
  Json json;
  json.set("elements", unit.elements);
  set_text(json, "gather_dtype", unit.gather_dtype);
  set_text(json, "reduce_dtype", unit.reduce_dtype);
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
  set_text(json, "dtype", bucket.dtype);
  json.set("tensors", bucket.tensors);
  json.set("min_s", or_null(bucket.min));
  json.set("median_s", or_null(bucket.median));
  json.set("max_s", or_null(bucket.max));
  set_text(json, "group", bucket.group);
  set_transfer(json, bucket.transfer);
  return json;
}

Json to_json(const layers::MeasuredCollective& collective) {
  Json json;
  json.set("op", collective.op);
  json.set("elements", collective.elements);
  json.set("bytes", collective.bytes.value);
  set_text(json, "dtype", collective.dtype);
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
  if (checks.rank_spread) {
    json.set("rank_spread", *checks.rank_spread);
  }
  const auto set_fraction = [&](std::string_view key, const std::optional<double>& value) {
    if (value) {
      json.set(key, *value);
    }
  };
  set_fraction("idle_fraction", checks.idle_fraction);
  set_fraction("launch_idle_fraction", checks.launch_idle_fraction);
  set_fraction("recompute_fraction", checks.recompute_fraction);
  set_fraction("graph_fraction", checks.graph_fraction);
  if (!checks.wait_fraction.empty()) {
    json.set("wait_fraction", list_of(checks.wait_fraction));
    json.set("last_rank", list_of(checks.last_rank));
  }
  return json;
}

// A list that is absent reads as an empty one.
template <class Value>
void set_list(Json& json, std::string_view key, const std::vector<Value>& values) {
  if (values.empty()) {
    return;
  }
  Array list;
  for (const Value& value : values) {
    list.push_back(to_json(value));
  }
  json.set(key, std::move(list));
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
  if (trace.granularity) {
    json.set("granularity", layers::kGranularities[*trace.granularity]);
  }
  json.set("time_scale", trace.time_scale);
  if (trace.accumulation) {
    json.set("accumulation", *trace.accumulation);
  }
  set_list(json, "layers", trace.layers);
  json.set("update_s", trace.update.value);
  json.set("input_s", trace.input.value);
  json.set("other_s", trace.other.value);
  json.set("framework_s", trace.framework.value);
  Array buckets;
  for (const layers::MeasuredBucket& bucket : trace.buckets) {
    buckets.push_back(to_json(bucket, buckets.size()));
  }
  if (!buckets.empty()) {
    json.set("buckets", std::move(buckets));
  }
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
