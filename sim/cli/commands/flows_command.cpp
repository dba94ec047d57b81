// stepsim flows FLOWS: completion times of a list of flows (PKT 7.1).
// The rates in `meta` count the simulation alone, without reading the file and writing the result.
#include "cli/commands/flows_command.hpp"

#include <CLI/CLI.hpp>

#include <utility>

#include <chrono>

#include "base/error.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/flat_records.hpp"
#include "cli/shell/interrupts.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/replaced_file.hpp"
#include "cli/shell/simulation_meta.hpp"
#include "cli/text/flows_text.hpp"
#include "document/file.hpp"
#include "document/file_write.hpp"
#include "document/json_text.hpp"
#include "plot/chrome_trace.hpp"
#include "run/flows_result.hpp"
#include "run/flows_timeline.hpp"

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
    "The file is described in docs/file-formats.md and schemas/flows.schema.json; a timeline "
    "opens\n"
    "in https://ui.perfetto.dev and chrome://tracing.",
};

// A wrong value is the flag's fault if --set gave it, else the file's.
study::FlowsFile load(const io::Json& tree, study::Files& files, const ScenarioFlags& flags) {
  // --set makes another network of the file: keys that mean nothing in it are left over then.
  const auto leftovers = flags.set.empty() ? study::Leftovers::refuse : study::Leftovers::ignore;
  try {
    return study::parse_flows(tree, files, leftovers);
  } catch (const InputError& error) {
    blame_flag(error, tree, flags);
    throw;
  }
}

// Written in blocks, as for `run`: a packet run has millions of events. An interruption is held
// back until the file is complete, so that no half of one is left.
void write_timeline(const std::string& name, const events::Timeline& timeline,
                    const Common& common) {
  const DelayInterrupts delay;
  io::OutputFile file(name);
  bool is_first = true;
  plot::write_timeline(timeline, [&](std::string_view block) {
    if (std::exchange(is_first, false)) {
      refuse_other_kind(common, name, block);
    }
    file.write(block);
  });
  file.commit();
}

// One row per flow; summary and links are in JSON only.
std::string csv_of(const io::Json& tree) {
  std::vector<io::Object> records;
  for (const io::Json& flow : tree.find("flows")->as_array()) {
    records.push_back(flow.as_object());
  }
  return csv_text(records);
}

} // namespace

// Only --set and --seed of the flags of a scenario mean something to a list of flows.
int flows(const Invocation& invocation) {
  std::string name;
  ScenarioFlags flags;
  std::string timeline;
  CLI::App app;
  app.add_option("FLOWS", name, "file of kind flows; - = standard input")->required();
  app.add_option("--set", flags.set,
                 "changes one value of the file, e.g. /network/model=packet; a number with a unit "
                 "is converted, a bare one is in the SI unit of the key; repeatable")
      ->type_name("POINTER=VALUE")
      ->allow_extra_args(false);
  app.add_option("--seed", flags.seed,
                 "integer; of paths, permutations, jitter and random losses; default the file's")
      ->type_name("N");
  app.add_option("--timeline", timeline,
                 "also writes what happened when, as Chrome trace events; .gz compresses")
      ->type_name("FILE.json[.gz]");
  Common common;
  if (!parse(app, kFlowsText, invocation, common)) {
    return kOk;
  }
  if (!timeline.empty() && timeline == common.output) {
    throw UsageError("--timeline and -o name the same file");
  }
  const Format format = format_of(common, Format::table);
  study::Files files(invocation.data_folder, {common.output, timeline});
  const study::FlowsFile file =
      load(read_scenario_tree(name, flags, files.data_folder()), files, flags);
  common.work.estimate(study::estimated_seconds(file));
  const auto started = std::chrono::steady_clock::now();
  const study::FlowsResult result = study::run_flow_list(file);
  const std::chrono::duration<double> simulation = std::chrono::steady_clock::now() - started;
  if (!timeline.empty()) {
    write_timeline(timeline, study::flows_timeline(file, result), common);
  }
  if (format == Format::table) {
    write_output(common, flows_text(file, result));
  } else {
    io::Json tree = study::flows_tree(file, result);
    require_finite(tree);
    if (format == Format::csv) {
      write_output(common, csv_of(tree));
    } else {
      tree.set("meta",
               simulation_meta(invocation, result.events, result.packet_hops, simulation.count()));
      write_output(common, format == Format::json ? io::pretty(tree) : io::compact(tree) + "\n");
    }
  }
  print_warnings(result.warnings, common);
  return kOk;
}

} // namespace stepsim::cli
