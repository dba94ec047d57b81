#include "run/result.hpp"
#include "scenario/scenario_tree.hpp"

#include <array>
#include <utility>

namespace stepsim::study {

namespace {

constexpr std::array kSummaryFields{
    SummaryField{"closed_form_is_bound", &Summary::closed_form_is_bound},
    SummaryField{"closed_form_s", &Summary::closed_form_s},
    SummaryField{"codec_compute_s", &Summary::codec_compute_s},
    SummaryField{"communication_s", &Summary::communication_s},
    SummaryField{"compute_s", &Summary::compute_s},
    SummaryField{"exposed_communication_s", &Summary::exposed_communication_s},
    SummaryField{"forward_s", &Summary::forward_s},
    SummaryField{"backward_s", &Summary::backward_s},
    SummaryField{"iteration_time_high_s", &Summary::iteration_time_high_s},
    SummaryField{"iteration_time_low_s", &Summary::iteration_time_low_s},
    SummaryField{"iteration_time_s", &Summary::iteration_time_s},
    SummaryField{"lower_bound_s", &Summary::lower_bound_s},
    SummaryField{"makespan_drained_s", &Summary::makespan_drained_s},
    SummaryField{"makespan_s", &Summary::makespan_s},
    SummaryField{"merge_gap_to_optimal", &Summary::merge_gap_to_optimal},
    SummaryField{"merge_optimal_iteration_time_s", &Summary::merge_optimal_iteration_time_s},
    SummaryField{"merge_waiting_merges", &Summary::merge_waiting_merges},
    SummaryField{"overlap_fraction", &Summary::overlap_fraction},
    SummaryField{"paper_form_s", &Summary::paper_form_s},
    SummaryField{"samples_per_s", &Summary::samples_per_s},
    SummaryField{"scaling_efficiency", &Summary::scaling_efficiency},
    SummaryField{"speedup", &Summary::speedup},
    SummaryField{"straggler_wait_s", &Summary::straggler_wait_s},
    SummaryField{"update_s", &Summary::update_s},
    SummaryField{"wire_bytes", &Summary::wire_bytes},
    SummaryField{"pipeline_width", &Summary::pipeline_width},
    SummaryField{"staleness_mean", &Summary::staleness_mean},
    SummaryField{"staleness_max", &Summary::staleness_max},
    SummaryField{"in_flight_gradients", &Summary::in_flight_gradients},
    SummaryField{"codec_hops", &Summary::codec_hops},
    SummaryField{"select_s", &Summary::select_s},
    SummaryField{"residual_s", &Summary::residual_s},
    SummaryField{"compress_s", &Summary::compress_s},
    SummaryField{"staging_s", &Summary::staging_s},
    SummaryField{"wire_s", &Summary::wire_s},
    SummaryField{"merge_s", &Summary::merge_s},
    SummaryField{"scatter_s", &Summary::scatter_s},
    SummaryField{"density", &Summary::density},
    SummaryField{"k", &Summary::k},
    SummaryField{"speedup_vs_dense_sequential", &Summary::speedup_vs_dense_sequential},
    SummaryField{"speedup_vs_dense_overlapped", &Summary::speedup_vs_dense_overlapped},
    SummaryField{"fct_mean_s", &Summary::fct_mean_s},
    SummaryField{"fct_p50_s", &Summary::fct_p50_s},
    SummaryField{"fct_p95_s", &Summary::fct_p95_s},
    SummaryField{"fct_p99_s", &Summary::fct_p99_s},
    SummaryField{"fct_max_s", &Summary::fct_max_s},
    SummaryField{"loss_fraction", &Summary::loss_fraction},
    SummaryField{"stale_fraction", &Summary::stale_fraction},
    SummaryField{"effective_loss", &Summary::effective_loss},
    SummaryField{"epochs", &Summary::epochs},
    SummaryField{"time_to_accuracy_s", &Summary::time_to_accuracy_s},
    SummaryField{"input_wait_s", &Summary::input_wait_s},
    SummaryField{"merge_certified_optimal", &Summary::merge_certified_optimal},
    SummaryField{"bottleneck", &Summary::bottleneck},
    SummaryField{"baseline", &Summary::baseline},
    SummaryField{"converges", &Summary::converges},
    SummaryField{"staleness_histogram", &Summary::staleness_histogram}};

io::Json number_or_null(const std::optional<double>& value) {
  return value ? io::Json(*value) : io::Json();
}

io::Json text_or_null(const std::string& text) {
  return text.empty() ? io::Json() : io::Json(text);
}

template <class Value, class Tree> io::Json list(const std::vector<Value>& values, Tree tree) {
  io::Array array;
  for (const Value& value : values) {
    array.push_back(tree(value));
  }
  return array;
}

// What a summary field holds, one function per kind.
struct FieldJson {
  const Summary& summary;
  io::Json operator()(SummaryNumber number) const { return number_or_null(summary.*number); }
  io::Json operator()(SummaryFlag flag) const {
    return summary.*flag ? io::Json(*(summary.*flag)) : io::Json();
  }
  io::Json operator()(SummaryWord word) const { return text_or_null(summary.*word); }
  io::Json operator()(SummaryCounts counts) const {
    return list(summary.*counts, [](std::int64_t count) { return io::Json(count); });
  }
};

// "merge_gap_to_optimal" -> {"merge": {"gap_to_optimal": ..}}, likewise "fct_".
io::Json nested(const io::Object& flat) {
  io::Json tree{io::Object{}};
  io::Json merge{io::Object{}};
  io::Json fct{io::Object{}};
  for (const auto& [key, value] : flat) {
    if (key.starts_with("merge_") && key != "merge_s") {
      merge.set(key.substr(6), value);
    } else if (key.starts_with("fct_")) {
      fct.set(key.substr(4), value);
    } else {
      tree.set(key, value);
    }
  }
  tree.set("merge", std::move(merge));
  tree.set("fct", std::move(fct));
  return tree;
}

io::Json bucket_tree(const Bucket& bucket) {
  return io::Object{{"index", bucket.index},
                    {"layers", io::Array{bucket.first, bucket.last}},
                    {"bytes", bucket.bytes.value},
                    {"elements", bucket.elements > 0 ? io::Json(bucket.elements) : io::Json()},
                    {"tensors", bucket.items},
                    {"ready_s", bucket.ready_s},
                    {"start_s", bucket.start_s},
                    {"end_s", bucket.end_s},
                    {"exposed_s", bucket.exposed_s},
                    {"algorithm", bucket.algorithm}};
}

io::Json iteration_tree(const Iteration& iteration) {
  return io::Object{{"index", iteration.index},
                    {"start_s", iteration.start_s},
                    {"compute_end_s", iteration.compute_end_s},
                    {"exchange_start_s", iteration.exchange_start_s},
                    {"exchange_end_s", iteration.exchange_end_s},
                    {"iteration_time_s", iteration.iteration_time_s},
                    {"exposed_communication_s", iteration.exposed_communication_s},
                    {"applied_gradient", iteration.applied_gradient
                                             ? io::Json(*iteration.applied_gradient)
                                             : io::Json()},
                    {"density", number_or_null(iteration.density)},
                    {"k", iteration.k ? io::Json(*iteration.k) : io::Json()},
                    {"loss_fraction", number_or_null(iteration.loss_fraction)}};
}

io::Json worker_tree(const WorkerResult& worker) {
  return io::Object{{"worker", worker.worker},
                    {"compute_s", worker.compute_s},
                    {"straggler_wait_s", worker.straggler_wait_s},
                    {"transfer_s", worker.transfer_s}};
}

io::Json layer_tree(const LayerResult& layer) {
  return io::Object{{"name", layer.name},
                    {"forward_start_s", layer.forward_start_s},
                    {"forward_end_s", layer.forward_end_s},
                    {"backward_start_s", layer.backward_start_s},
                    {"backward_end_s", layer.backward_end_s},
                    {"gradient_done_s", layer.gradient_done_s}};
}

io::Json tensor_tree(const TensorResult& tensor) {
  return io::Object{{"bucket", tensor.bucket},
                    {"part", tensor.gradient ? "gradient" : "parameter"},
                    {"size_bytes", tensor.size_bytes},
                    {"packets", tensor.packets},
                    {"delivered_packets", tensor.delivered_packets},
                    {"delivered_fraction", number_or_null(tensor.delivered_fraction())},
                    {"lost_network_bytes", tensor.lost_network_bytes},
                    {"lost_stopped_bytes", tensor.lost_stopped_bytes},
                    {"wasted_bytes", tensor.wasted_bytes},
                    {"retransmissions", tensor.retransmissions},
                    {"timeouts", tensor.timeouts},
                    {"duplicates", tensor.duplicates},
                    {"probe_rounds", tensor.probe_rounds},
                    {"complete_s", tensor.complete_s}};
}

io::Json job_tree(const JobTimes& job) {
  return io::Object{{"name", job.name},
                    {"nodes", job.nodes},
                    {"iteration_time_s", number_or_null(job.together_s)},
                    {"alone_iteration_time_s", job.alone_s}};
}

// Every direction of every link; of a run that simulates one exchange at a time, over all of them.
io::Json links_tree(const Result& result) {
  io::Array links;
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    links.push_back(link_tree(result.scenario.cluster.fabric->fabric(),
                              static_cast<net::LinkId>(link), result.links[link]));
  }
  return links;
}

io::Json network_tree(const Network& network) {
  const bool packets = network.model == NetworkModel::packet;
  const net::PacketOptions& options = network.packet.options;
  return io::Object{
      {"model", kNetworkModels[network.model]},
      {"transport", packets ? io::Json(net::kTransportKinds[options.transport.kind]) : io::Json()},
      {"queue_discipline",
       packets ? io::Json(net::kQueueDisciplines[options.queue_discipline]) : io::Json()}};
}

} // namespace

std::span<const SummaryField> summary_fields() { return kSummaryFields; }

io::Object flat_summary(const Summary& summary) {
  io::Object flat;
  flat.reserve(kSummaryFields.size());
  for (const SummaryField& field : kSummaryFields) {
    flat.emplace_back(field.key, std::visit(FieldJson{summary}, field.value));
  }
  return flat;
}

io::Json result_tree(const Result& result) {
  const Network& network = result.scenario.cluster.network;
  io::Json calibration;
  if (!network.calibration.empty()) {
    calibration = io::Object{{"file", network.calibration},
                             {"grade", text_or_null(network.grade)},
                             {"extrapolated", result.extrapolation_factor
                                                  ? io::Json(*result.extrapolation_factor > 1)
                                                  : io::Json()},
                             {"extrapolation_factor", number_or_null(result.extrapolation_factor)}};
  }
  return io::Object{
      {"schema_version", 1},
      {"kind", "result"},
      {"scenario", scenario_tree(result.scenario)},
      {"method", result.method},
      {"provenance", train::kProvenances[result.scenario.workload.provenance]},
      {"label", text_or_null(network.label)},
      {"calibration", std::move(calibration)},
      {"network", network_tree(network)},
      {"summary", nested(flat_summary(result.summary))},
      {"iterations", list(result.iterations, iteration_tree)},
      {"workers", list(result.workers, worker_tree)},
      {"buckets", list(result.buckets, bucket_tree)},
      {"layers", list(result.layers, layer_tree)},
      {"links", links_tree(result)},
      {"tensors", list(result.tensors, tensor_tree)},
      {"jobs", list(result.jobs, job_tree)},
      {"events", static_cast<std::int64_t>(result.events)},
      {"packet_hops", result.packet_hops ? io::Json(*result.packet_hops) : io::Json()},
      {"defaults", list(result.defaults,
                        [](const DefaultValue& each) {
                          return io::Json(io::Object{{"pointer", each.pointer},
                                                     {"value", each.value},
                                                     {"reason", each.reason}});
                        })},
      {"measured_buckets", list(result.measured_exchanges,
                                [](const MeasuredExchange& each) {
                                  return io::Json(io::Object{{"index", each.index},
                                                             {"bytes", each.bytes.value},
                                                             {"measured_s", each.measured_s},
                                                             {"simulated_s", each.simulated_s}});
                                })},
      {"warnings", list(result.warnings, [](const std::string& text) { return io::Json(text); })}};
}

} // namespace stepsim::study
