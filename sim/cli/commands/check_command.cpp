// stepsim check FILE...: validates any of our files and lists all problems.
// A file is checked by the parser that the commands use, so that what passes here can be run. One
// table says which parser belongs to which kind.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/commands/check_lines.hpp"
#include "cli/text/key_text.hpp"
#include "document/kind_use.hpp"
#include "run/collective_file.hpp"
#include "run/flows_run.hpp"
#include "scenario/files/trace_file.hpp"
#include "study/breakeven_file.hpp"
#include "study/fits.hpp"
#include "study/reproduce/paper_records.hpp"
#include "study/semantics_result.hpp"
#include "study/sweep/sweep_point.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kCheckText{
    "check",
    "FILE...",
    R"(Validates files of any kind: syntax, keys, types, ranges, and whether the files they name can
be read. Lists all problems; exit code 3 if there are any.)",
    "stepsim check scenario.json models/resnet50.json\n"
    "stepsim check traces/*.json --json",
    "The kinds are described in docs/file-formats.md.",
    kJsonOrTable,
};

using Warnings = std::vector<std::string>;

// Warnings of the workload come first, as in `run`.
Warnings check_scenario(const io::Json& tree, study::Files& files) {
  const study::Scenario scenario = study::parse_scenario(tree, files);
  Warnings warnings = scenario.workload.warnings;
  warnings.insert(warnings.end(), scenario.warnings.begin(), scenario.warnings.end());
  return warnings;
}

// The grid, and the scenario or collective at its first point. The other points are not parsed,
// because a grid may have millions; an error that only a later value causes is found when the sweep
// runs.
Warnings check_sweep(const io::Json& tree, study::Files& files) {
  const study::Sweep sweep = study::parse_sweep(tree);
  if (sweep.grid.points() > 0) {
    study::check_point(study::scenario_at(sweep.base, sweep.grid, 0), files);
  }
  return {};
}

// Unknown gradient sizes are a warning and no error: the trace is a valid file, and an import can
// still complete it.
Warnings check_trace(const io::Json& tree, study::Files&) {
  const layers::Trace trace = io::parse_trace(tree);
  const auto unknown = std::ranges::count_if(
      trace.layers, [](const layers::Layer& layer) { return !layer.gradient_bytes; });
  if (unknown == 0) {
    return {};
  }
  return {std::to_string(unknown) + " of " + std::to_string(trace.layers.size()) +
          " layers have no gradient sizes; run refuses the trace: import with --model, "
          "or record_shapes=True"};
}

// Planners need costs that do not fall with the size. Measured points that do are changed when the
// file is read; the user is told how many.
Warnings check_problem(const io::Json& tree, study::Files& files) {
  const study::ProblemFile file = study::parse_problem(tree, files);
  if (file.table.points_changed == 0) {
    return {};
  }
  return {std::to_string(file.table.points_changed) +
          " points of the cost table are changed to make it non-decreasing"};
}

// Also runs the exchange, which is small: only the output shows which keys of `expected` nothing
// can ever equal.
Warnings check_semantics(const io::Json& tree, study::Files&) {
  const study::SemanticsFile file = study::parse_semantics(tree);
  (void)study::first_difference(file, study::semantics_tree(file, study::run_semantics(file)));
  return study::semantics_warnings(file);
}

// Of a result, the scenario inside it, which `run` takes.
Warnings check_result(const io::Json& tree, study::Files& files) {
  const io::Json* scenario = tree.find("scenario");
  if (scenario == nullptr || tree.find("summary") == nullptr) {
    throw InputError(std::string(tree.file()), scenario == nullptr ? "/scenario" : "/summary",
                     "required");
  }
  io::Json expanded = study::with_short_forms_expanded(*scenario);
  const io::Json* recorded = tree.find("files");
  if (recorded != nullptr) {
    study::find_named_files(expanded, *recorded, files.data_folder());
  }
  (void)study::parse_scenario(expanded, files, study::Leftovers::ignore);
  return recorded == nullptr ? Warnings()
                             : study::changed_files(*recorded, expanded, expanded, files);
}

// Of files that parsing alone checks: without warnings, or with those of what was parsed.
Warnings none(const auto&) { return {}; }
template <auto parse> Warnings parsed(const io::Json& tree, study::Files&) {
  (void)parse(tree);
  return {};
}
template <auto parse> Warnings warned(const io::Json& tree, study::Files&) {
  return Warnings(parse(tree).warnings);
}

// Of what commands write: whether the keys are there, and no others.
Warnings check_written(const io::Json& tree, const io::FileKind& kind) {
  io::Problems problems;
  io::Fields fields(tree, problems, *kind.root);
  for (const io::Key* key : io::keys_of(*kind.root)) {
    if (key->is_required && tree.find(key->name) == nullptr) {
      problems.add(tree, key->name, "required");
    }
  }
  fields.know_all();
  fields.no_more();
  problems.throw_if_any();
  return {};
}

// Kinds that are read. Of the others, commands write those with rows of keys (key_text.hpp).
struct CheckedKind {
  std::string_view name;
  Warnings (*check)(const io::Json&, study::Files&);
};

constexpr auto kCheckedKinds = std::to_array<CheckedKind>({
    {"scenario", check_scenario},
    {"sweep", check_sweep},
    {"result", check_result},
    {"trace", check_trace},
    {"model", parsed<io::parse_model>},
    {"collective",
     [](auto& tree, auto& files) { return none(study::parse_collective(tree, files)); }},
    {"flows",
     [](auto& tree, auto& files) { return Warnings(study::parse_flows(tree, files).warnings); }},
    {"topology", parsed<io::parse_topology>},
    {"library_calibration", warned<io::parse_library_calibration>},
    {"node_preset", parsed<io::parse_node_preset>},
    {"network_calibration", warned<io::parse_profile>},
    {"samples", warned<io::parse_samples>},
    {"measured_steps",
     [](auto& tree, auto& files) {
       for (const study::MeasuredRow& row : study::read_measured_rows(tree).rows) {
         (void)study::parse_scenario(row.scenario, files, study::Leftovers::ignore);
       }
       return Warnings();
     }},
    {"conditions", parsed<study::parse_conditions_file>},
    {"overlap", parsed<io::parse_overlap>},
    {"measured_training", parsed<io::parse_measured>},
    {"problem", check_problem},
    {"program",
     [](auto& tree, auto& files) {
       return Warnings(
           study::parse_program(study::with_short_forms_expanded(tree), files).warnings);
     }},
    {"sparse_semantics", check_semantics},
    {"compression_breakeven",
     [](auto& tree, auto& files) {
       return Warnings(study::parse_breakeven(tree, files).warnings);
     }},
    {"cost", parsed<io::parse_cost>},
    {"reproduction", parsed<reproduce::parse_reproduction>},
    {"links", [](auto& tree, study::Files&) { return none(io::parse_links(tree, std::nullopt)); }},
});

// The kind that the file says or its keys tell. Null after an error, which is then among those of
// `checked`.
const io::KindUse* kind_of(const io::Json& tree, Checked& checked) {
  const io::KindUse* found = io::use_of_file(tree);
  if (found == nullptr) {
    const io::Json* word = tree.find("kind");
    const auto name_of = [](const io::KindUse& each) { return each.kind; };
    checked.errors.push_back(
        {std::string(tree.file()), "/kind",
         word == nullptr ? "required: which kind of file"
         : word->is_string()
             ? base::unknown_word("kind", word->as_string(),
                                  base::collected<std::string_view>(io::kind_uses(), name_of))
             : "must be a word, got " + io::shown(*word)});
  }
  return found;
}

Warnings check_kind(std::string_view kind, const io::Json& tree, study::Files& files) {
  const auto* const row = std::ranges::find(kCheckedKinds, kind, &CheckedKind::name);
  if (row != kCheckedKinds.end()) {
    return row->check(tree, files);
  }
  const std::vector<io::FileKind> written = file_kinds();
  const auto found = std::ranges::find(written, kind, &io::FileKind::kind);
  return found == written.end() ? Warnings() : check_written(tree, *found);
}

// Checks one file and catches its errors, so that the next one is checked as well. Lists of sizes
// are the only files that are no objects, and records of a sweep the only ones with several JSON
// values.
Checked check_file(const std::string& name, study::Files& files) {
  Checked checked{name, "", {}, {}};
  try {
    if (is_lines_file(name)) {
      return check_lines(name);
    }
    const io::Json tree = io::read_json(name);
    if (tree.is_array()) { // bytes per rank of `collective --sizes`
      checked.kind = "sizes";
      (void)io::parse_sizes(tree, std::nullopt);
    } else if (const io::KindUse* use = kind_of(tree, checked)) {
      checked.kind = use->kind;
      checked.warnings = check_kind(use->kind, tree, files);
    }
  } catch (const InputError& error) {
    checked.errors = error.problems();
  } catch (const UsageError& error) { // of values that flags give too
    checked.errors.push_back({name, "", error.what()});
  }
  return checked;
}

// A problem may lie in a file that the checked one names; it then has no pointer here, and its own
// file stands in the message.
io::Json tree_of(const std::vector<Checked>& all) {
  const auto tree = [](const Checked& checked) {
    const auto error = [&](const base::Problem& problem) {
      const bool elsewhere = problem.file != checked.file;
      return io::Object{{"pointer", elsewhere ? "" : problem.where},
                        {"message", elsewhere ? problem.text() : problem.message}};
    };
    return io::Object{{"file", checked.file},
                      {"kind", io::text_or_null(checked.kind)},
                      {"errors", io::write_each(checked.errors, error)},
                      {"warnings", io::list_of(checked.warnings)}};
  };
  return io::Object{{"files", io::write_each(all, tree)}};
}

// Errors need no name of the file: every problem begins with it.
std::string text_of(const std::vector<Checked>& all) {
  std::string out;
  for (const Checked& checked : all) {
    out += base::listed(
        checked.errors, [](const auto& problem) { return problem.text() + "\n"; }, "");
    for (const std::string& warning : checked.warnings) {
      out += base::printable(checked.file + ": warning: " + warning) + "\n";
    }
    if (checked.errors.empty()) {
      out += base::printable(checked.file) + ": ok, " + checked.kind + "\n";
    }
  }
  return out;
}

} // namespace

// "-" is standard input. Files are checked in the order of the command line, and one with problems
// does not stop the others.
int check(const Invocation& invocation) {
  std::vector<std::string> names;
  CLI::App app;
  add_argument(app, "FILE", names, "files to validate; - = standard input");
  Common common(app, kCheckText, invocation);
  study::Files files(invocation.data_folder, {common.output});
  const auto all = base::collected<Checked>(
      names, [&](const std::string& name) { return check_file(name, files); });
  write_document(common,
                 {.text = [&] { return text_of(all); }, .tree = [&] { return tree_of(all); }});
  const bool good =
      std::ranges::all_of(all, [](const Checked& checked) { return checked.errors.empty(); });
  return good ? kOk : kBadInput;
}

} // namespace stepsim::cli
