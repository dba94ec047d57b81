// Files of kind program: what is read, what is written, and what wrong files are told (TRN 8.4).
#include "scenario/program_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/json_text.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/instances.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/steady_state.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using programs::Program;
using study::ProgramFile;
using testing::within;

namespace {

constexpr std::string_view kTwo = R"({
  "kind": "program",
  "streams": [{"name": "compute"}, {"name": "reduce"}],
  "operations": [
    {"id": "S", "stream": "compute", "type": "compute", "kind": "step", "seconds": 2,
     "waits": [["X", 1]]},
    {"id": "X", "stream": "reduce", "type": "exchange", "kind": "allreduce", "startup_s": 1,
     "data_s": 3, "waits": [["S", 0]]}],
  "marker": "S"})";

ProgramFile read(std::string_view text) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::parse_program(io::parse_json(text, "p.json"), files);
}

// The file `kTwo` with values set by pointer; "" without a problem, else all of them.
std::string problem_of(const std::vector<std::pair<std::string, std::string>>& changes,
                       std::string_view base = kTwo) {
  io::Json tree = io::parse_json(base, "p.json");
  for (const auto& [pointer, value] : changes) {
    io::assign(tree, pointer, io::parse_json(value, ""));
  }
  try {
    (void)read(io::compact(tree));
    return "";
  } catch (const InputError& error) {
    std::string text;
    for (const base::Problem& problem : error.problems()) {
      text += (text.empty() ? "" : "\n") + problem.where + ": " + problem.message;
    }
    return text;
  }
}

std::string written(const Program& program) {
  ProgramFile file;
  file.program = program;
  return io::pretty(study::program_tree(file));
}

} // namespace

TEST_CASE("program file: operations, waits and the period") {
  const ProgramFile file = read(kTwo);
  CHECK(file.program.operations.size() == 2);
  CHECK(file.program.ranks == 1);
  CHECK(file.program.operations[1].duration_s() == 4);
  CHECK(file.program.waits_of(0)[0].distance == 1);
  CHECK(programs::steady_state(file.program).period.value == 6);
  CHECK(file.evaluation.iterations == 100);
  CHECK(file.evaluation.discard == 50);
  CHECK(file.warnings.empty());
}

TEST_CASE("program file: an operation that delays nothing is a warning") {
  const std::string copy = R"({"kind": "program",
    "streams": [{"name": "compute"}, {"name": "copy"}],
    "operations": [
      {"id": "F", "stream": "compute", "type": "compute", "seconds": 1},
      {"id": "B", "stream": "compute", "type": "compute", "seconds": 1},
      {"id": "C", "stream": "copy", "type": "delay", "seconds": 1, "waits": [["B", 0]]}],
    "marker": "B"})";
  // B waits for F by the order of their stream; nothing waits for C.
  CHECK(read(copy).warnings == std::vector<std::string>{"nothing waits for C"});
}

TEST_CASE("program file: what is written is read as the same program") {
  const auto check = [](const Program& program) {
    const std::string text = written(program);
    const ProgramFile again = read(text);
    CHECK(written(again.program) == text);
    CHECK(programs::problems_of(again.program, "again").empty());
  };
  int seen = 0;
  for (const io::Json& instance : programs::instances()) {
    if (instance.find("kind")->as_string() != "builder") {
      check(programs::program_of(*instance.find("program")));
      ++seen;
    }
  }
  CHECK(seen == 150);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = 71, .point = seed});
    Program program = programs::with_ending_waits(programs::random_program(random, 4), random);
    program.operations[0].seconds = Seconds{1.0 / 3};
    program.interference.compute[1] = 1.1;
    check(program);
  }
  const programs::UnitTimes unit{.forward = {0.1},
                                 .backward = {0.2},
                                 .gather = {{}, {0.3}},
                                 .reduce = {{0.01}, {0.3}},
                                 .replicate = {}};
  check(programs::fsdp_program({unit, unit, unit}, {}));
}

TEST_CASE("program file: a collective takes its time from the cluster") {
  // Ring all-reduce of n bytes over p ranks: 2 (p - 1) messages of n / p (COL 5.4).
  const std::string text = R"({"kind": "program", "streams": [{"name": "reduce"}], "operations": [
    {"id": "X", "stream": "reduce", "type": "exchange", "collective": "allreduce",
     "bytes": 8000000}], "marker": "X",
    "cluster": {"nodes": 8, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}})";
  const ProgramFile file = read(text);
  CHECK(file.program.ranks == 8);
  const programs::Operation& exchange = file.program.operations[0];
  CHECK(exchange.kind == programs::Kind::allreduce);
  CHECK(exchange.startup.value == within(14 * 1e-5, 1e-12));
  CHECK(exchange.data.value == within(14 * 1e6 / 1e9, 1e-12));
  CHECK(file.links.latency_s == 1e-5);
  CHECK(file.links.seconds_per_byte == within(1e-9, 1e-12));
}

TEST_CASE("program file: groups of the cluster run inside nodes and between them") {
  // 4 nodes of 4 GPUs with 2 cards: two replica groups share a card.
  const std::string text =
      R"({"kind": "program", "streams": [{"name": "gather"}, {"name": "replica"}],
    "operations": [
    {"id": "A", "stream": "gather", "type": "exchange", "collective": "allgather",
     "bytes": 4000000, "group": "node"},
    {"id": "X", "stream": "replica", "type": "exchange", "collective": "allreduce",
     "bytes": 4000000, "group": "replica", "waits": [["A", 0]]}], "marker": "X",
    "cluster": {"nodes": 4, "gpus_per_node": 4, "nics_per_node": 2,
                "intra_network": {"latency_s": 0, "bandwidth_Bps": 1e11},
                "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e10}}})";
  const ProgramFile file = read(text);
  CHECK(file.links.latency_s == 0); // two kinds of links: none is that of all start-ups
  CHECK(file.program.operations[0].duration_s() == within(3 * 1e6 / 1e11, 1e-12));
  CHECK(file.program.operations[1].startup.value == within(6 * 1e-5, 1e-12));
  CHECK(file.program.operations[1].data.value == within(6 * 2 * 1e6 / 1e10, 1e-12));
  CHECK(file.program.groups[0].parts[1] == std::vector<std::uint32_t>{4, 5, 6, 7});
  CHECK(file.program.groups[1].parts[1] == std::vector<std::uint32_t>{1, 5, 9, 13});
}

TEST_CASE("program file: flat algorithms share the card of a node") {
  const auto program = [](const char* op, const char* cluster) {
    return read(R"({"kind": "program", "streams": [{"name": "r"}], "operations": [
      {"id": "X", "stream": "r", "type": "exchange", "bytes": 64000000, )" +
                std::string(op) + R"(}], "marker": "X", "cluster": )" + cluster + "}")
        .program.operations[0];
  };
  constexpr auto kShared = R"({"nodes": 2, "gpus_per_node": 2, "nics_per_node": 1,
    "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9},
    "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}})";
  // Recursive halving sends half to the other node first, by both ranks at once; be, COL 5.3.
  CHECK(program(R"("collective": "broadcast")", kShared).startup.value == within(1.1e-5, 1e-9));
  CHECK(program(R"("collective": "allreduce", "algorithm": "be")", kShared).duration_s() >=
        64e6 / 1e9);

  // One node needs no network between nodes.
  CHECK(program(R"("collective": "allreduce", "algorithm": "ring")",
                R"({"nodes": 1, "gpus_per_node": 4,
                    "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}})")
            .duration_s() == within(6 * (1e-6 + 16e6 / 1e11), 1e-9));

  // A preset asks its library for the operation; an algorithm runs on its links.
  constexpr auto kPreset = R"({"preset": "dgx_h100", "nodes": 4})";
  const auto library = [](nccl::Operation operation, nccl::Shape shape) {
    nccl::LibraryQuestion question = *study::testing::scenario(R"({"workload": {"layers": [
        {"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4}]}, "cluster":
        {"preset": "dgx_h100", "nodes": 4}})")
                                          .communication.question;
    question.operation = operation;
    question.shape = shape;
    return nccl::LibraryCost(question).seconds(64e6);
  };
  CHECK(program(R"("collective": "reduce_scatter")", kPreset).duration_s() ==
        library(nccl::Operation::reduce_scatter, {4, 8}));
  CHECK(program(R"("collective": "allgather", "group": "node")", kPreset).duration_s() ==
        library(nccl::Operation::allgather, {1, 8}));
  CHECK(program(R"("collective": "allreduce", "group": "replica")", kPreset).duration_s() ==
        library(nccl::Operation::allreduce, {4, 1}));
  CHECK(program(R"("collective": "allreduce", "algorithm": "ring", "group": "node")", kPreset)
            .duration_s() == within(14 * (2e-6 + 8e6 / 370.8e9), 1e-9));

  // A measured all-reduce counts as its two halves.
  constexpr auto kCost = R"({"nodes": 4, "network": {"cost": {"startup_s": 1, "per_byte_s": 0}}})";
  CHECK(program(R"("collective": "allgather")", kCost).duration_s() == 0.5);
  CHECK(program(R"("collective": "reduce")", kCost).duration_s() == within(4 / 6.0, 1e-12));
}

TEST_CASE("program file: wrong files are told what and where") {
  CHECK(problem_of({}).empty());
  CHECK(problem_of({{"/operations/0/waits/0/0", "\"X9\""}}) ==
        "/operations/0/waits/0: unknown operation \"X9\"");
  CHECK(problem_of({{"/operations/0/waits/0/1", "-1"}}) ==
        "/operations/0/waits/0/1: must be >= 0, got -1");
  CHECK(problem_of({{"/operations/0/waits/0/1", "0"}}) ==
        "/operations: S, X, S wait for each other in the same iteration");
  CHECK(problem_of({{"/operations/0/waits/0", R"(["X", 1, "some"])"}}) ==
        "/operations/0/waits/0/2: must be \"all\", got \"some\"");
  CHECK(problem_of({{"/operations/0/waits/0", R"(["X", 1, 0])"}})
            .starts_with("/operations/0/waits/0/2: must be"));
  CHECK(problem_of({{"/operations/0/waits/0", R"(["X", 1, 5, 6])"}}) ==
        "/operations/0/waits/0/2: must be \"all\", got 5");
  CHECK(problem_of({{"/operations/1/id", "\"S\""}, {"/operations/0/waits", "[]"}}) ==
        "/operations/1/id: \"S\" appears twice");
  CHECK(problem_of({{"/operations/0/seconds", "-1"}}) ==
        "/operations/0/seconds: must be in [0, 1e+100], got -1");
  CHECK(problem_of({{"/operations/0/seconds", "1e308"}}) ==
        "/operations/0/seconds: must be in [0, 1e+100], got 1e+308");
  CHECK(problem_of({{"/operations/1/stream", "\"reduc\""}}) ==
        "/operations/1/stream: unknown stream \"reduc\"; did you mean \"reduce\"?");
  CHECK(problem_of({{"/operations/1/group", "\"node\""}}) ==
        "/operations/1/group: unknown group \"node\"");
  CHECK(problem_of(
            {{"/operations/1/entry", "\"each\""}, {"/streams/1/discipline", "\"priority\""}}) ==
        "/operations/1/entry: entry each needs a fifo stream");
  CHECK(problem_of({{"/overlap", R"({"compute": 0.9})"}}) ==
        "/overlap/compute: must be in [1, 1e+100], got 0.9");
  CHECK(
      problem_of({{"/overlap", R"({"exchange": 2})"}, {"/streams/1/discipline", "\"at_once\""}}) ==
      "/overlap/exchange: is defined for fifo streams only");
  CHECK(problem_of({{"/marker", "\"Y\""}}) == "/marker: unknown operation \"Y\"");
  CHECK(problem_of({{"/operations/1/collective", "\"allreduce\""}}) ==
        "/operations/1/startup_s: is that of the collective\n"
        "/operations/1/data_s: is that of the collective\n"
        "/operations/1/collective: needs the cluster of the file, which gives its time");
  CHECK(problem_of({{"/operations/0/startup_s", "1"}}) ==
        "/operations/0/startup_s: belongs to exchanges only");
  CHECK(problem_of({{"/discard_iterations", "100"}}) ==
        "/discard_iterations: must be less than iterations (100), got 100");
  CHECK(problem_of({{"/cluster", R"({"nodes": 0})"}}) ==
        "/cluster/nodes: must be an integer in [1, 1048576], got 0\n/cluster/network: required");
  CHECK(problem_of({{"/groups", R"({"g": [[0, 1]]})"}}) ==
        "/groups/g/0/1: must be in [0, 0], got 1");
}
