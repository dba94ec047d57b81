#include "scenario/program_file.hpp"

#include "scenario/files/overlap_file.hpp"
#include "scenario/program_keys.hpp"

namespace stepsim::study {

namespace {

std::vector<std::uint32_t> ranks_of(const io::Json& part, io::Problems& problems) {
  std::vector<std::uint32_t> ranks;
  if (!part.is_array()) {
    problems.add(part, "must be a list of ranks, got " + io::shown(part));
    return ranks;
  }
  for (const io::Json& rank : part.as_array()) {
    const io::Range range = keys::kProgramRank.front().range;
    if (const auto number = io::checked_integer(rank, range, problems)) {
      ranks.push_back(static_cast<std::uint32_t>(*number));
    }
  }
  return ranks;
}

} // namespace

programs::Interference parse_interference(const io::Json& overlap, io::Problems& problems) {
  programs::Interference interference;
  io::Fields fields(overlap, problems, *io::find_key(keys::kProgram, "overlap"));
  interference.exchange = fields.number("exchange");
  const io::Json* compute = fields.any("compute");
  if (compute != nullptr && compute->is_object()) {
    const auto kinds = programs::kKinds.all();
    interference.compute =
        io::factors_by_kind(*compute, "kind", {kinds.begin(), kinds.end()}, problems);
  } else if (compute != nullptr && !compute->is_null()) {
    const io::Range range = keys::kOverlapComputeForms.front().range;
    interference.compute.fill(io::checked_number(*compute, range, problems).value_or(1));
  }
  fields.no_more();
  return interference;
}

std::vector<programs::Group> parse_groups(const io::Json& groups, io::Problems& problems) {
  std::vector<programs::Group> result;
  if (!groups.is_object()) {
    problems.add(groups, "must be an object, got " + io::shown(groups));
    return result;
  }
  for (const auto& [name, parts] : groups.as_object()) {
    programs::Group group{.name = name, .parts = {}};
    if (name == "all") {
      problems.add(parts, "all stands for every rank and needs no group");
    } else if (!parts.is_array()) {
      problems.add(parts, "must be a list of lists of ranks, got " + io::shown(parts));
    } else {
      for (const io::Json& part : parts.as_array()) {
        group.parts.push_back(ranks_of(part, problems));
      }
    }
    result.push_back(std::move(group));
  }
  return result;
}

void add_unawaited(const programs::Program& program, std::vector<std::string>& warnings) {
  // The next operation of a fifo stream waits for the one before it: one that is awaited is enough.
  std::vector<bool> holds(program.streams.size(), false);
  const auto hold = [&](std::uint32_t operation) {
    const std::uint32_t stream = program.operations[operation].stream;
    holds[stream] = program.streams[stream].discipline == programs::Discipline::fifo;
  };
  hold(program.marker);
  for (const programs::Wait& wait : program.waits) {
    hold(wait.operation);
  }
  std::vector<std::uint32_t> loose = programs::unawaited(program);
  std::erase_if(loose, [&](std::uint32_t o) { return holds[program.operations[o].stream]; });
  if (loose.empty()) {
    return;
  }
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < loose.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + base::shown_value(program.operations[loose[i]].id);
  }
  if (loose.size() > kShown) {
    text += " and " + std::to_string(loose.size() - kShown) + " more";
  }
  warnings.push_back("nothing waits for " + text);
}

} // namespace stepsim::study
