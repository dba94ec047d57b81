// Rows are in the order of the file's description. Every key is always there: null, or an empty
// list, where a run has nothing to say.
#include "run/result_file.hpp"

#include "document/json_text.hpp"
#include "run/result_rows.hpp"
#include "run/summary_keys.hpp"
#include "scenario/keys/named_file_keys.hpp"
#include "scenario/keys/scenario_keys.hpp"

namespace stepsim::study {
namespace {

using io::Json;
using io::Written;
using io::rows::any;
using io::rows::boolean;
using io::rows::integer;
using io::rows::list;
using io::rows::number;
using io::rows::object;
using io::rows::text;
using io::rows::word;

// Of a run that is done: `auto` has become one of them.
std::vector<std::string_view> evaluators_used() {
  std::vector<std::string_view> all = keys::evaluators();
  std::erase(all, "auto");
  return all;
}

constexpr std::string_view kKind = "result";

constexpr std::array<std::string_view, 2> kParts{"gradient", "parameter"};
constexpr auto kTensor = std::to_array<Written<TensorResult>>({
    io::row<&TensorResult::bucket>("Bucket that the message belongs to."),
    {word("part", kParts, "Gradients, or parameters on their way back.").required(),
     [](const TensorResult& t) -> Json { return kParts[t.gradient ? 0 : 1]; }},
    io::row<&TensorResult::size_bytes>("Bytes to send."),
    io::row<&TensorResult::packets>("Packets to send."),
    io::row<&TensorResult::delivered_packets>("Packets that arrived."),
    io::row("delivered_fraction", "Bytes that arrived over bytes to send; null for no bytes.",
            [](const TensorResult& t) { return t.delivered_fraction(); }),
    io::row<&TensorResult::lost_network_bytes>(
        "Bytes that the network lost and nobody sent again."),
    io::row<&TensorResult::lost_stopped_bytes>(
        "Bytes that were not sent because the sender was stopped."),
    io::row<&TensorResult::wasted_bytes>("Bytes that arrived and were of no use."),
    io::row<&TensorResult::retransmissions>("Packets sent again."),
    io::row<&TensorResult::timeouts>("Timers that ran out."),
    io::row<&TensorResult::duplicates>("Packets that arrived more than once."),
    io::row<&TensorResult::probe_rounds>("Rounds in which the sender asked what is missing."),
    io::row<&TensorResult::complete_s>(
        "When the message was complete, s from the start of the iteration."),
});

constexpr auto kOverride = std::to_array<Written<Override>>({
    io::row<&Override::pointer>("Where it stands in the scenario.")
        .example(R"("/cluster/nics_per_node")"),
    io::row<&Override::value>("What the scenario says.").example("4"),
    io::row<&Override::of_node>(
        "What the node type says; null where a calibration stands for several values.")
        .example("8"),
});

constexpr auto kMeasured = std::to_array<Written<MeasuredExchange>>({
    io::row<&MeasuredExchange::index>("Launch order in the trace, from 0.").in(io::at_least(0)),
    io::row<&MeasuredExchange::bytes>("Size.").in(io::at_least(0)),
    io::row<&MeasuredExchange::measured_s>(
        "Median over the steps of the trace, s, without waiting for other ranks where it is known.")
        .in(io::at_least(0)),
    io::row<&MeasuredExchange::simulated_s>("Here, with as many ranks, s.").in(io::at_least(0)),
});

constexpr auto kCalibration = std::to_array<Written<Result>>({
    io::row("file", "File of the network profile.",
            [](const Result& r) { return r.scenario->cluster.network.calibration; }),
    {text("grade", "How well the profile fits its own measurements.").nullable().required(),
     [](const Result& r) { return io::text_or_null(r.scenario->cluster.network.grade); }},
    io::row("extrapolated", "Ranks or messages lie outside what was measured.",
            [](const Result& r) {
              return r.extrapolation_factor ? std::optional(*r.extrapolation_factor > 1)
                                            : std::nullopt;
            }),
    io::row<&Result::extrapolation_factor>("How far they lie outside, as a ratio; 1 inside."),
});

bool is_packets(const Network& network) { return network.model == NetworkModel::packet; }

constexpr auto kNetwork = std::to_array<Written<Network>>({
    {word("model", kNetworkModels, "Level of simulation.").required(),
     [](const Network& n) -> Json { return kNetworkModels[n.model]; }},
    {word("transport", links::kTransportKinds, "Transport protocol of packets.")
         .nullable()
         .required(),
     [](const Network& n) {
       return is_packets(n) ? Json(links::kTransportKinds[n.packet.options.transport.kind])
                            : Json();
     }},
    {word("queue_discipline", links::kQueueDisciplines, "Order of packets in queues.")
         .nullable()
         .required(),
     [](const Network& n) {
       return is_packets(n) ? Json(links::kQueueDisciplines[n.packet.options.queue_discipline])
                            : Json();
     }},
});

constexpr std::array kOneWarning{text("warnings", "One warning.", R"("the GPU was idle")")};

// A list that grows with the workload: it is written element by element.
struct LongList {
  std::string_view key;
  std::size_t (*size)(const Result&);
  Json (*element)(const Result&, std::size_t);
};
template <auto Member, const auto& Table> constexpr LongList long_list(std::string_view key) {
  return {key, [](const Result& r) { return (r.*Member).size(); },
          [](const Result& r, std::size_t i) { return io::write(Table, (r.*Member)[i]); }};
}
constexpr std::array kLongLists{long_list<&Result::buckets, kBucket>("buckets"),
                                long_list<&Result::iterations, kIteration>("iterations"),
                                long_list<&Result::layers, kLayer>("layers"),
                                long_list<&Result::tensors, kTensor>("tensors"),
                                long_list<&Result::workers, kWorker>("workers")};

// Every direction of every link; of a run that simulates one exchange at a time, over all of them.
std::vector<NamedLink> links_in(const Result& result) {
  return result.links.empty()
             ? std::vector<NamedLink>()
             : named_links(result.scenario->cluster.fabric->fabric(), result.links);
}

constexpr std::string_view kLayers = "/workload/layers";
// A workload has a layer at least.
bool leaves_layers_out(const Json& scenario) {
  const Json* layers = io::resolve(scenario, kLayers);
  return layers != nullptr && layers->is_array() && layers->as_array().empty();
}

constexpr auto kResult = std::to_array<Written<Result>>({
    {integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
     [](const Result&) -> Json { return 1; }},
    {text("kind", "Kind of the file.").required(), [](const Result&) -> Json { return kKind; }},
    {object("scenario", {}, "The scenario with every default filled in.", "{}").open().required(),
     [](const Result& r) { return scenario_tree(*r.scenario); }},
    {word("method", evaluators_used, "Evaluator used.").required(), io::value_of<&Result::method>},
    {word("provenance", layers::kProvenances, "Origin of the layer times.").required(),
     [](const Result& r) -> Json { return layers::kProvenances[r.scenario->workload.provenance]; }},
    {object("estimate", io::kKeysOf<kEstimate>, "The estimate of the layer times.")
         .nullable()
         .required(),
     [](const Result& r) {
       return r.scenario->workload.interval ? io::write(kEstimate, *r.scenario) : Json();
     }},
    {text("label", "Label of the network profile.", R"("default")").nullable().required(),
     [](const Result& r) { return io::text_or_null(r.scenario->cluster.network.label); }},
    {object("calibration", io::kKeysOf<kCalibration>, "The network profile used.")
         .nullable()
         .required(),
     [](const Result& r) {
       return r.scenario->cluster.network.calibration.empty() ? Json() : io::write(kCalibration, r);
     }},
    {object("network", io::kKeysOf<kNetwork>, "Network model.").required(),
     [](const Result& r) { return io::write(kNetwork, r.scenario->cluster.network); }},
    {object("summary", kSummaryKeys, "The figures of the run.").required(),
     [](const Result& r) { return summary_tree(r.summary); }},
    io::object_row<&Result::measured_total, kMeasuredTotal>(
        "A measured step of the same series, and what it corrects."),
    io::list_row<&Result::iterations, kIteration, "One iteration.">(
        "Iterations from 0; of asynchronous training those of worker 0."),
    io::list_row<&Result::workers, kWorker, "One worker.">(
        "Means of every worker, where workers differ."),
    io::list_row<&Result::buckets, kBucket, "One message of a step.">(
        "Messages of a step in launch order."),
    io::list_row<&Result::units, kUnit, "One sharding unit.">("Sharding units."),
    io::object_row<&Result::program, kProgramSize>("The program of an iteration."),
    io::list_row<&Result::layers, kLayer, "One layer.">("Layers in a steady step."),
    io::list_row<kLinkUse, "One direction of a link.">("links",
                                                       "Directions of links of the topology.",
                                                       [](const Result& r) { return links_in(r); }),
    io::list_row<&Result::tensors, kTensor, "One message of packets.">(
        "Messages of the last iteration, packet level."),
    io::list_row<&Result::jobs, kJob, "One job.">("Jobs, where the workload is a list of them."),
    io::row<&Result::events>("Events simulated.").in(io::at_least(0)),
    io::row<&Result::packet_hops>("Packets times links passed; null without packets.")
        .in(io::at_least(0)),
    io::list_row<&Result::defaults, kDefault, "One of them.">(
        "Values that the scenario leaves out and that decide a time here."),
    {list("files", keys::kOneNamedFile, "Files that the scenario names, as they were for this run.")
         .required(),
     [](const Result& r) { return io::write_all(keys::kNamedFile, r.files); }},
    io::list_row<kOverride, "One of them.">(
        "overrides", "Values of the scenario that replace others of its node type.",
        [](const Result& r) { return r.scenario->cluster.overrides; }),
    io::list_row<kMeasured, "One bucket of the trace.">(
        "measured_buckets",
        "Exchanges of the trace next to simulated ones of as many ranks; empty without timed "
        "buckets.",
        io::Getter<&Result::measured_exchanges>()),
    {list("warnings", kOneWarning, "What was guessed, dropped or looks wrong.").required(),
     [](const Result& r) -> Json { return io::list_of(r.warnings); }},
});
constexpr io::Key kRoot =
    object("result", io::kKeysOf<kResult>, "What `stepsim run --json` writes.").and_also(io::kMeta);
constexpr std::array<std::string_view, 1> kExamples{R"({
  "schema_version": 1, "kind": "result", "scenario": {}, "method": "closed_form",
  "provenance": "measured", "label": "default", "calibration": null,
  "network": {"model": "alpha_beta", "transport": null, "queue_discipline": null},
  "summary": {"makespan_s": 0.1}, "estimate": null, "measured_total": null, "units": [],
  "program": null, "overrides": [], "iterations": [], "workers": [], "buckets": [],
  "layers": [], "links": [], "tensors": [], "jobs": [], "events": 0, "packet_hops": null,
  "defaults": [], "files": [], "measured_buckets": [], "warnings": []})"};

} // namespace

io::Json result_tree(const Result& result) { return io::write(kResult, result); }

// Where a part holds a number that JSON cannot hold, the message of the whole tree says which.
void write_result(const Result& result, const io::Object& others,
                  const std::function<void(std::string_view)>& sink) {
  std::vector<std::pair<std::string_view, const Written<Result>*>> members; // null: of `others`
  for (const auto& [key, value] : others) {
    members.emplace_back(key, nullptr);
  }
  for (const Written<Result>& row : kResult) {
    if (std::ranges::find(others, row.key.name, &io::Member::first) == others.end()) {
      members.emplace_back(row.key.name, &row);
    }
  }
  std::ranges::sort(members);
  io::ObjectText text(sink);
  try {
    for (const auto& [key, row] : members) {
      if (row == nullptr) {
        const Json& value = std::ranges::find(others, key, &io::Member::first)->second;
        if (key == "scenario" && leaves_layers_out(value)) {
          const auto& nominal = result.scenario->nominal;
          const InlineLayers layers(nominal ? nominal->workload : result.scenario->workload);
          text.member(key, value, {kLayers, layers.size(), layers});
        } else {
          text.member(key, value);
        }
      } else if (const LongList* list = base::found(kLongLists, key, &LongList::key)) {
        text.list(key, list->size(result), [&](std::size_t i) { return list->element(result, i); });
      } else if (const Json value = row->value(result); row->key.is_required || !value.is_null()) {
        text.member(key, value);
      }
    }
    text.end();
  } catch (const SimulationError&) {
    Json whole = result_tree(result);
    io::add(whole, others);
    io::require_finite(whole);
    throw;
  }
}

io::FileKind result_kind() { return {kKind, &kRoot, kExamples}; }

} // namespace stepsim::study
