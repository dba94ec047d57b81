#include "programs/program_draft.hpp"

#include "base/quantity.hpp"
#include "programs/operation_layout.hpp"

#include <bit>
#include <cassert>
#include <numeric>
#include <unordered_set>
#include <utility>

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

// A JSON pointer of at most six parts, names or positions.
class Place {
public:
  Place(std::string_view text) : parts_{text} {}
  Place(const char* text) : parts_{std::string_view(text)} {}
  [[nodiscard]] Place operator/(std::size_t index) const { return with(index); }
  [[nodiscard]] Place operator/(std::string_view name) const { return with(name); }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < count_; ++i) {
      if (const auto* index = std::get_if<std::size_t>(&parts_[i])) {
        text += "/" + std::to_string(*index);
      } else {
        text += (i > 0 ? "/" : "") + std::string(std::get<std::string_view>(parts_[i]));
      }
    }
    return text;
  }

private:
  using Part = std::variant<std::string_view, std::size_t>;
  [[nodiscard]] Place with(Part part) const {
    Place longer = *this;
    longer.parts_[longer.count_++] = part;
    return longer;
  }
  std::array<Part, 6> parts_;
  std::size_t count_ = 1;
};

class Problems {
public:
  explicit Problems(std::string file) : file_(std::move(file)) {}
  void add(const Place& where, std::string message) {
    found_.push_back({file_, where.text(), std::move(message)});
  }
  // `where` is made into text only for a problem: programs may have a million operations.
  void at_least(std::int64_t number, std::int64_t least, const Place& where) {
    if (number < least) {
      add(where, "must be >= " + std::to_string(least) + ", got " + std::to_string(number));
    }
  }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] std::vector<base::Problem> take() { return std::move(found_); }

private:
  std::string file_;
  std::vector<base::Problem> found_;
};

void check_streams(const Program& program, Problems& problems) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < program.streams.size(); ++i) {
    const Stream& stream = program.streams[i];
    if (!names.insert(stream.name).second) {
      problems.add(Place("/streams") / i / "name", "\"" + stream.name + "\" appears twice");
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
    const Place where = Place("/groups") / group.name;
    std::vector<bool> seen(program.ranks, false);
    std::size_t members = 0;
    for (std::size_t p = 0; p < group.parts.size(); ++p) {
      for (std::size_t k = 0; k < group.parts[p].size(); ++k) {
        const std::uint32_t rank = group.parts[p][k];
        if (rank >= program.ranks) {
          problems.add(where / p / k, "must be in [0, " + std::to_string(program.ranks - 1) +
                                          "], got " + std::to_string(rank));
        } else if (seen[rank]) {
          problems.add(where / p / k, "rank " + std::to_string(rank) + " appears twice");
        } else {
          seen[rank] = true;
          ++members;
        }
      }
    }
    if (members < program.ranks) {
      problems.add(where, "holds " + std::to_string(members) + " of " +
                              std::to_string(program.ranks) + " ranks; every rank has one part");
    }
  }
}

void check_exchange(const Program& program, const Operation& operation, const Place& where,
                    Problems& problems) {
  if (program.streams[operation.stream].discipline == Discipline::fifo) {
    return;
  }
  if (operation.entry == Entry::each) {
    problems.add(where / "entry", "entry each needs a fifo stream");
  }
  if (operation.group != kAllRanks) {
    problems.add(where / "group",
                 "group " + program.groups[operation.group].name + " needs a fifo stream");
  }
}

void check_operations(const Program& program, Problems& problems) {
  std::unordered_set<std::string_view> ids;
  ids.reserve(program.operations.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const Place where = Place("/operations") / i;
    if (!ids.insert(operation.id).second) {
      problems.add(where / "id", "\"" + base::shown_value(operation.id) + "\" appears twice");
    }
    if (operation.step < 0 || operation.step >= program.steps) {
      problems.add(where / "step", "must be in [0, " + std::to_string(program.steps - 1) +
                                       "], got " + std::to_string(operation.step));
    }
    const bool fifo = program.streams[operation.stream].discipline == Discipline::fifo;
    if (operation.type == OperationType::exchange) {
      check_exchange(program, operation, where, problems);
    } else if (!fifo) {
      problems.add(where / "stream", "only exchanges go on a stream that is not fifo");
    }
    if (!fifo && i >= program.iteration_size()) {
      problems.add(where / "stream", "operations of the tail need a fifo stream");
    }
  }
}

// Tail operations wait for earlier ones of the tail at distance 0, for others at distance >= 1.
void check_waits(const Program& program, Problems& problems) {
  const std::uint32_t inside = program.iteration_size();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const auto waits = program.waits_of(i);
    for (std::size_t k = 0; k < waits.size(); ++k) {
      const Place where = Place("/operations") / i / "waits" / k;
      const std::uint32_t awaited = waits[k].operation;
      if (waits[k].distance < 0) {
        problems.at_least(std::int64_t{waits[k].distance}, 0, where / "1");
      } else if (awaited >= inside && (i < inside || awaited >= i || waits[k].distance != 0)) {
        problems.add(where, "an operation of the tail is awaited by later ones of the tail only, "
                            "at distance 0");
      } else if (i >= inside && awaited < inside && waits[k].distance == 0) {
        problems.add(where / "1", "must be >= 1 in the tail, got 0");
      }
    }
  }
  for (const Applied& applied : program.applies) {
    if (applied.update >= inside || applied.exchange >= inside) {
      problems.add("/operations", "unknown operation in applies");
    } else {
      const std::int64_t least = applied.update < applied.exchange ? 1 : 0;
      problems.at_least(std::int64_t{applied.distance}, least,
                        Place("/operations") / applied.update / "applies");
    }
  }
}

void check_limits(const Program& program, Problems& problems) {
  const std::uint64_t operations = program.iteration_size();
  if (operations > kMaxOperations) {
    problems.add("", "the program has " + std::to_string(operations) +
                         " operations per iteration; at most " + std::to_string(kMaxOperations));
  } else if (operations * program.ranks > kMaxInstances) {
    problems.add("", "the program has " + std::to_string(operations) + " operations on " +
                         std::to_string(program.ranks) + " ranks; at most " +
                         std::to_string(kMaxInstances) + " instances per iteration");
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
  Problems problems(file);
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
  if (problems.empty()) {
    check_history(program, problems);
    check_order(program, problems);
  }
  return problems.take();
}

void check(const Program& program, const std::string& file) {
  std::vector<base::Problem> problems = problems_of(program, file);
  if (!problems.empty()) {
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
