// Every line is answered as if it were a command of its own: files are kept between two lines, and
// all are read again where one may have changed in between.
#include "cli/commands/finished_run.hpp"

#include <fstream>
#include <iostream>

#include "cli/shell/output.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "run/work_estimate.hpp"
#include "scenario/short_forms.hpp"

namespace stepsim::cli {

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
  const study::Scenario scenario = load_scenario(tree, files, flags, study::Leftovers::refuse);
  study::refuse_long_work(study::estimated_seconds(scenario), max_seconds(flags));
  return with_meta(finished_tree(finished_run(scenario, tree, files, flags), tree, common.output),
                   invocation);
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

} // namespace stepsim::cli
