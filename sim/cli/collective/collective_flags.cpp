// The row of a key says which values its flag takes and what help tells of it. Errors of values
// that are typed wrong name the text; all others are found when the collective is read, as in a
// file, and get the name of the flag in place of the pointer.
#include "cli/collective/collective_flags.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/scenario_input.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/key_text.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"
#include "run/collective_keys.hpp"

namespace stepsim::cli {

namespace {

using io::Key;
using io::KeyKind;

constexpr const char* kMain = "Collective (lists 1,2,4 and ranges 4:64:x2, 1:9:+2 anywhere)";
constexpr const char* kNetwork = "Network";
constexpr const char* kAlgorithm = "Algorithm";
constexpr const char* kLibrary = "Model of a library (--algorithm library)";
constexpr const char* kCompressed =
    "Compressed exchange (--op allreduce; --bytes are the dense ones)";
constexpr const char* kAnswer = "Answer";

struct Flag {
  const char* name;
  std::string_view pointer;
  const char* type;
  std::string_view example;
  const char* group;
  bool takes_list = false; // of texts
};

// Axes have this order, the first varies slowest.
constexpr std::array kFlags{
    Flag{"--op", "/op", "OP", "allreduce", kMain},
    Flag{"--algorithm", "/algorithm", "A", "ring", kMain},
    Flag{"--ranks", "/ranks", "P", "8", kMain},
    Flag{"--shape", "/shape", "NxG", "10x8", kMain, true},
    Flag{"--bytes", "/bytes", "SIZE", "100MB", kMain},
    Flag{"--elements", "/elements", "N", "25000000", kMain},
    Flag{"--element-type", "/element_type", "WORD", "bf16", kMain},
    Flag{"--sizes", "/sizes", "FILE", "sizes.json", kMain},
    Flag{"--preset", "/preset", "NAME|FILE", "dgx_h100", kNetwork, true},
    Flag{"--latency", "/network/latency_s", "TIME", "10us", kNetwork},
    Flag{"--bandwidth", "/network/bandwidth_Bps", "RATE", "10Gbps", kNetwork},
    Flag{"--calibration", "/network/calibration", "FILE|NAME", "10g-tcp", kNetwork},
    Flag{"--delay", "/network/delay_s", "TIME", "5us", kNetwork},
    Flag{"--reduction-rate", "/network/reduction_Bps", "RATE", "10GB/s", kNetwork},
    Flag{"--links", "/links", "FILE", "links.json", kNetwork},
    Flag{"--entry", "/enter_s", "FILE", "entry.json", kNetwork},
    Flag{"--late", "/late_s", "RANK=TIME", "3=1ms", kNetwork},
    Flag{"--topology", "/topology", "FILE|PRESET", "star_16", kNetwork},
    Flag{"--gpus-per-node", "/gpus_per_node", "G", "8", kNetwork},
    Flag{"--ranks-per-node", "/ranks_per_node", "LIST", "8,8,4", kNetwork},
    Flag{"--intra-calibration", "/intra_network/calibration", "FILE|NAME", "nvlink-a100", kNetwork},
    Flag{"--intra-latency", "/intra_network/latency_s", "TIME", "1us", kNetwork},
    Flag{"--intra-bandwidth", "/intra_network/bandwidth_Bps", "RATE", "100GB/s", kNetwork},
    Flag{"--intra-delay", "/intra_network/delay_s", "TIME", "1us", kNetwork},
    Flag{"--nics-per-node", "/nics_per_node", "N", "4", kNetwork},
    Flag{"--nvlink-domain-nodes", "/nvlink_domain_nodes", "N", "18", kNetwork},
    Flag{"--nvls-rate", "/nvls_Bps", "RATE", "309GB/s", kNetwork},
    Flag{"--nvls-startup", "/nvls_startup_s", "TIME", "25us", kNetwork},
    Flag{"--switch-latency", "/switch_latency_s", "TIME", "1us", kNetwork},
    Flag{"--pipeline-chunks", "/options/pipeline_chunks", "N", "4", kAlgorithm},
    Flag{"--block", "/options/block_bytes", "SIZE", "64KiB", kAlgorithm},
    Flag{"--block-latency", "/network/block_latency_s", "TIME", "1us", kAlgorithm},
    Flag{"--root", "/root", "R", "0", kMain},
    Flag{"--candidates", "/options/candidates", "LIST", "ring,lp", kAlgorithm},
    Flag{"--servers", "/options/servers", "S", "4", kAlgorithm},
    Flag{"--placement", "/options/placement", "WORD", "sharded", kAlgorithm},
    Flag{"--library", "/library/calibration", "FILE", "cluster.library.json", kLibrary},
    Flag{"--library-version", "/library/version", "V", "2.29", kLibrary, true},
    Flag{"--choice", "/library/choice", "WORD", "calibrated", kLibrary},
    Flag{"--residual", "/library/residual", "WORD", "none", kLibrary},
    Flag{"--library-algorithms", "/library/algorithms", "LIST", "ring,tree", kLibrary},
    Flag{"--library-protocols", "/library/protocols", "LIST", "ll,simple", kLibrary},
    Flag{"--density", "/compression/density", "D", "0.001", kCompressed},
    Flag{"--k", "/compression/k", "K", "1000", kCompressed},
    Flag{"--index-bytes", "/compression/index_bytes", "N", "8", kCompressed},
    Flag{"--value-bytes", "/compression/value_bytes", "N", "2", kCompressed},
    Flag{"--allgather", "/compression/allgather", "WORD", "ring", kCompressed},
    Flag{"--broadcast", "/compression/broadcast", "WORD", "flat", kCompressed},
    Flag{"--method", "/method", "WORD", "all", kAnswer},
};

const Key& row_at(std::string_view pointer) {
  return *io::key_at(study::keys::kCollectiveFile, pointer);
}

// The row of one of several forms; null if there is none of that kind.
const Key* form_of(const Key& row, std::initializer_list<KeyKind> kinds) {
  const auto is_kind = [&](const Key& form) {
    return std::ranges::find(kinds, form.kind) != kinds.end();
  };
  if (row.kind != KeyKind::either) {
    return is_kind(row) ? &row : nullptr;
  }
  return base::found_if(row.keys, is_kind);
}

// A key that is a list, or names a file, has one value; all others have as many as are listed.
// Words are looked up when the collective is read.
std::vector<io::Json> values_of(const Flag& flag, const std::string& text) {
  const Key& row = row_at(flag.pointer);
  const auto parts = io::split(text);
  if (form_of(row, {KeyKind::text}) != nullptr) {
    return flag.takes_list ? std::vector<io::Json>(parts.begin(), parts.end())
                           : std::vector<io::Json>{io::Json(text)};
  }
  if (row.kind == KeyKind::list && row.keys.front().kind == KeyKind::integer) {
    const Key& element = row.keys.front();
    return {io::Json(io::write_each(numbers(flag.name, text, quantity_of(element), element.range),
                                    [&](double value) { return number_json(element, value); }))};
  }
  if (row.kind == KeyKind::list) {
    return {io::Json(io::Array(parts.begin(), parts.end()))};
  }
  const Key* number = form_of(row, {KeyKind::number, KeyKind::integer});
  const Key* word = form_of(row, {KeyKind::word});
  const auto known = word != nullptr ? word->words.all() : std::vector<std::string_view>();
  if (number == nullptr || std::ranges::find(known, text) != known.end()) {
    return std::vector<io::Json>(parts.begin(), parts.end());
  }
  return base::collected<io::Json>(numbers(flag.name, text, quantity_of(*number), number->range),
                                   [&](double value) { return number_json(*number, value); });
}

// A key of the options or of the compression that has no flag of its own is a parameter.
std::vector<Param> own_params() {
  std::vector<Param> all;
  for (const char* object : {"/options", "/compression", "/library"}) {
    for (const Key* key : io::keys_of(*form_of(row_at(object), {KeyKind::object}))) {
      std::string pointer = std::string(object).append("/").append(key->name);
      if (std::ranges::find(kFlags, pointer, &Flag::pointer) == kFlags.end()) {
        all.push_back({std::move(pointer), key});
      }
    }
  }
  return all;
}

// The sentence of the key, its default or an example of a quantity, its words.
std::string description(const Flag& flag) {
  const Key& row = row_at(flag.pointer);
  std::string text(row.sentence);
  if (const std::string value = default_text(row); !value.empty()) {
    text += " Default " + value + ".";
  } else if (form_of(row, {KeyKind::number, KeyKind::integer}) != nullptr) {
    text.append(" Example: ").append(flag.example).append(".");
  }
  if (row.kind == KeyKind::word && flag.pointer != "/algorithm") {
    text += " One of " + base::joined(row.words.all(), " or ") + ".";
  }
  return text;
}

// The name of the flag that sets the value at a pointer, above it or, for an object, the first key
// in it, with what help calls its value; empty for values that no flag sets.
struct Named {
  std::string name;
  std::string_view example;
  bool is_given = false;
};

std::optional<Named> flag_at(std::string_view pointer, const CollectiveFlags& flags) {
  for (std::size_t i = 0; i < kFlags.size(); ++i) {
    if (is_at_or_below(pointer, kFlags[i].pointer) || is_at_or_below(kFlags[i].pointer, pointer)) {
      const bool is_given =
          kFlags[i].pointer == "/late_s" ? !flags.late.empty() : !flags.texts[i].empty();
      return Named{kFlags[i].name, kFlags[i].example, is_given};
    }
  }
  for (const auto& [place, row] : own_params()) {
    if (is_at_or_below(pointer, place)) {
      const std::string start = std::string(row->name) + "=";
      return Named{"--param " + std::string(row->name), "",
                   std::ranges::any_of(flags.params, [&](const std::string& text) {
                     return text.starts_with(start);
                   })};
    }
  }
  return std::nullopt;
}

// Messages name other keys by their pointers.
std::string with_flags(std::string_view message) {
  std::string out;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find(' '), message.size() - 1) + 1;
    std::string_view word = message.substr(0, end);
    message.remove_prefix(end);
    const std::string_view bare = word.substr(0, word.find_last_not_of(" :;,") + 1);
    const auto flag = std::ranges::find(kFlags, bare, &Flag::pointer);
    out += flag == kFlags.end() ? bare : flag->name;
    out += word.substr(bare.size());
  }
  return out;
}

// "3=1ms": rank 3 enters 1 ms later. The last of several times of a rank counts.
void set_late(io::Json& tree, std::string_view flag, std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool is_rank = equals != std::string_view::npos && equals > 0 &&
                       text.substr(0, equals).find_first_not_of("0123456789") == text.npos;
  if (!is_rank) {
    throw UsageError(std::string(flag) + " " + base::shown_value(text) + ": must be RANK=TIME");
  }
  const Key& time = row_at("/late_s").keys.front();
  io::assign(tree, "/late_s/" + std::string(text.substr(0, equals)),
             io::Json(quantity(flag, text.substr(equals + 1), quantity_of(time), time.range)));
}

} // namespace

void add_collective_flags(CLI::App& app, CollectiveFlags& flags) {
  app.add_option("FILE", flags.file, "file of kind collective; flags change its values");
  add_value(app, "--point", flags.point, "N",
            "the file is the output of a sweep of collectives: its point N, from 0");
  flags.texts.resize(kFlags.size());
  for (std::size_t i = 0; i < kFlags.size(); ++i) {
    const Flag& flag = kFlags[i];
    if (flag.pointer == "/late_s") { // of one rank each
      add_value(app, flag.name, flags.late, flag.type, description(flag), flag.group)
          ->allow_extra_args(false);
      continue;
    }
    add_value(app, flag.name, flags.texts[i], flag.type, description(flag), flag.group);
    if (flag.pointer == "/options/placement") { // the last of its group
      add_value(app, "--param", flags.params, "NAME=VALUE", params_description(own_params()),
                kAlgorithm)
          ->allow_extra_args(false);
    }
  }
}

std::string_view pointer_of_collective_flag(std::string_view flag) {
  const auto found = std::ranges::find(kFlags, flag, &Flag::name);
  return found == kFlags.end() ? std::string_view() : found->pointer;
}

// Files that flags name are relative to the working directory, and their errors are not errors of
// FILE. What is typed has its unit, so that no number is unusual.
study::Sweep read_collective(const CollectiveFlags& flags, const std::string& data_folder) {
  if (flags.file.empty() && !flags.point.empty()) {
    throw UsageError("--point: needs FILE, the output of a sweep of collectives");
  }
  study::Sweep sweep;
  sweep.base = flags.file.empty()
                   ? io::Json(io::Object{{"kind", "collective"}, {"allow_unusual", true}})
                   : read_scenario_source(flags.file, flags.point, data_folder).tree;
  constexpr std::int64_t kMaxPoints = 10'000'000;
  std::int64_t points = 1;
  for (std::size_t i = 0; i < kFlags.size(); ++i) {
    const auto& [name, pointer, type, example, group, takes_list] = kFlags[i];
    const std::string& text = flags.texts[i];
    if (text.empty()) {
      continue;
    }
    std::vector<io::Json> values = values_of(kFlags[i], text);
    points *= static_cast<std::int64_t>(values.size());
    if (points > kMaxPoints) {
      throw UsageError("the lists have more than " + std::to_string(kMaxPoints) + " combinations");
    }
    io::Json& placed = io::assign(sweep.base, pointer, values.front());
    if (study::names_file(pointer)) {
      placed.set_origin(nullptr, "", 0);
    }
    if (values.size() > 1) {
      sweep.grid.axes.push_back({std::string(pointer), std::move(values)});
    }
  }
  for (const std::string& text : flags.late) {
    set_late(sweep.base, "--late", text);
  }
  const bool per_rank = std::ranges::any_of(std::array{"sizes", "enter_s"}, [&](const char* key) {
    return sweep.base.find(key) != nullptr;
  });
  for (const std::string_view pointer : {"/ranks", "/shape"}) {
    if (per_rank && sweep.grid.axis_of(pointer)) {
      const auto flag = std::ranges::find(kFlags, pointer, &Flag::pointer);
      throw UsageError(
          std::string("--sizes and --entry belong to one number of ranks, got ") + flag->name +
          " " + base::shown_value(flags.texts[static_cast<std::size_t>(flag - kFlags.begin())]));
    }
  }
  for (const std::string& text : flags.params) {
    set_param(sweep.base, text, own_params());
  }
  return sweep;
}

study::CollectiveFile collective_at(const study::Sweep& sweep, study::Files& files,
                                    std::int64_t point) {
  // A key that one of several algorithms or numbers of interfaces reads is ignored by the others.
  // So is one that the point of a sweep does not read, as in the sweep itself.
  const bool compares = sweep.grid.axis_of("/algorithm") || sweep.grid.axis_of("/nics_per_node") ||
                        !sweep.base.pointer().empty();
  return study::parse_collective(study::scenario_at(sweep.base, sweep.grid, point), files,
                                 compares ? study::Leftovers::ignore : study::Leftovers::refuse);
}

// A key counts if any of the algorithms reads it, so that dense and compressed ones can be
// compared.
void refuse_meaningless_keys(const study::Sweep& sweep) {
  const io::Json tree = study::scenario_at(sweep.base, sweep.grid, 0);
  const io::Json* compression = tree.find("compression");
  if (compression == nullptr) {
    return;
  }
  const auto axis = sweep.grid.axis_of("/algorithm");
  std::vector<collectives::CompressionMethod> methods;
  for (const io::Json& word :
       axis ? sweep.grid.axes[*axis].values : std::vector{*tree.find("algorithm")}) {
    if (const auto method = study::exchange_method(word)) {
      methods.push_back(*method);
    }
  }
  io::Problems problems;
  study::refuse_meaningless(*compression, methods, problems);
  problems.throw_if_any();
}

// Next to a file only flags that were given are blamed, and what is missing is missing in the file.
void blame_flags(const InputError& error, const CollectiveFlags& flags, const study::Sweep& sweep) {
  const base::Problem& problem = error.problems().front();
  const bool alone = flags.file.empty();
  if (problem.file != (alone ? "" : sweep.base.file()) && !problem.file.empty()) {
    return; // of a file that the collective names
  }
  if (problem.where.empty()) {
    if (alone || problem.file.empty()) {
      // A name that a flag gives has no place in a file.
      for (std::size_t i = 0; i < kFlags.size(); ++i) {
        if (study::names_file(kFlags[i].pointer) && !flags.texts[i].empty() &&
            problem.message.find(base::quoted(flags.texts[i])) != std::string::npos) {
          throw UsageError(std::string(kFlags[i].name) + ": " + problem.message);
        }
      }
      throw UsageError(with_flags(problem.message));
    }
    return;
  }
  const auto flag = flag_at(problem.where, flags);
  if (!alone && !(flag && flag->is_given)) {
    return;
  }
  const std::string name = flag ? flag->name : problem.where;
  if (flag && problem.message.starts_with("required")) {
    throw UsageError(flag->example.empty()
                         ? name + "=" +
                               (row_at(problem.where).kind == KeyKind::integer ? "N" : "R") + ": " +
                               problem.message
                         : name + ": required, e.g. " + name + " " + std::string(flag->example));
  }
  throw UsageError(name + ": " + with_flags(problem.message));
}

} // namespace stepsim::cli
