// stepsim-calibrate show FILE: what a calibration contains and what is still assumed, in about ten
// rows; the same of a file of kind overlap. The readers of scenarios check the file first, so that
// every key below has its type; intervals and errors of fits, which no run needs, are taken from
// the tree.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/shell/document.hpp"
#include "document/json_text.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/overlap_file.hpp"

namespace stepsim::calibrate {

namespace {

constexpr cli::CommandText kShowText{
    "show",
    "FILE",
    "What a calibration contains, how far its curves are off on sizes left out of the fit, and, "
    "as\n"
    "rows `assumed`, what no measurement of it says.",
    "stepsim-calibrate show h100x8.calibration.json\n"
    "stepsim-calibrate show cluster.library.json --json",
    "`stepsim topologies show` lists all curves of a network_calibration, docs/file-formats.md.",
    cli::kJsonOrTable,
    kProgram,
};

using Rows = std::vector<std::array<std::string, 2>>; // what, and its text

const io::Json* member(const io::Json* tree, std::string_view key) { // null where there is none
  tree = tree != nullptr && tree->is_object() ? tree->find(key) : nullptr;
  return tree != nullptr && !tree->is_null() ? tree : nullptr;
}

// The words that are there, with commas between them.
void add_word(std::string& list, std::string_view word) {
  list.append(list.empty() || word.empty() ? "" : ", ").append(word);
}

// "4.459 us (3.867 us to 5.050 us)" of a number or of {value, low, high}, the least text first.
std::string estimate(const io::Json& json, bool inverse, std::string (*text)(double)) {
  const auto number = [&](std::string_view key) {
    const double value = json.is_number() ? json.as_double() : json.find(key)->as_double();
    return text(inverse ? 1 / value : value);
  };
  return number("value") + (member(&json, "low") == nullptr || member(&json, "high") == nullptr
                                ? ""
                                : " (" + number(inverse ? "high" : "low") + " to " +
                                      number(inverse ? "low" : "high") + ")");
}

std::string seconds_text(double seconds) { return base::readable_seconds(seconds); }

// A row per operation: its curves, with the type where it is not float, and the worst 90th
// percentile of errors on sizes left out.
void add_curves(const io::Json& collectives, Rows& rows) {
  std::map<std::string, std::pair<std::string, std::optional<double>>> operations;
  for (const io::Json& each : collectives.as_array()) {
    auto& [names, worst] = operations[each.find("op")->as_string()];
    const io::Json* start_up = member(&each, "start_up");
    const bool queued =
        start_up != nullptr && start_up->as_string() == links::kStartUps[links::StartUp::queue];
    const io::Json* dtype = member(&each, "dtype");
    const bool usual =
        dtype == nullptr || dtype->as_string() == "float" || dtype->as_string() == "float32";
    add_word(names, each.find("algorithm")->as_string() +
                        " P=" + std::to_string(each.find("ranks")->as_integer()) +
                        (usual ? "" : " " + dtype->as_string()) + (queued ? " queued" : ""));
    if (const io::Json* p90 = member(member(&each, "fit"), "left_out_p90_relative_error")) {
      worst = std::max(worst.value_or(0), p90->as_double());
    }
  }
  for (const auto& [op, found] : operations) {
    rows.push_back({op, found.first + (found.second ? "; 90 % of sizes left out are within " +
                                                          base::percent(*found.second)
                                                    : "; errors unknown")});
  }
}

Rows network_rows(const io::Json& tree) {
  const links::NetworkProfile profile = io::parse_profile(tree);
  const io::Json* source = member(&tree, "source");
  std::string origin = std::string(links::kProfileLabels[profile.label]);
  add_word(origin, profile.grade.empty() ? "" : "grade " + profile.grade);
  for (const io::Json* word : {member(source, "format"), member(member(&tree, "device"), "name"),
                               member(source, "attribution"), member(source, "licence")}) {
    add_word(origin, word != nullptr && word->is_string() ? word->as_string() : "");
  }
  Rows rows{{profile.name, origin}};
  const auto add_link = [&](const std::string& what, const io::Json& link, bool inverse) {
    rows.push_back(
        {what,
         estimate(*link.find("latency_s"), false, seconds_text) + ", " +
             estimate(*link.find(inverse ? "per_byte_s"
                                         : io::key_of<&links::NetworkProfile::bandwidth_Bps>()),
                      inverse, base::readable_rate)});
  };
  const io::Json* links = member(&tree, "links");
  const io::Array classes = links != nullptr ? links->as_array() : io::Array{};
  for (const io::Json& link : classes) {
    add_link("link " + link.find("class")->as_string(), link, true);
  }
  if (classes.empty() && profile.latency_s && profile.bandwidth_Bps) {
    add_link("network", *member(&tree, "network"), false);
  }
  if (const io::Json* collectives = member(&tree, "collectives")) {
    add_curves(*collectives, rows);
  }
  std::string methods;
  for (const links::CompressionCosts& costs : profile.compression_costs) {
    add_word(methods, costs.method);
  }
  const auto row = [&rows](bool there, const char* what, const std::string& text) {
    if (there) {
      rows.push_back({what, text});
    }
  };
  const auto [least, most] = profile.valid_bytes.value_or(std::pair(0.0, 0.0));
  row(most > 0, "sizes", base::readable_bytes(least) + " to " + base::readable_bytes(most));
  row(!methods.empty(), "costs of compression", methods);
  row(profile.copy_bandwidth_Bps.has_value(), "copies into buckets",
      base::readable_rate(profile.copy_bandwidth_Bps.value_or(0)) +
          ", of a scenario with \"copy_bandwidth_Bps\": \"calibrated\"");
  row(!profile.note.empty(), "note", profile.note);
  const io::Json* numbers = member(source, "numbers");
  for (const auto& [pointer, words] : numbers != nullptr ? numbers->as_object() : io::Object{}) {
    const std::string& text = words.as_string();
    row(text.starts_with("assumed") && !pointer.ends_with("reduction_Bps"), "assumed",
        pointer + ", " + text);
  }
  row(profile.reduction_Bps.value_or(0) == 0, "assumed", "adding takes no time of its own");
  row(std::ranges::none_of(
          profile.links,
          [](const auto& link) { return link.duplex_exchange || link.duplex_shift; }),
      "assumed", "links are as fast while they carry the other direction, too");
  row(methods.empty(), "assumed", "compressing costs what the scenario says");
  row(profile.collectives.empty(), "assumed", "collectives follow from latency and bandwidth");
  row(!profile.valid_ranks, "assumed", "the same numbers for any number of ranks");
  return rows;
}

Rows library_rows(const io::Json& tree) {
  const io::LibraryFile file = io::parse_library_calibration(tree);
  std::set<std::string> shapes;
  for (const nccl::MeasuredPoint& point : file.fitted.points) {
    shapes.insert(nccl::text(point.shape));
  }
  std::string measured, fitted, prior;
  for (const std::string& shape : shapes) {
    add_word(measured, shape);
  }
  for (std::size_t i = 0; i < nccl::kParameterCount; ++i) {
    const nccl::ParameterRow& row = nccl::parameter_rows()[i];
    const bool given =
        member(member(&tree, "parameters"), nccl::kParameters[row.parameter]) != nullptr;
    add_word(given && !file.from_prior[i] ? fitted : prior, row.sentence);
  }
  return {{file.fitted.name, "model of a library on " + file.fitted.node.name},
          {"measured", std::to_string(file.fitted.points.size()) + " times of " + measured},
          {"fitted", fitted},
          {"assumed", prior.empty() ? "no parameter" : "published constants for: " + prior},
          {"assumed", "other numbers of nodes and GPUs, and other sizes, follow the model"}};
}

Rows overlap_rows(const io::Json& tree) {
  const io::OverlapFile file = io::parse_overlap(tree);
  const io::Json* name = member(&tree, "name");
  const auto& [least, most] = std::ranges::minmax(file.interference.compute);
  return {{name != nullptr ? name->as_string() : "overlap", file.source},
          {"computing", base::significant(least) +
                            (most > least ? " to " + base::significant(most) : "") +
                            " times as long while an exchange of the rank is under way"},
          {"exchanges", base::significant(file.interference.exchange) +
                            " times as long while one of their ranks computes"},
          {"assumed", "the same factors for other kernels, sizes and collectives"}};
}

} // namespace

int show(const cli::Invocation& invocation) {
  std::string path;
  CLI::App app;
  app.add_option("FILE", path, "a calibration")->required();
  cli::Common common(app, kShowText, invocation);
  const io::Json tree = io::read_json(path);
  const io::Json* kind = member(&tree, "kind");
  const auto rows_of = kind != nullptr && *kind == io::Json("library_calibration") ? library_rows
                       : kind != nullptr && *kind == io::Json("overlap")           ? overlap_rows
                                                                                   : network_rows;
  cli::Table table{{"what", "text"}, {}};
  io::Array list;
  for (const auto& [what, text] : rows_of(tree)) {
    table.rows.push_back({what, base::printable(text)});
    list.push_back(io::Object{{"what", what}, {"text", text}});
  }
  cli::write_document(common, {.tables = [&] { return std::vector{table}; },
                               .tree =
                                   [&] {
                                     return io::Object{{"rows", list}};
                                   }});
  return cli::kOk;
}

} // namespace stepsim::calibrate
