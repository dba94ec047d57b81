// Layers, buckets, collectives and steps of a trace, each by a table of its members. Sizes that say
// one thing twice (elements and bytes, tensors and layers) must agree exactly: a trace in which
// they do not was put together by hand, and nobody could tell which of the numbers is right.
// Values that a reader of the file would look for are always written, null if they are unknown;
// texts and lists that say nothing when empty are left out.

#include "scenario/files/trace_file.hpp"

#include "scenario/files/import_source.hpp"
#include "scenario/files/keys/model_keys.hpp"
#include "scenario/files/keys/trace_keys.hpp"

namespace stepsim::io {

namespace {

using layers::Checks;
using layers::Layer;
using layers::MeasuredBucket;
using layers::MeasuredCollective;
using layers::MeasuredStep;
using layers::MeasuredTransfer;
using layers::MeasuredUnit;
using layers::Tensor;
using layers::Trace;

constexpr auto kTensor = members<&Tensor::name, nullable<&Tensor::elements>, &Tensor::dtype,
                                 nullable<&Tensor::bytes>, &Tensor::bucket>;
constexpr auto kExtra = members<unless_default<&Tensor::extra_bytes>>;
constexpr auto kLayer = members<&Layer::name, nullable<&Layer::forward>, nullable<&Layer::backward>,
                                nullable<&Layer::gradient_bytes>, &Layer::operation>;
constexpr std::array kTransfer{member_or_null<&MeasuredTransfer::median>("transfer_s"),
                               member_or_null<&MeasuredTransfer::low>("transfer_low_s"),
                               member_or_null<&MeasuredTransfer::high>("transfer_high_s")};
constexpr auto kUnit =
    members<&MeasuredUnit::elements, &MeasuredUnit::gather_dtype, &MeasuredUnit::reduce_dtype,
            &MeasuredUnit::gathers_forward, &MeasuredUnit::gathers_backward>;
constexpr auto kSharding =
    members<&layers::MeasuredSharding::group_size, nullable<&layers::MeasuredSharding::world_size>,
            &layers::MeasuredSharding::reshard_after_forward>;
constexpr auto kBucket = members<&MeasuredBucket::elements, &MeasuredBucket::bytes,
                                 &MeasuredBucket::dtype, &MeasuredBucket::tensors,
                                 nullable<&MeasuredBucket::min>, nullable<&MeasuredBucket::median>,
                                 nullable<&MeasuredBucket::max>, &MeasuredBucket::group>;
constexpr auto kCollective =
    members<&MeasuredCollective::op, &MeasuredCollective::elements, &MeasuredCollective::bytes,
            &MeasuredCollective::dtype, &MeasuredCollective::per_step,
            nullable<&MeasuredCollective::min>>;
// Steps are what the layer times were condensed from. No run uses them; they are kept, so that a
// trace that is read and written again still shows what it rests on.
constexpr auto kStep = members<&MeasuredStep::name, &MeasuredStep::used, &MeasuredStep::rank>;
// What an import found out about its own quality. No run uses it.
constexpr auto kChecks =
    members<&Checks::steps_used, &Checks::backward_nodes, &Checks::backward_matched,
            &Checks::gradient_nodes, &Checks::unattributed_fraction,
            nullable<&Checks::gpu_busy_fraction>, &Checks::rank_spread, &Checks::idle_fraction,
            &Checks::launch_idle_fraction, &Checks::recompute_fraction, &Checks::graph_fraction,
            &Checks::wait_fraction, &Checks::last_rank>;
constexpr auto kRun =
    members<nullable<&Trace::device>, nullable<&Trace::ranks>, nullable<&Trace::batch_size>,
            nullable<&Trace::time_basis>, &Trace::granularity, &Trace::time_scale,
            &Trace::accumulation, unless_default<&Trace::reduces_each>>;
constexpr auto kTimes = members<&Trace::update, &Trace::input, &Trace::other, &Trace::framework>;

// A tensor whose element type is unknown has bytes that nothing can be compared with.
Tensor parse_trace_tensor(Fields& fields) {
  Tensor tensor = read_members(kTensor, fields);
  double count = 1;
  for (const Json& size : fields.list("shape")) {
    const auto checked = checked_integer(size, keys::kTraceShape.front().range, fields.problems());
    tensor.shape.push_back(checked.value_or(1));
    count *= static_cast<double>(tensor.shape.back());
  }
  read_members(kExtra, fields, tensor);
  fields.no_more();
  if (!tensor.shape.empty() && tensor.elements && count != static_cast<double>(*tensor.elements)) {
    fields.refuse("shape", "does not make {} elements", *tensor.elements);
  }
  const std::int64_t size = layers::dtype_bytes(tensor.dtype);
  if (tensor.elements && tensor.bytes && size > 0 &&
      tensor.bytes->value != *tensor.elements * size) {
    fields.refuse("bytes", "{}, but {} elements of {} are {}", tensor.bytes->value,
                  *tensor.elements, tensor.dtype, *tensor.elements * size);
  }
  if (!tensor.elements && tensor.bytes && size > 0 && tensor.bytes->value % size != 0) {
    fields.refuse("bytes", "{} bytes is not a whole number of {}-byte values of {}",
                  tensor.bytes->value, size, tensor.dtype);
  }
  return tensor;
}

// The sum is compared only if all tensors have bytes; otherwise the layer's own number is all there
// is.
Layer parse_trace_layer(Fields& fields) {
  Layer layer = read_members(kLayer, fields);
  layer.tensors = fields.each("tensors", parse_trace_tensor);
  std::int64_t sum = 0;
  bool known = true;
  for (const Tensor& tensor : layer.tensors) {
    known = known && tensor.bytes;
    // Saturates above every legal total.
    sum = std::min(sum + tensor.bytes.value_or(Bytes{0}).value + tensor.extra_bytes.value,
                   std::int64_t{1} << 54);
  }
  if (known && !layer.tensors.empty() && layer.gradient_bytes &&
      layer.gradient_bytes->value != sum) {
    fields.refuse("gradient_bytes", "{}, but the tensors sum to {}", layer.gradient_bytes->value,
                  sum);
  }
  return layer;
}

MeasuredTransfer parse_transfer(Fields& fields) {
  MeasuredTransfer transfer = read_members(kTransfer, fields);
  for (const double wait : fields.numbers("wait_s")) {
    transfer.wait.push_back({wait});
  }
  return transfer;
}

MeasuredUnit parse_unit(Fields& fields) {
  MeasuredUnit unit = read_members(kUnit, fields);
  if (const auto range = fields.list("layers"); !range.empty()) {
    const auto bound = [&](const Json& value) {
      return checked_integer(value, keys::kTraceUnitLayer.front().range, fields.problems())
          .value_or(0);
    };
    unit.first_layer = bound(range.front());
    unit.last_layer = bound(range.back());
    fields.refuse_if(range.size() != 2 || unit.last_layer < unit.first_layer, "layers",
                     "must be the first and the last layer");
  }
  return unit;
}

// `index` may be left out. Where it is given it must be the position, because launch order is what
// the list stands for.
MeasuredBucket parse_bucket(Fields& fields, std::int64_t expected) {
  fields.refuse_if(fields.integer_or("index", expected) != expected, "index",
                   "buckets are numbered from 0 in launch order, this is {}", expected);
  MeasuredBucket bucket = read_members(kBucket, fields);
  bucket.transfer = parse_transfer(fields);
  return bucket;
}

MeasuredCollective parse_collective(Fields& fields) {
  MeasuredCollective collective = read_members(kCollective, fields);
  collective.transfer = parse_transfer(fields);
  return collective;
}

MeasuredStep parse_step(Fields& fields) {
  MeasuredStep step = read_members(kStep, fields);
  read_bound(keys::kStepTimes, fields, step);
  return step;
}

// Only what several profiles have shown.
Json with_transfer(Json json, const MeasuredTransfer& transfer) {
  if (transfer.median) {
    add(json, write_members(kTransfer, keys::kTraceBuckets.front(), transfer));
    json.set("wait_s", write_each(transfer.wait, [](Seconds time) { return time.value; }));
  }
  return json;
}

Json to_json(const Tensor& tensor) {
  const Key& keys = keys::kTraceTensors.front();
  Json json = write_members(kTensor, keys, tensor);
  add(json, write_members(kExtra, keys, tensor));
  set_given(json, "shape", tensor.shape);
  return json;
}

Json to_json(const Layer& layer) {
  Json json = write_members(kLayer, keys::kTraceLayers.front(), layer);
  json.set("tensors", write_each(layer.tensors, [](const Tensor& each) { return to_json(each); }));
  return json;
}

Json to_json(const MeasuredUnit& unit) {
  Json json = write_members(kUnit, keys::kTraceUnits.front(), unit);
  json.set("layers", Array{unit.first_layer, unit.last_layer});
  return json;
}

Json to_json(const MeasuredCollective& collective) {
  return with_transfer(write_members(kCollective, keys::kTraceCollectives.front(), collective),
                       collective.transfer);
}

Json to_json(const MeasuredStep& step) {
  Json json = write_members(kStep, keys::kTraceSteps.front(), step);
  write_bound(keys::kStepTimes, step, json);
  return json;
}

// A list that is absent reads as an empty one.
template <class Value>
void set_list(Json& json, std::string_view key, const std::vector<Value>& values) {
  set_given(json, key, write_each(values, [](const Value& value) { return to_json(value); }));
}

// Measured speeds are there to be compared with what a simulation gives; no run reads them. Methods
// must be compression methods of the simulator, so that each row can be held against a run of its
// own.

// A whole number of at least 1 as a key: "32", not "032" or "+32".
// A number with leading zeros is refused, because "32" and "032" would be two keys for one number
// of ranks.
std::optional<std::int64_t> ranks_of(std::string_view key) {
  const auto ranks = base::parse_number<std::int64_t>(key);
  return ranks && *ranks >= 1 && !key.starts_with('0') ? ranks : std::nullopt;
}

void check_method(const Json& place, std::string_view method, Problems& problems) {
  if (collectives::find_compression(method) == nullptr) {
    problems.add(place, collectives::unknown_compression(method));
  }
}

layers::MeasuredPhases parse_phases(Fields& fields) {
  using Phases = layers::MeasuredPhases;
  Phases phases;
  phases.ranks = fields.integer("ranks");
  phases.method = fields.text("method");
  if (!phases.method.empty()) {
    check_method(*fields.any("method"), phases.method, fields.problems());
  }
  read_members(members<&Phases::compute, &Phases::compress, &Phases::communication>, fields,
               phases);
  return phases;
}

layers::MeasuredThroughput parse_method(std::string_view method, const Json& json,
                                        Problems& problems) {
  check_method(json, method, problems);
  layers::MeasuredThroughput row{std::string(method), {}};
  if (!json.is_object() || json.as_object().empty()) {
    problems.add(json, "must be an object {\"RANKS\": samples per second and GPU}");
    return row;
  }
  for (const auto& [key, value] : json.as_object()) {
    const auto ranks = ranks_of(key);
    const auto speed = checked_number(value, keys::kMeasuredSpeed.front().range, problems);
    if (!ranks) {
      problems.add(value, "the key must be a number of ranks");
    } else if (speed) {
      row.samples_per_s_per_gpu.emplace_back(*ranks, *speed);
    }
  }
  // Members of a JSON object have no order that means anything; tables list speeds by ranks.
  std::ranges::sort(row.samples_per_s_per_gpu);
  return row;
}

layers::MeasuredModel parse_model_row(const Json& json, Problems& problems) {
  Fields fields(json, problems, keys::kMeasuredModel.front());
  using Model = layers::MeasuredModel;
  constexpr auto kKeys =
      members<&Model::name, &Model::parameters, &Model::batch_size, &Model::note>;
  Model model = read_members(kKeys, fields);
  fields.object("phases", [&](Fields& phases) { model.phases = parse_phases(phases); });
  // Keys of the inner objects are data (methods and numbers of ranks), so that `Fields`, which
  // knows a fixed set of keys, cannot read them.
  const Json* speeds = fields.any("samples_per_s_per_gpu");
  if (speeds == nullptr || !speeds->is_object()) {
    problems.add(json, "samples_per_s_per_gpu", "required ({METHOD: {\"RANKS\": number}})");
  } else {
    for (const auto& [method, by_ranks] : speeds->as_object()) {
      model.throughput.push_back(parse_method(method, by_ranks, problems));
    }
  }
  fields.no_more();
  return model;
}

} // namespace

Trace parse_trace(const Json& json) {
  FileFields fields(json, keys::kTrace);
  Trace trace;
  trace.name = fields.string("name", "");
  trace.provenance = fields.word("provenance", layers::kProvenances);
  fields.object("source", [&](Fields& part) { trace.source = read_source(part); });
  read_members(kRun, fields, trace);
  trace.layers = fields.each("layers", parse_trace_layer, "layer");
  read_members(kTimes, fields, trace);
  trace.buckets = fields.each("buckets", [next = std::int64_t{0}](Fields& bucket) mutable {
    return parse_bucket(bucket, next++);
  });
  trace.collectives = fields.each("collectives", parse_collective);
  trace.units = fields.each("units", parse_unit);
  fields.object("sharding", [&](Fields& part) { trace.sharding = read_members(kSharding, part); });
  trace.steps = fields.each("steps", parse_step);
  fields.object("checks", [&](Fields& part) { trace.checks = read_members(kChecks, part); });
  trace.warnings = parse_warnings(fields);
  fields.finish();
  return trace;
}

Json to_json(const Trace& trace) {
  Json json = file_json(keys::kTrace);
  json.set("name", trace.name);
  json.set("provenance", layers::kProvenances[trace.provenance]);
  if (trace.source) {
    json.set("source", to_json(*trace.source));
  }
  add(json, write_members(kRun, keys::kTrace, trace));
  set_list(json, "layers", trace.layers);
  add(json, write_members(kTimes, keys::kTrace, trace));
  Array buckets;
  for (const MeasuredBucket& bucket : trace.buckets) {
    Json each = write_members(kBucket, keys::kTraceBuckets.front(), bucket);
    each.set("index", buckets.size());
    buckets.push_back(with_transfer(std::move(each), bucket.transfer));
  }
  set_given(json, "buckets", buckets);
  set_list(json, "collectives", trace.collectives);
  set_list(json, "units", trace.units);
  if (trace.sharding) {
    json.set("sharding",
             write_members(kSharding, *find_key(keys::kTrace, "sharding"), *trace.sharding));
  }
  set_list(json, "steps", trace.steps);
  if (trace.checks) {
    json.set("checks", write_members(kChecks, *find_key(keys::kTrace, "checks"), *trace.checks));
  }
  json.set("warnings", list_of(trace.warnings));
  return json;
}

layers::MeasuredTraining parse_measured(const Json& json) {
  FileFields fields(json, keys::kMeasured);
  layers::MeasuredTraining measured;
  measured.name = fields.text("name");
  measured.source = fields.text("source");
  measured.note = fields.text("note");
  for (const Json& row : fields.list("models", "model")) {
    layers::MeasuredModel model = parse_model_row(row, fields.problems());
    if (std::ranges::find(measured.models, model.name, &layers::MeasuredModel::name) !=
        measured.models.end()) {
      fields.problems().add(row, "name", "model " + model.name + " appears twice");
    }
    measured.models.push_back(std::move(model));
  }
  fields.finish();
  return measured;
}

} // namespace stepsim::io
