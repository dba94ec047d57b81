#include "programs/program_draft.hpp"

#include "base/quantity.hpp"
#include "programs/operation_layout.hpp"

#include <fmt/core.h>

#include <bit>
#include <cassert>
#include <numeric>
#include <unordered_set>

namespace stepsim::programs {

Program ProgramDraft::finish(std::uint32_t marker) {
  Program program = std::exchange(program_, {});
  const std::vector<std::uint32_t> waiters = std::exchange(waiters_, {});
  const std::size_t operations = program.operations.size();
  program.marker = marker;
  program.tail_operations =
      tail_first_ == kAllRanks ? 0 : static_cast<std::uint32_t>(operations) - tail_first_;
  tail_first_ = kAllRanks;
  // Counting sort by waiter.
  program.first_wait.assign(operations + 1, 0);
  for (const std::uint32_t waiter : waiters) {
    assert(waiter < operations && "an operation that waits was added");
    ++program.first_wait[waiter + 1];
  }
  std::partial_sum(program.first_wait.begin(), program.first_wait.end(),
                   program.first_wait.begin());
  std::vector<std::uint64_t> next(program.first_wait.begin(), program.first_wait.end() - 1);
  std::vector<Wait> sorted(program.waits.size());
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    sorted[next[waiters[i]]++] = program.waits[i];
  }
  program.waits = std::move(sorted);
  return program;
}

// Four passes: what stands alone (streams, groups, operations), then waits, then limits, and only
// for programs without a problem so far the order within one iteration.

namespace {

struct Problems {
  std::string file;
  std::vector<base::Problem> found{};

  void add(std::string where, std::string message) {
    found.push_back({file, std::move(where), std::move(message)});
  }
};

void check_streams(const Program& program, Problems& problems) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < program.streams.size(); ++i) {
    const Stream& stream = program.streams[i];
    if (!names.insert(stream.name).second) {
      problems.add(fmt::format("/streams/{}/name", i), "\"" + stream.name + "\" appears twice");
    }
  }
  const auto is_fifo = [](const Stream& each) { return each.discipline == Discipline::fifo; };
  if (program.interference.exchange != 1 && !std::ranges::all_of(program.streams, is_fifo)) {
    problems.add("/overlap/exchange", "is defined for fifo streams only");
  }
}

void check_groups(const Program& program, Problems& problems) {
  for (std::size_t i = 0; i < program.groups.size(); ++i) {
    const Group& group = program.groups[i];
    const std::string where = "/groups/" + group.name;
    std::vector<bool> seen(program.ranks, false);
    std::size_t members = 0;
    for (std::size_t p = 0; p < group.parts.size(); ++p) {
      for (std::size_t k = 0; k < group.parts[p].size(); ++k) {
        const std::uint32_t rank = group.parts[p][k];
        if (rank >= program.ranks) {
          problems.add(fmt::format("{}/{}/{}", where, p, k),
                       fmt::format("must be in [0, {}], got {}", program.ranks - 1, rank));
        } else if (seen[rank]) {
          problems.add(fmt::format("{}/{}/{}", where, p, k),
                       fmt::format("rank {} appears twice", rank));
        } else {
          seen[rank] = true;
          ++members;
        }
      }
    }
    if (members < program.ranks) {
      problems.add(where, fmt::format("holds {} of {} ranks; every rank has one part", members,
                                      program.ranks));
    }
  }
}

void check_operations(const Program& program, Problems& problems) {
  std::unordered_set<std::string_view> ids;
  ids.reserve(program.operations.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const auto add = [&](std::string_view key, std::string message) {
      problems.add(fmt::format("/operations/{}/{}", i, key), std::move(message));
    };
    if (!ids.insert(operation.id).second) {
      add("id", "\"" + base::shown_value(operation.id) + "\" appears twice");
    }
    if (operation.step < 0 || operation.step >= program.steps) {
      add("step", fmt::format("must be in [0, {}], got {}", program.steps - 1, operation.step));
    }
    if (program.streams[operation.stream].discipline == Discipline::fifo) {
      continue;
    }
    if (operation.type != OperationType::exchange) {
      add("stream", "only exchanges go on a stream that is not fifo");
    } else if (operation.entry == Entry::each) {
      add("entry", "entry each needs a fifo stream");
    }
    if (operation.type == OperationType::exchange && operation.group != kAllRanks) {
      add("group", "group " + program.groups[operation.group].name + " needs a fifo stream");
    }
    if (i >= program.iteration_size()) {
      add("stream", "operations of the tail need a fifo stream");
    }
  }
}

// Tail operations wait for earlier ones of the tail at distance 0, for others at distance >= 1.
void check_waits(const Program& program, Problems& problems) {
  const std::uint32_t inside = program.iteration_size();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const auto waits = program.waits_of(i);
    for (std::size_t k = 0; k < waits.size(); ++k) {
      const auto add = [&](std::string_view part, std::string message) {
        problems.add(fmt::format("/operations/{}/waits/{}{}", i, k, part), std::move(message));
      };
      const std::uint32_t awaited = waits[k].operation;
      if (waits[k].distance < 0) {
        add("/1", fmt::format("must be >= 0, got {}", waits[k].distance));
      } else if (awaited >= inside && (i < inside || awaited >= i || waits[k].distance != 0)) {
        add("",
            "an operation of the tail is awaited by later ones of the tail only, at distance 0");
      } else if (i >= inside && awaited < inside && waits[k].distance == 0) {
        add("/1", "must be >= 1 in the tail, got 0");
      }
    }
  }
  for (const Applied& applied : program.applies) {
    if (applied.update >= inside || applied.exchange >= inside) {
      problems.add("/operations", "unknown operation in applies");
    } else if (const int least = applied.update < applied.exchange ? 1 : 0;
               applied.distance < least) {
      problems.add(fmt::format("/operations/{}/applies", applied.update),
                   fmt::format("must be >= {}, got {}", least, applied.distance));
    }
  }
}

void check_limits(const Program& program, Problems& problems) {
  const std::uint64_t operations = program.iteration_size();
  if (operations > kMaxOperations) {
    problems.add("", fmt::format("the program has {} operations per iteration; at most {}",
                                 operations, kMaxOperations));
  } else if (operations * program.ranks > kMaxInstances) {
    problems.add("", fmt::format("the program has {} operations on {} ranks; at most {} instances "
                                 "per iteration",
                                 operations, program.ranks, kMaxInstances));
  }
}

// Evaluators keep the ends of an operation for as long as a wait may look back.
void check_history(const Program& program, Problems& problems) {
  std::vector<std::uint32_t> longest(program.operations.size(), 0);
  for (const Wait& wait : program.waits) {
    std::uint32_t& length = longest[wait.operation];
    length = std::max(length, static_cast<std::uint32_t>(wait.distance));
  }
  std::uint64_t instances = 0;
  for (const std::uint32_t length : longest) {
    instances += std::bit_ceil(std::uint64_t{length} + 1) * program.ranks;
  }
  if (instances > kMaxInstances) {
    problems.add("/operations", "waits look back on " + std::to_string(instances) +
                                    " instances; at most " + std::to_string(kMaxInstances));
  }
}

void check_order(const Program& program, Problems& problems) {
  const std::vector<std::uint32_t> cycle = issue_order(program).cycle;
  if (cycle.empty()) {
    return;
  }
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) {
    text += base::shown_value(program.operations[cycle[i]].id) + ", ";
  }
  if (cycle.size() > kShown) {
    text += "and " + std::to_string(cycle.size() - kShown) + " more, ";
  }
  problems.add("/operations", text + base::shown_value(program.operations[cycle[0]].id) +
                                  " wait for each other in the same iteration");
}

} // namespace

std::vector<base::Problem> problems_of(const Program& program, const std::string& file) {
  Problems problems{file};
  if (program.iteration_size() == 0) {
    problems.add("/operations", "must not be empty");
  }
  check_limits(program, problems);
  check_streams(program, problems);
  check_groups(program, problems);
  check_operations(program, problems);
  check_waits(program, problems);
  if (program.marker >= program.iteration_size()) {
    problems.add("/marker", "unknown operation " + std::to_string(program.marker));
  }
  if (problems.found.empty()) {
    check_history(program, problems);
    check_order(program, problems);
  }
  return std::move(problems.found);
}

void check(const Program& program, const std::string& file) {
  if (std::vector<base::Problem> problems = problems_of(program, file); !problems.empty()) {
    throw InputError(std::move(problems));
  }
}

std::vector<std::uint32_t> unawaited(const Program& program) {
  std::vector<bool> awaited(program.operations.size(), false);
  awaited[program.marker] = true;
  for (const Wait& wait : program.waits) {
    awaited[wait.operation] = true;
  }
  std::vector<std::uint32_t> result;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    if (!awaited[o]) {
      result.push_back(o);
    }
  }
  return result;
}

} // namespace stepsim::programs
