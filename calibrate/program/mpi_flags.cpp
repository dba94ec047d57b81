#include "calibrate/program/mpi_flags.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/quantity.hpp"
#include "cli/shell/flag_values.hpp"

namespace stepsim::calibrate {

namespace {

using namespace mpi;

constexpr double kMostSegment = 8 << 20; // the largest message that is measured
constexpr std::int64_t kMostPairs = 120; // of a job without --pairs: all pairs of 16 ranks

// "3=20ms". Whether there is such a rank is known only when MPI runs.
std::optional<LateRank> late_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos) {
    throw UsageError("--late " + base::shown_value(text) + ": must be RANK=TIME, such as 3=20ms");
  }
  return LateRank{
      static_cast<std::uint32_t>(cli::count("--late", text.substr(0, equal), io::at_least(0))),
      cli::quantity("--late", text.substr(equal + 1), base::QuantityKind::time, io::above(0))};
}

} // namespace

void add_mpi_flags(CLI::App& app, MpiFlags& flags) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    app.add_option(name, value, text)->type_name(type);
  };
  add("--table", flags.table, "FILE",
      "predicted beside measured, JSON Lines, kept while it grows; default none");
  add("--pairs", flags.pairs, "N", "pairs of ranks to measure, at random; default all up to 120");
  add("--links", flags.links, "FILE", "writes latency and bandwidth of the pairs; default none");
  add("--topology", flags.topology, "FILE",
      "writes the links of the ranks and of their switches, from all pairs and from messages of "
      "all "
      "ranks at once; the collectives are predicted over them");
  add("--late", flags.late, "RANK=TIME",
      "a rank that begins every collective so much later; default none");
  add("--assume", flags.assume, "LIST",
      "algorithms that the library was told to use, such as allreduce=ring: its times are "
      "predicted");
  app.add_flag("--force", flags.force, "exit 0 also where the grade is fail");
  add("--segment", flags.segment, "SIZE",
      "messages go out in pieces of this size; also the block of lp; default 32KiB");
  app.add_flag("--no-acknowledge", flags.no_acknowledge,
               "tree rounds do not wait for delivery, to see the effect");
  add("--timeout", flags.timeout, "TIME", "longest operation before all end; default 60s");
  app.add_flag("--dense-sizes", flags.dense, "sizes by a factor of sqrt 2 instead of 2");
  app.add_flag("--strict", flags.strict, "exit 4 where passes differ by more than 15 %");
  add("--max-seconds", flags.max_seconds, "N",
      "of all measurements; what is left over is said; default 300");
  add("--rate", flags.rate, "RATE", "of the links, written into the table; default unknown");
}

MpiSettings mpi_settings(const MpiFlags& flags) {
  MpiSettings settings;
  settings.pairs = kMostPairs;
  settings.timeout_s =
      cli::quantity("--timeout", flags.timeout, base::QuantityKind::time, io::above(0));
  settings.max_seconds =
      cli::quantity("--max-seconds", flags.max_seconds, base::QuantityKind::count, io::above(0));
  const double segment =
      cli::quantity("--segment", flags.segment, base::QuantityKind::size, io::above(0));
  if (std::fmod(segment, kElement) != 0 || segment > kMostSegment) {
    throw UsageError("--segment " + base::shown_value(flags.segment) +
                     ": must be a multiple of 4 bytes, at most 8 MiB");
  }
  TableOptions& table = settings.table;
  table.messages.segment_bytes = static_cast<std::int64_t>(segment);
  table.messages.acknowledge = !flags.no_acknowledge;
  table.dense = flags.dense;
  if (!flags.rate.empty()) {
    table.rate = cli::quantity("--rate", flags.rate, base::QuantityKind::rate, io::above(0));
  }
  if (!flags.pairs.empty()) {
    settings.pairs = cli::count("--pairs", flags.pairs, io::at_least(1));
  }
  settings.assumed = parse_assumed(flags.assume);
  for (const auto& [flag, value] :
       {std::pair("--topology", &flags.topology), std::pair("--late", &flags.late)}) {
    if (!value->empty() && !settings.assumed.empty()) {
      throw UsageError(std::string(flag) +
                       " and --assume exclude each other: a library's times are "
                       "predicted for equal links and ranks that begin together");
    }
  }
  if (!flags.topology.empty() && !flags.pairs.empty()) {
    throw UsageError("--topology and --pairs exclude each other: a topology needs all pairs");
  }
  if (!flags.topology.empty()) {
    settings.pairs = std::numeric_limits<std::int64_t>::max();
  }
  table.late = late_of(flags.late);
  return settings;
}

} // namespace stepsim::calibrate
