// Logs of the NCCL Inspector (INP 2.6).
#include "import/nccl/import_nccl_inspector.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_detect.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

struct Logged {
  int rank = 0, ranks = 2, nodes = 1;
  std::string operation = "AllReduce";
  int number = 1;
  std::int64_t bytes = 1 << 20;
  double time_us = 100;
  std::string timing = "kernel_gpu";
  std::string communicator = "0x7f8c496ae9f661";
  double rate = 0; // GB/s; 0: as the plug-in computes it
};

// A line as the plug-in writes it, from the sizes and rates of its source.
std::string line(const Logged& logged) {
  const bool parts = logged.operation == "AllGather" || logged.operation == "ReduceScatter";
  const double rate = logged.rate > 0 ? logged.rate
                                      : static_cast<double>(logged.bytes) *
                                            (parts ? logged.ranks : 1) / 1e3 / logged.time_us;
  const Json json = Object{{"header", Object{{"id", logged.communicator},
                                             {"rank", logged.rank},
                                             {"n_ranks", logged.ranks},
                                             {"nnodes", logged.nodes}}},
                           {"metadata", Object{{"inspector_output_format_version", "v4.0"},
                                               {"git_rev", ""},
                                               {"rec_mechanism", "nccl_profiler_interface"},
                                               {"dump_timestamp_us", 1'748'030'377'748'202},
                                               {"hostname", "SECRET-node-01"},
                                               {"pid", 1'639'453}}},
                           {"coll_perf", Object{{"coll", logged.operation},
                                                {"coll_sn", logged.number},
                                                {"coll_msg_size_bytes", logged.bytes},
                                                {"coll_exec_time_us", logged.time_us},
                                                {"coll_timing_source", logged.timing},
                                                {"coll_algobw_gbs", rate},
                                                {"coll_busbw_gbs", rate}}}};
  return compact(json) + "\n";
}

Samples import_texts(const std::vector<std::string>& texts) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const std::string& text : texts) {
    files.push_back(folder.put("rank" + std::to_string(files.size()) + ".log", text));
  }
  return import_nccl_inspector(files, {});
}

std::string failure(const std::vector<std::string>& texts) {
  try {
    (void)import_texts(texts);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find(".log") - std::string("rank0").size());
  }
  return "no error";
}

std::vector<double> times_us(const SampleSet& set) {
  std::vector<double> times;
  for (const Sample& sample : set.samples) {
    times.push_back(std::round(sample.time_s * 1e9) / 1e3);
  }
  return times;
}

} // namespace

TEST_CASE("nccl-inspector: from version 4.3 on a header holds for the lines below it") {
  const auto marked = [](const Logged& logged) {
    const Json json = parse_json(line(logged), "line");
    return compact(Object{{"header", *json.find("header")}, {"dump_stats", Object{}}}) + "\n" +
           compact(Object{{"coll_perf", *json.find("coll_perf")}}) + "\n";
  };
  const Samples samples =
      import_texts({marked({.number = 1, .time_us = 9}) + marked({.ranks = 4, .time_us = 8}),
                    marked({.rank = 1, .number = 1, .time_us = 7})});
  REQUIRE(samples.sets.size() == 2);
  CHECK(times_us(samples.sets[0]) == std::vector<double>{7});
  CHECK(samples.sets[1].ranks == 4);
  CHECK(std::ranges::none_of(samples.warnings, [](const std::string& warning) {
    return warning.find("no collective") != std::string::npos;
  }));
}

TEST_CASE("nccl-inspector: the shortest time of the ranks is that of the collective") {
  const std::vector<std::string> ranks{line({.number = 1, .time_us = 900}) +
                                           line({.number = 2, .time_us = 120}),
                                       line({.rank = 1, .number = 1, .time_us = 101}) +
                                           line({.rank = 1, .number = 2, .time_us = 640})};
  const Samples apart = import_texts(ranks);
  REQUIRE(apart.sets.size() == 1);
  CHECK(apart.sets[0].op == "allreduce");
  CHECK(apart.sets[0].algorithm == "nccl");
  CHECK(apart.sets[0].column == "kernel_gpu");
  CHECK(apart.sets[0].ranks == 2);
  CHECK(apart.sets[0].gpus_per_node == 2);
  CHECK(times_us(apart.sets[0]) == std::vector<double>{101, 120});
  CHECK(apart.sets[0].samples[0].bytes == 1 << 20);
  CHECK(apart.warnings.empty());
  CHECK(apart.source.format == "nccl-inspector");
  CHECK(apart.source.files.size() == 2);
  // The ranks in one file, or in the other order, are the same samples.
  for (const std::vector<std::string>& files :
       {std::vector{ranks[0] + ranks[1]}, std::vector{ranks[1], ranks[0]}}) {
    const Samples other = import_texts(files);
    CHECK(times_us(other.sets.at(0)) == times_us(apart.sets[0]));
  }
  // What is written can be read, and holds neither hosts nor processes.
  const std::string written = compact(to_json(apart));
  CHECK(compact(to_json(parse_samples(parse_json(written, "s.json")))) == written);
  CHECK(written.find("SECRET") == std::string::npos);
  CHECK(written.find("1639453") == std::string::npos);
  CHECK(written.find("0x7f8c") == std::string::npos);
}

TEST_CASE("nccl-inspector: sequence numbers count for each operation and communicator") {
  const std::string other = "0x1";
  const Samples samples = import_texts(
      {line({.time_us = 10}) + line({.operation = "Broadcast", .time_us = 20}) +
       line({.time_us = 30, .communicator = other}) + line({.rank = 1, .time_us = 11}) +
       line({.rank = 1, .operation = "Broadcast", .time_us = 19}) +
       line({.rank = 1, .time_us = 29, .communicator = other})});
  REQUIRE(samples.sets.size() == 2);
  CHECK(times_us(samples.sets[0]) == std::vector<double>{29, 10}); // by communicator
  CHECK(samples.sets[1].op == "broadcast");
  CHECK(times_us(samples.sets[1]) == std::vector<double>{19});
}

TEST_CASE("nccl-inspector: a number that a rank logs again is the next repetition") {
  const Samples samples =
      import_texts({line({.time_us = 10}) + line({.time_us = 50}),
                    line({.rank = 1, .time_us = 12}) + line({.rank = 1, .time_us = 48})});
  CHECK(times_us(samples.sets.at(0)) == std::vector<double>{10, 48});
}

TEST_CASE("nccl-inspector: bytes are those of all ranks") {
  struct Row {
    std::string logged, op;
    int parts;
  };
  for (const auto& [logged, op, parts] :
       {Row{"AllReduce", "allreduce", 1}, Row{"AllGather", "allgather", 8},
        Row{"ReduceScatter", "reduce_scatter", 8}, Row{"AllToAll", "alltoall", 8},
        Row{"Broadcast", "broadcast", 1}, Row{"Reduce", "reduce", 1}}) {
    CAPTURE(logged);
    std::string text = line({.ranks = 8, .operation = logged, .bytes = 1000});
    if (logged == "AllToAll") { // the plug-in has no rate for it
      text.replace(text.find("\"coll_algobw_gbs\":") + 18, 4, "0.00");
    }
    const Samples samples = import_texts({text});
    REQUIRE(samples.sets.size() == 1);
    CHECK(samples.sets[0].op == op);
    CHECK(samples.sets[0].samples[0].bytes == 1000 * parts);
    REQUIRE(samples.warnings.size() == 1);
    CHECK(samples.warnings[0].starts_with("one rank: its times contain waiting"));
  }
}

TEST_CASE("nccl-inspector: clocks of the host count only where there is no better one") {
  const Samples mixed =
      import_texts({line({.number = 1, .time_us = 100}) +
                        line({.number = 2, .time_us = 5, .timing = "collective_cpu"}),
                    line({.rank = 1, .number = 1, .time_us = 3, .timing = "kernel_cpu"}) +
                        line({.rank = 1, .number = 2, .time_us = 7, .timing = "collective_cpu"})});
  REQUIRE(mixed.sets.size() == 1);
  CHECK(mixed.sets[0].column == "kernel_gpu");
  CHECK(times_us(mixed.sets[0]) == std::vector<double>{100});
  CHECK(mixed.warnings == std::vector<std::string>{"1 collective left out: others of the same "
                                                   "operation have a better clock"});
  const Samples host = import_texts({line({.time_us = 5, .timing = "collective_cpu"}) +
                                     line({.rank = 1, .time_us = 7, .timing = "collective_cpu"})});
  CHECK(host.sets.at(0).column == "collective_cpu");
  CHECK(host.warnings == std::vector<std::string>{"allreduce with 2 ranks: 1 collective timed by "
                                                  "collective_cpu, not by the GPU's clock"});
}

TEST_CASE("nccl-inspector: what was left out is told") {
  const std::string message =
      R"({"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"p2p_perf":{"p2p":"Send"}})"
      "\n\n";
  const Samples samples =
      import_texts({line({}) + line({.rank = 1}) + line({.number = 2}) + message +
                    line({.number = 3, .time_us = 0, .rate = 1}) + line({.operation = "Gather"}) +
                    line({.rank = 1, .number = 9, .rate = 77})});
  CHECK(samples.sets.at(0).samples.size() == 3);
  CHECK(samples.warnings ==
        std::vector<std::string>{
            "2 of 3 collectives were logged by fewer ranks than took part: their times may contain "
            "waiting",
            "1 line left out: the time is 0", "1 line left out: no collective",
            "1 line left out: Gather is no operation of ours",
            "the rate of 1 line does not follow from size and time: do the sizes mean what the "
            "NCCL Inspector writes?"});
}

TEST_CASE("nccl-inspector: what bad logs get") {
  const std::string good = line({});
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = good;
    REQUIRE(text.find(part) != std::string::npos);
    return text.replace(text.find(part), part.size(), other);
  };
  CHECK(failure({""}) == "rank0.log: empty");
  CHECK(failure({"\n"}) == "rank0.log: no line has a coll_perf of an operation that is known");
  CHECK(failure({good + "{"}).starts_with("rank0.log:2: "));
  CHECK(failure({"[1]\n"}) ==
        "rank0.log:1: must be an object of the NCCL Inspector, with header and coll_perf");
  CHECK(failure({"{}\n"}) ==
        "rank0.log:1: neither header nor coll_perf: not a line of the NCCL Inspector");
  CHECK(failure({"{\"header\": 3}\n"}) == "rank0.log:1: /header: must be an object, got 3");
  CHECK(failure({"{\"coll_perf\": {}}\n"}) == "rank0.log:1: /header: required");
  CHECK(failure({with("\"coll_sn\":1,", "")}) ==
        "rank0.log:1: /coll_perf/coll_sn: required (an integer)");
  CHECK(failure({with("\"coll_sn\":1,", "\"coll_sn\":1.5,")})
            .starts_with("rank0.log:1: /coll_perf/coll_sn: must be an integer in [0, "));
  CHECK(failure({with("\"rank\":0", "\"rank\":2")}) ==
        "rank0.log:1: /header/rank: must be an integer in [0, 1], got 2");
  CHECK(failure({with("\"n_ranks\":2", "\"n_ranks\":0")}) ==
        "rank0.log:1: /header/n_ranks: must be an integer in [1, 1048576], got 0");
  CHECK(
      failure({with("1048576", "-1")})
          .starts_with("rank0.log:1: /coll_perf/coll_msg_size_bytes: must be an integer in [0, "));
  CHECK(failure({with("\"coll_exec_time_us\":100", "\"coll_exec_time_us\":-1")})
            .starts_with("rank0.log:1: /coll_perf/coll_exec_time_us: must be in [0, "));
  CHECK(failure({with("\"AllReduce\"", "7")}) ==
        "rank0.log:1: /coll_perf/coll: must be a text, got 7");
  CHECK(failure({good, line({.rank = 1, .bytes = 4096})}) ==
        "rank1.log:1: AllReduce 1: 4096 bytes on 2 ranks, but 1048576 bytes on 2 ranks in a line "
        "before: the files are not of one job");
  CHECK(failure({good, good}) == "rank1.log: the same content as rank0.log: give each file once");
  CHECK(failure({line({.ranks = 1 << 20, .operation = "AllGather", .bytes = 1LL << 40})}) ==
        "rank0.log:1: /coll_perf/coll_msg_size_bytes: more than 2^53 bytes on all ranks");
  CHECK(failure({std::string(100, '[') + "\n"}).find("nested") != std::string::npos);
  CHECK(failure({std::string((1 << 20) + 1, ' ')}).find("line longer than") != std::string::npos);
}

TEST_CASE("nccl-inspector: detected by its first line") {
  CHECK(detect_format(line({})).format == ImportFormat::nccl_inspector);
  CHECK(detect_format(R"({"header":{"id":"0x1","rank":0,"n_ranks":2},"p2p_perf":{}})").format ==
        ImportFormat::nccl_inspector);
}

TEST_CASE("nccl-inspector: damaged logs give samples or one error that names the file") {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += line({.rank = i % 2, .number = i / 2, .bytes = 1000 << i / 2});
  }
  base::RandomStream random({.seed = 1});
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = text;
    const auto at = static_cast<std::size_t>(random.integer(0, std::ssize(text) - 1));
    switch (random.integer(0, 2)) {
    case 0:
      damaged[at] = static_cast<char>(random.integer(0, 255));
      break;
    case 1:
      damaged.erase(at, static_cast<std::size_t>(random.integer(1, 40)));
      break;
    default:
      damaged.insert(at, damaged.substr(0, at));
    }
    try {
      const Samples samples = import_texts({damaged});
      CHECK_NOTHROW((void)parse_samples(to_json(samples)));
      ++read;
    } catch (const InputError& error) {
      CHECK(error.problems().size() == 1);
      CHECK(error.problems().front().text().find("rank0.log") != std::string::npos);
      ++refused;
    }
  }
  CHECK(read > 0);
  CHECK(refused > 0);
}
