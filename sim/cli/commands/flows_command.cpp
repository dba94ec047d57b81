// stepsim flows FLOWS: completion times of a list of flows (PKT 7.1).
// The rates in `meta` count the simulation alone, without reading the file and writing the result.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/finished_run.hpp"
#include "cli/text/answer_texts.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kFlowsText{
    "flows",
    "FLOWS",
    "Sends a list of flows through a network and tells when each is complete: at the flow level\n"
    "(fair sharing of links) or packet by packet with queues, losses and a transport protocol.",
    "stepsim flows examples/incast.flows.json\n"
    "stepsim flows incast.json --set /network/packet/transport/kind=dctcp\n"
    "stepsim flows incast.json --set /network/model=packet --json --timeline timeline.json.gz",
    R"(The file is described in docs/file-formats.md and schemas/flows.schema.json; a timeline opens
in https://ui.perfetto.dev and chrome://tracing.)",
};

} // namespace

// Only --set and --seed of the flags of a scenario mean something to a list of flows.
int flows(const Invocation& invocation) {
  ScenarioFlags flags;
  std::string timeline;
  CLI::App app;
  add_argument(app, "FLOWS", flags.file, "file of kind flows; - = standard input");
  add_value(app, "--set", flags.set, "POINTER=VALUE",
            "changes one value of the file, e.g. /network/model=packet; a number with a unit "
            "is converted, a bare one is in the SI unit of the key; repeatable")
      ->allow_extra_args(false);
  add_value(app, "--seed", flags.seed, "N",
            "integer; of paths, permutations, jitter and random losses; default the file's");
  add_value(app, "--timeline", timeline, "FILE.json[.gz]",
            "also writes what happened when, as Chrome trace events; .gz compresses");
  Common common(app, kFlowsText, invocation);
  if (!timeline.empty() && timeline == common.output) {
    throw UsageError("--timeline and -o name the same file");
  }
  study::Files files(invocation.data_folder, {common.output, timeline});
  const io::Json input = read_scenario_tree(flags, files, common);
  // --set makes another network of the file: keys that mean nothing in it are left over then.
  const auto leftovers = flags.set.empty() ? study::Leftovers::refuse : study::Leftovers::ignore;
  const study::FlowsFile file =
      of_flags(input, flags, [&] { return study::parse_flows(input, files, leftovers); });
  common.work.estimate(study::estimated_seconds(file));
  const auto started = std::chrono::steady_clock::now();
  const study::FlowsResult result = study::run_flow_list(file);
  const std::chrono::duration<double> simulation = std::chrono::steady_clock::now() - started;
  if (!timeline.empty()) {
    write_timeline(timeline, common, study::flows_timeline(file, result));
  }
  const auto tree = [&] {
    io::Json found = study::flows_tree(file, result);
    found.set("meta",
              simulation_meta(invocation, result.events, result.packet_hops, simulation.count()));
    return found;
  };
  // CSV has one row per flow; summary and links are in JSON only.
  return write_document(common, {.text = [&] { return flows_text(file, result); },
                                 .tree = tree,
                                 .records = [&] { return tree().find("flows")->as_array(); },
                                 .lines = [&] { return io::Array{tree()}; },
                                 .warnings = result.warnings});
}

} // namespace stepsim::cli
