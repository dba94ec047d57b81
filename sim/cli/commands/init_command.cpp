// stepsim init: a first scenario that runs, from a trace, from a model on a GPU, or from defaults.
// Every flag is one key of the scenario (cli/shell/flag_values.hpp), set as --set would: the reader
// of scenarios checks the values, and its problems go back to the flags.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/shell_word.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/flag_values.hpp"
#include "import/import_detect.hpp"
#include "study/first_scenario.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kInitText{
    "init",
    "[-o SCENARIO]",
    R"(Writes a scenario that runs, with every default that decides a time as a key, from a trace of
your own, from a model on a GPU, or, without arguments, from the shipped trace of ResNet-50 on
8 nodes behind 25 Gigabit Ethernet, under typical conditions: what real runs lose is in the
times. Prints what it assumed and the next commands.)",
    "stepsim init -o s.json\n"
    "stepsim init --trace mine.json --nodes 16 --network 100g-roce -o s.json\n"
    "stepsim init --model llama3_8b --gpu h100 --cluster dgx_h100 --nodes 16 -o s.json",
    "stepsim models, stepsim topologies and stepsim presets list the names; stepsim keys tells "
    "what\n"
    "each key of the scenario means.",
    kJsonOnly,
};

struct KeyFlag {
  std::string_view flag;
  const char* type;
  const char* group;
  const char* description;
};
constexpr const char* kModelGroup = "Model without a trace";
constexpr const char* kCluster = "Cluster";
constexpr std::array kInitFlags{
    KeyFlag{"--trace", "NAME|FILE", "Options",
            "layer times of your training, as stepsim import writes them, or a shipped trace"},
    KeyFlag{"--model", "NAME|FILE", kModelGroup, "model whose layer times are estimated"},
    KeyFlag{"--gpu", "NAME", kModelGroup, "GPU that it runs on; required with --model"},
    KeyFlag{"--batch-size", "N", kModelGroup, "samples per GPU and step; default 1"},
    KeyFlag{"--sequence-length", "N", kModelGroup, "tokens of a sample; default that of the model"},
    KeyFlag{"--sharding", "WORD", "Options",
            "what workers share: none, zero1, zero2, full_shard, shard_grad_op or hybrid_shard; "
            "default none; if the model does not fit one GPU, the first of zero1, zero2, "
            "full_shard that fits"},
    KeyFlag{"--conditions", "WORD", "Options",
            "ideal or typical, with what real runs lose; default typical where it is defined"},
    KeyFlag{"--cluster", "NAME|FILE", kCluster,
            "node type, with its GPUs and networks; stepsim presets lists them"},
    KeyFlag{"--nodes", "N", kCluster, "number of machines; default 8"},
    KeyFlag{"--gpus-per-node", "N", kCluster, "default 1, or that of the node type"},
    KeyFlag{"--network", "NAME|FILE", kCluster,
            "network between nodes; default 25g-tcp, or that of the node type"},
    KeyFlag{"--intra-network", "NAME|FILE", kCluster,
            "network inside a node; required with several GPUs per node and no node type"},
};

using TypedFlags = std::map<std::string_view, std::string>; // as typed, "" = not given

// What only goes together, before anything is read.
void check_flags(const TypedFlags& texts) {
  const bool model = !texts.at("--model").empty();
  if (model && !texts.at("--trace").empty()) {
    throw UsageError("--trace and --model: give one of them, both hold the layer times");
  }
  for (const std::string_view flag : {"--gpu", "--batch-size", "--sequence-length"}) {
    if (!model && !texts.at(flag).empty()) {
      throw UsageError(std::string(flag) + " needs --model; a trace has its own");
    }
  }
  if (model && texts.at("--gpu").empty()) {
    throw UsageError("--model needs --gpu NAME (stepsim models gpus lists them)");
  }
}

// `variability` is the file of that flag.
[[noreturn]] void rethrow_for_flags(const InputError& error, const std::string& variability) {
  constexpr std::string_view kBlock = "/variability";
  const base::Problem& problem = error.problems().front();
  if (!problem.file.empty()) {
    throw InputError(error); // what a named file holds
  }
  if (problem.where.starts_with(kBlock)) {
    throw InputError(variability, problem.where.substr(kBlock.size()), problem.message);
  }
  const auto* flag = std::ranges::find_if(kInitFlags, [&](const KeyFlag& each) {
    return is_at_or_below(problem.where, pointer_of_flag(each.flag));
  });
  throw UsageError((flag == kInitFlags.end() ? problem.where : std::string(flag->flag)) + ": " +
                   problem.message);
}

// A raw recording is answered with the command that imports it.
void refuse_recording(const std::string& trace) {
  const std::string head = study::is_shipped_name(trace) ? "" : io::head_of(trace);
  if (const auto detected = io::detect_format(head); detected.format) {
    throw InputError(trace, "", io::import_first(*detected.format));
  }
}

io::Json given_keys(const TypedFlags& texts, const std::string& variability, bool accept_estimate) {
  io::Json tree{io::Object{}};
  for (const KeyFlag& each : kInitFlags) {
    if (const std::string& text = texts.at(each.flag); !text.empty()) {
      const std::string pointer = pointer_of_flag(each.flag);
      io::assign(tree, pointer, study::parse_set(pointer + "=" + text).second);
    }
  }
  if (accept_estimate) {
    io::assign(tree, "/workload/accept_estimate", true);
  }
  if (!variability.empty()) {
    io::assign(tree, "/variability", io::read_json(variability));
  }
  return tree;
}

// The memory, the assumptions, and the commands that come next. `trace` is as it was typed, or "".
std::string summary(const study::FirstScenario& first, const std::string& output,
                    const std::string& trace) {
  std::string text = first.memory + (first.memory.empty() ? "" : "\n") + first.name + ", " +
                     base::counted(first.nodes, "node") + "\n";
  const auto add = [&](const char* start, const std::vector<std::string>& list) {
    text += list.empty() ? "" : start + base::listed(list) + "\n";
  };
  add("from the trace: ", first.from_trace);
  add("assumed: ", first.assumed);
  text += first.host_bound + (first.host_bound.empty() ? "" : "\n");
  const std::string file = output == "-" ? "s.json" : output;
  const std::string over = first.nodes > 1 ? fmt::format("/cluster/nodes={},{},{}", first.nodes / 2,
                                                         first.nodes, 2 * first.nodes)
                                           : "/communication/schedule=single,wfbp,ddp";
  return text + "next: " +
         (first.host_bound.empty() || trace.empty()
              ? ""
              : "stepsim study " + base::quoted_word(trace) + " (keeps the host's time)\n      ") +
         (first.exceeds_memory ? "stepsim plan-training " + file + "\n      " : "") +
         "stepsim run " + file + "\n      stepsim compare " + file + " --over " + over + "\n";
}

} // namespace

int init(const Invocation& invocation) {
  TypedFlags texts;
  std::string variability;
  CLI::App app;
  for (const auto& [flag, type, group, description] : kInitFlags) {
    add_value(app, std::string(flag), texts[flag], type, description, group);
  }
  add_value(app, "--variability", variability, "FILE",
            "how workers and steps differ, as stepsim import kineto --variability writes it");
  bool accept_estimate = false;
  app.add_flag("--accept-estimate", accept_estimate,
               "also takes a model whose estimate was not compared with measured steps")
      ->group(kModelGroup);
  Common common(app, kInitText, invocation);
  check_flags(texts);
  if (accept_estimate && texts.at("--model").empty()) {
    throw UsageError("--accept-estimate needs --model; a trace has its own times");
  }
  // A scenario may have been changed by hand since: unlike a result it is not made again.
  if (!common.force && io::is_regular(common.output) && !io::head_of(common.output).empty()) {
    throw UsageError(common.output + ": exists; --force replaces it");
  }
  refuse_recording(texts.at("--trace"));
  study::Files files(invocation.data_folder, {common.output});
  const study::FirstScenario first = [&] {
    try {
      return study::first_scenario(given_keys(texts, variability, accept_estimate), files,
                                   common.output);
    } catch (const InputError& error) {
      rethrow_for_flags(error, variability);
    }
  }();
  write_tree(common, first.tree);
  print_beside(summary(first, common.output, texts.at("--trace")), common);
  return kOk;
}

} // namespace stepsim::cli
