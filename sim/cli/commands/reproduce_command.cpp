// stepsim reproduce PAPER: the figures and claims of a paper from our own runs (REP 1). What a
// paper says stands in reproduce/PAPER/figures.json; the committed page and pictures of a paper are
// what this command writes, and --check holds them against it.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/reproduced_runs.hpp"
#include "cli/shell/flag_values.hpp"
#include "document/file.hpp"
#include "plot/svg.hpp"
#include "study/reproduce/paper_page.hpp"
#include "study/reproduce/scoreboard_tables.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

constexpr CommandText kReproduceText{
    "reproduce",
    "PAPER",
    "Runs the commands that a paper's figures need, draws the figures, and says for each claim of\n"
    "the paper whether it is met, not met, bracketed or not comparable. Writes RUN.jsonl, ID.svg,\n"
    "claims.json and PAPER.md to a folder. A claim that is not met is a result, no failure.",
    "stepsim reproduce lp\n"
    "stepsim reproduce mg-wfbp --figure MG1 -o mine\n"
    "stepsim reproduce scoreboard\n"
    "stepsim reproduce all --quick --check",
    "What a paper says stands in reproduce/PAPER/figures.json, described in docs/file-formats.md\n"
    "and schemas/reproduction.schema.json.",
    kJsonOrTable,
};

// In the order in which `all` runs them.
constexpr std::array<std::string_view, 7> kPapers{"mg-wfbp", "gtopk",      "lp", "pipe-sgd",
                                                  "dlcp",    "scoreboard", "all"};
using reproduce::Reproduced;

constexpr std::string_view kPictures = "../images/reproduce/";

struct ReproduceFlags {
  std::string paper;
  std::string figure;
  std::string jobs;
  std::string rows; // of the scoreboard
  bool check = false, quick = false, update = false;
};

// Adds the names of the runs in a part of figures.json, which stand at `run` and in lists `runs`.
void add_runs(const io::Json& json, std::string_view key, std::set<std::string>& runs) {
  if (json.is_string() && (key == "run" || key == "runs")) {
    runs.insert(json.as_string());
  } else if (json.is_array()) {
    for (const io::Json& each : json.as_array()) {
      add_runs(each, key, runs);
    }
  } else if (json.is_object()) {
    for (const auto& [name, member] : json.as_object()) {
      add_runs(member, name, runs);
    }
  }
}

// Only what --figure names is run, drawn and decided. `tree` is the file of the paper.
void keep_figure(reproduce::Reproduction& paper, const io::Json& tree, const std::string& id) {
  std::set<std::string> runs;
  for (const auto& [list, key] : {std::pair("figures", "id"), std::pair("claims", "figure")}) {
    const io::Json* members = tree.find(list);
    for (const io::Json& each : members != nullptr ? members->as_array() : io::Array()) {
      if (*each.find(key) == io::Json(id)) {
        add_runs(each, "", runs);
      }
    }
  }
  std::erase_if(paper.runs, [&](const reproduce::Run& run) { return !runs.contains(run.id); });
  std::erase_if(paper.claims, [&](const reproduce::Claim& claim) { return claim.figure != id; });
  std::erase_if(paper.figures, [&](const reproduce::FigureOf& figure) { return figure.id != id; });
}

using FileTexts = std::map<std::string, std::string>; // by file, relative to the folder

// The records of slow runs are added to `stored`, by the path of their file.
Reproduced reproduced(const std::string& name, const ReproduceFlags& flags,
                      const Invocation& invocation, const fs::path& folder, FileTexts& stored) {
  const std::string file =
      (fs::path(invocation.data_folder) / "reproduce" / name / "figures.json").string();
  const io::Json tree = io::read_json(file);
  reproduce::Reproduction paper = reproduce::parse_reproduction(tree);
  if (!flags.figure.empty()) {
    (void)base::row_named(paper.figures, &reproduce::FigureOf::id, flags.figure,
                          "--figure: ", "figure");
    keep_figure(paper, tree, flags.figure);
  }
  fs::create_directories(folder);
  reproduce::AllRecords records = reproduced_records(
      paper, invocation, {.folder = folder.string(), .quick = flags.quick, .jobs = flags.jobs});
  for (const reproduce::Run& run : paper.runs) {
    if (run.slow && !flags.quick) {
      stored[fs::absolute(io::relative_to(file, run.stored)).lexically_normal()] =
          io::read_text((folder / (run.id + ".jsonl")).string());
    }
  }
  return reproduce::decide(std::move(paper), std::move(records));
}

// The pictures, and the tables to which others may add a column.
void add_figures(FileTexts& texts, const Reproduced& all, const std::string& pictures,
                 const std::string& tables) {
  for (const reproduce::FigureOf& figure : all.paper.figures) {
    if (figure.not_drawn.empty()) {
      texts[pictures + figure.id + ".svg"] = plot::svg(reproduce::drawing(figure, all));
    }
  }
  for (const reproduce::Table& table : all.paper.tables) {
    if (table.predict) {
      texts[tables + table.id + ".csv"] = reproduce::scoreboard_csv(
          all.records.at(table.id), all.records.at(table.id + "_not_predicted"));
    }
  }
}

void write_folder(const Reproduced& all, const fs::path& folder) {
  FileTexts texts;
  add_figures(texts, all, "", "");
  texts["claims.json"] = io::pretty(reproduce::claims_tree(all));
  texts[all.paper.name + ".md"] = reproduce::paper_page(all, "");
  for (const auto& [name, text] : texts) {
    write_named((folder / name).string(), text);
  }
}

// Adds the pages and figures of the papers to `texts`, by their paths below docs/.
FileTexts pages_of(const std::vector<Reproduced>& papers, FileTexts texts, bool all) {
  for (const Reproduced& each : papers) {
    add_figures(texts, each, "images/reproduce/", "reproduce/");
    texts["reproduce/" + each.paper.name + ".md"] = reproduce::paper_page(each, kPictures);
  }
  if (all) {
    texts["reproduce/README.md"] = reproduce::claims_page(papers);
  }
  return texts;
}

// The first line in which two texts differ, counted from 1, as each of them has it.
std::string difference(std::string_view committed, std::string_view now) {
  const std::string_view same(committed.begin(), std::ranges::mismatch(committed, now).in1);
  const auto line = 1 + std::ranges::count(same, '\n');
  const std::size_t start = same.rfind('\n') + 1;
  const auto line_of = [&](std::string_view text) {
    const std::string_view rest = text.substr(std::min(start, text.size()));
    return base::shown_value(rest.substr(0, rest.find('\n')), 160);
  };
  return std::to_string(line) + ": has " + line_of(committed) + ", now " + line_of(now);
}

// 0 where the committed files are what is written now, else 4 and the first difference.
int check_pages(const FileTexts& texts, const fs::path& docs, const Common& common) {
  for (const auto& [name, text] : texts) {
    const std::string path = (docs / name).string();
    std::error_code error;
    if (!fs::exists(path, error)) {
      return report_error(path + ": missing", kTargetNotMet, common.color);
    }
    if (const std::string committed = io::read_text(path); committed != text) {
      return report_error(path + ":" + difference(committed, text), kTargetNotMet, common.color);
    }
  }
  return kOk;
}

std::string text_of(const std::vector<Reproduced>& results) {
  Table table{{"figure", "verdict", "ours", "theirs", "label", "claim"}};
  reproduce::Counts sum;
  for (const Reproduced& each : results) {
    for (std::vector<std::string>& row : reproduce::claim_rows(each.decided)) {
      table.rows.push_back(std::move(row));
    }
    sum += reproduce::counts_of(each);
  }
  return table_text(table) + reproduce::counts_text(sum) + "\n";
}

} // namespace

// Records of a run that nobody asked to keep go to a scratch folder: a check changes nothing.
int reproduce(const Invocation& invocation) {
  ReproduceFlags flags;
  CLI::App app;
  add_argument(app, "PAPER", flags.paper, "mg-wfbp, gtopk, lp, pipe-sgd, dlcp, scoreboard or all");
  add_value(app, "--figure", flags.figure, "ID", "draws and decides only this figure");
  app.add_flag("--check", flags.check,
               "compares with the committed page and pictures byte for byte; exit 4 and the first "
               "difference where they differ");
  app.add_flag("--update", flags.update,
               "writes the page and pictures in docs/ of the data folder");
  app.add_flag("--quick", flags.quick, "takes stored records of runs that take minutes");
  add_value(app, "--jobs", flags.jobs, "N", "threads of each sweep; default those of this machine");
  add_value(app, "--rows", flags.rows, "FILE",
            "predicts these measured speeds, with the columns of "
            "reproduce/scoreboard/rows.csv, instead of the shipped ones; no figures");
  Common common(app, kReproduceText, invocation,
                "folder for records, pictures and page; default results/reproduce/PAPER");
  if (!flags.figure.empty() && (flags.check || flags.update)) {
    throw UsageError("--figure: pages are checked and updated as a whole");
  }
  const bool own_place = common.output != "-";
  const bool keep = own_place || !(flags.check || flags.update);
  const fs::path folder =
      common.output == "-" ? fs::path("results/reproduce") : fs::path(common.output);
  common.output = "-";
  require_word("PAPER", flags.paper, kPapers);
  std::vector<std::string> names{flags.paper};
  if (flags.paper == "all") {
    names.assign(kPapers.begin(), kPapers.end() - 1);
  }
  (void)optional_count("--jobs", flags.jobs, io::between(1, 4096));
  if (own_place) {
    require_parent(folder);
  }
  if (!flags.rows.empty()) {
    if (flags.paper != "scoreboard" || !flags.figure.empty() || flags.check || flags.update) {
      throw UsageError("--rows: goes with scoreboard, without --figure, --check and --update");
    }
    predict_own_speeds({.file = flags.rows,
                        .folder = (own_place ? folder : folder / flags.paper).string(),
                        .jobs = flags.jobs},
                       invocation, common);
    return kOk;
  }
  std::vector<Reproduced> results;
  FileTexts stored; // absolute paths, not below docs
  results.reserve(names.size());
  const ScratchFolder scratch;
  for (const std::string& name : names) {
    const bool own_folder = folder == "results/reproduce" || names.size() > 1;
    const fs::path place = !keep ? scratch.path() / name : own_folder ? folder / name : folder;
    results.push_back(reproduced(name, flags, invocation, place, stored));
    if (keep) {
      write_folder(results.back(), place);
    }
  }
  if (format_of(common, Format::table) == Format::json || !own_place || !common.quiet) {
    const auto claims = base::collected<io::Json>(
        results, [](const Reproduced& each) { return reproduce::claims_tree(each); });
    const io::Json tree(io::Object{{"papers", claims}});
    write_document(common,
                   {.text = [&] { return text_of(results); }, .tree = [&] { return tree; }});
  }
  fs::path docs = fs::path(invocation.data_folder) / "docs";
  if (!fs::is_directory(docs)) { // installed, beside the data in share/stepsim
    docs = fs::path(invocation.data_folder) / "../doc/stepsim/docs";
  }
  if (flags.update) {
    for (const auto& [name, text] : pages_of(results, stored, flags.paper == "all")) {
      fs::create_directories((docs / name).parent_path());
      write_named((docs / name).string(), text);
    }
  }
  return flags.check ? check_pages(pages_of(results, stored, flags.paper == "all"), docs, common)
                     : kOk;
}

} // namespace stepsim::cli
