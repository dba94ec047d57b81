#include "cli/commands/finished_run.hpp"

#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"
#include "plot/chrome_trace.hpp"
#include "run/result_file.hpp"
#include "run/run.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

namespace stepsim::cli {

study::Result finished_run(const study::Scenario& scenario, const io::Json& tree,
                           study::Files& files, const ScenarioFlags& flags,
                           std::int64_t replications) {
  study::Result result = run_scenario(scenario, tree, flags, replications);
  result.defaults = study::defaults_that_decide(tree, scenario);
  result.files = study::named_files(tree, files);
  result.measured_exchanges = study::measured_exchanges(scenario);
  if (auto warning = study::far_exchanges(scenario, result.measured_exchanges)) {
    result.warnings.push_back(std::move(*warning));
  }
  return result;
}

io::Json finished_scenario(study::Result& result, const io::Json& tree, const std::string& output,
                           study::LayerList layers) {
  io::Json scenario =
      study::with_names_relative_to(study::scenario_tree(*result.scenario, layers), output, tree);
  const io::Json* name = io::resolve(scenario, "/cluster/network/calibration");
  if (name != nullptr && name->is_string()) {
    result.scenario->cluster.network.calibration = name->as_string();
  }
  return scenario;
}

// Every line is answered as if it were a command of its own: files are kept between two lines, and
// all are read again where one may have changed in between.

namespace {

// The scenario that a line asks for, with its values of "set" in it.
io::Json scenario_of_line(const std::string& line, const std::string& name,
                          const ScenarioFlags& flags, const std::string& data_folder) {
  io::Json asked = io::parse_json(line, name);
  const io::Json* kind = asked.is_object() ? asked.find("kind") : nullptr;
  const io::Json* scenario = asked.is_object() ? asked.find("scenario") : nullptr;
  io::Json tree;
  if (scenario == nullptr) {
    tree = study::with_short_forms_expanded(std::move(asked));
  } else if (scenario->is_string()) {
    const std::string& file = scenario->as_string();
    const std::string shipped = study::shipped_place(data_folder, file);
    tree = read_scenario_source(shipped.empty() ? file : shipped, flags.point, data_folder).tree;
  } else {
    tree = study::with_short_forms_expanded(*scenario);
  }
  if (scenario != nullptr && kind == nullptr) {
    for (const auto& [key, value] : asked.as_object()) {
      if (key != "scenario" && key != "set") {
        throw InputError(name, "/" + io::escape_token(key),
                         "unknown key; a line has scenario and set, or is a scenario");
      }
    }
    const io::Json* set = asked.find("set");
    if (set != nullptr && !set->is_object()) {
      throw InputError(name, "/set", "must be an object {POINTER: VALUE}");
    }
    for (const auto& [pointer, value] : set == nullptr ? io::Object{} : set->as_object()) {
      io::assign(tree, pointer, value);
      tree = study::with_short_forms_expanded(std::move(tree));
    }
  }
  apply_flags(tree, flags);
  return tree;
}

io::Json result_of_line(const Invocation& invocation, const std::string& line,
                        const std::string& name, const ScenarioFlags& flags, const Common& common,
                        std::optional<study::Files>& kept) {
  const io::Json tree = scenario_of_line(line, name, flags, invocation.data_folder);
  if (!kept || !kept->may_be_kept()) {
    kept.emplace(invocation.data_folder, std::vector{common.output});
  }
  study::Files& files = *kept;
  const study::Scenario scenario = load_scenario(tree, files, flags);
  study::refuse_long_work(study::estimated_seconds(scenario), max_seconds(flags));
  study::Result result = finished_run(scenario, tree, files, flags);
  io::Json resolved = finished_scenario(result, tree, common.output);
  io::Json out = study::result_tree(result);
  out.set("scenario", std::move(resolved));
  return with_meta(std::move(out), invocation);
}

// A place in the scenario of a line is told as in a file of that scenario.
io::Json error_record(std::int64_t line, int code, const std::vector<base::Problem>& problems) {
  constexpr std::string_view kInside = "/scenario/";
  io::Array list;
  for (const base::Problem& problem : problems) {
    const bool is_inside = problem.where.starts_with(kInside);
    list.push_back(io::Object{{"file", problem.file},
                              {"pointer", problem.where.substr(is_inside ? kInside.size() - 1 : 0)},
                              {"message", problem.message}});
  }
  return io::Object{
      {"kind", "error"}, {"line", line}, {"code", code}, {"problems", std::move(list)}};
}

} // namespace

// A text on one line: what it answers is written before the next line is read, because a program
// that waits for it has not sent the next one yet.
int run_lines(const Invocation& invocation, const std::string& file, const ScenarioFlags& flags,
              const Common& common) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) {
      throw InputError(file, "", "cannot read");
    }
  }
  std::istream& input = file == "-" ? std::cin : opened;
  std::optional<io::OutputFile> output;
  if (common.output != "-") {
    output.emplace(common.output);
  }
  int last = kOk;
  std::int64_t number = 0;
  std::optional<study::Files> files;
  std::string line;
  while (std::getline(input, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) {
      continue;
    }
    Invocation each = invocation;
    each.started = std::chrono::steady_clock::now();
    const std::string name = "line " + std::to_string(number);
    io::Json answer;
    const auto failed = [&](int code, const std::vector<base::Problem>& problems) {
      last = code;
      answer = error_record(number, code, problems);
    };
    try {
      answer = result_of_line(each, line, name, flags, common, files);
    } catch (const UsageError& error) {
      failed(kUsage, {{"", "", error.what()}});
    } catch (const InputError& error) {
      failed(kBadInput, error.problems());
    } catch (const SimulationError& error) {
      failed(kSimulationError, {{"", "", error.what()}});
    }
    const std::string text = io::compact(answer) + "\n";
    if (output) {
      output->write(text);
    } else {
      io::write_file("-", text);
    }
  }
  if (output) {
    output->commit();
  }
  return last;
}

void add_timeline_flags(CLI::App& app, TimelineFlags& flags) {
  add_value(app, "--timeline", flags.file, "FILE.json[.gz]",
            "also writes what happened when, as Chrome trace events; .gz compresses",
            kTimelineGroup);
  add_value(app, "--timeline-nodes", flags.nodes, "LIST",
            "only these, as 0,1 or 0:8:+2; default the first 8; of a program, its ranks",
            kTimelineGroup);
  add_value(app, "--timeline-iterations", flags.iterations, "A-B",
            "only these, from 0; default the last 3", kTimelineGroup);
}

// Which nodes or ranks (`nouns`, "0,1") and iterations ("3-5") the timeline shows. Those outside of
// the run are refused, because the timeline would silently be empty there.
study::TimelineFilter parse_filter(const TimelineFlags& options, std::string_view nouns,
                                   std::int64_t nodes, std::int64_t iterations) {
  study::TimelineFilter filter;
  if (!options.nodes.empty()) {
    filter.nodes = counts("--timeline-nodes", options.nodes, {});
    std::ranges::sort(filter.nodes);
    filter.nodes.erase(std::unique(filter.nodes.begin(), filter.nodes.end()), filter.nodes.end());
    if (filter.nodes.back() >= nodes) {
      throw UsageError("--timeline-nodes " + base::shown_value(options.nodes) + ": " +
                       std::string(nouns) + " are 0.." + std::to_string(nodes - 1));
    }
  }
  if (!options.iterations.empty()) {
    constexpr std::string_view kFlag = "--timeline-iterations";
    const std::size_t dash = options.iterations.find('-');
    const std::string_view text = options.iterations;
    filter.first_iteration = count(kFlag, text.substr(0, dash), io::at_least(0));
    filter.last_iteration = dash == std::string::npos
                                ? filter.first_iteration
                                : count(kFlag, text.substr(dash + 1), io::at_least(0));
    if (filter.first_iteration > filter.last_iteration || filter.last_iteration >= iterations) {
      throw UsageError(fmt::format("{} {}: must be A-B with A <= B, iterations are 0..{}", kFlag,
                                   base::shown_value(text), iterations - 1));
    }
  }
  return filter;
}

// A timeline can be larger than memory should be: it goes to the file in blocks, never as one text.
// An interruption is held back until it is complete, so that no half of one is left.
std::uint64_t write_timeline(const std::string& name, const Common& common,
                             const events::Timeline& timeline) {
  const DelayInterrupts delay;
  io::OutputFile file(name);
  std::uint64_t bytes = 0;
  plot::write_timeline(timeline, [&](std::string_view block) {
    if (bytes == 0) {
      refuse_other_kind(common, name, block);
    }
    file.write(block);
    bytes += block.size();
  });
  file.commit();
  return bytes;
}

// Above 200 MB a warning names the flags that make it smaller, because viewers fail near 256 MB.
void write_timeline(const TimelineFlags& options, const Common& common,
                    const events::Timeline& timeline) {
  const std::uint64_t bytes = write_timeline(options.file, common, timeline);
  constexpr std::uint64_t kViewerLimit = 200'000'000;
  if (bytes > kViewerLimit) {
    const std::string warning =
        options.file + ": " + base::readable_bytes(static_cast<double>(bytes)) +
        ", viewers fail near 256 MB; see --timeline-nodes and --timeline-iterations";
    print_warnings({&warning, 1}, common);
  }
}

// Flags that only mean something together, before any file is opened.
void check_timeline_flags(const TimelineFlags& options, const Common& common) {
  if (options.file.empty() && !(options.nodes.empty() && options.iterations.empty())) {
    throw UsageError("--timeline-nodes and --timeline-iterations need --timeline FILE");
  }
  if (!options.file.empty() && options.file == common.output) {
    throw UsageError("--timeline and -o name the same file");
  }
}

} // namespace stepsim::cli
