#pragma once
// Random programs with fifo streams, and an evaluation of them straight from the definition (TRN
// 2.2), with nothing in common with the evaluators: it repeats the equations until nothing changes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// Quarters of seconds: sums are exact.
inline double quarters(base::RandomStream& random, std::int64_t most) {
  return static_cast<double>(random.integer(0, most)) / 4;
}

// The operations are made in an order in which they can run and listed in another one, with every
// stream's own order kept, so that waits of distance 0 may lead forward in the list.
inline Program random_program(base::RandomStream& random, std::uint32_t ranks,
                              std::int64_t most_streams = 3) {
  const auto streams = static_cast<std::size_t>(random.integer(1, most_streams));
  const auto count = static_cast<std::size_t>(random.integer(1, 10));
  std::vector<std::size_t> stream_of(count);
  std::vector<std::vector<std::size_t>> lists(streams);
  for (std::size_t o = 0; o < count; ++o) {
    stream_of[o] =
        static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(streams) - 1));
    lists[stream_of[o]].push_back(o);
  }
  std::vector<std::uint32_t> listed_at(count);
  std::vector<std::size_t> taken(streams, 0);
  std::vector<std::size_t> listed;
  while (listed.size() < count) {
    const auto s =
        static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(streams) - 1));
    if (taken[s] < lists[s].size()) {
      listed_at[lists[s][taken[s]]] = static_cast<std::uint32_t>(listed.size());
      listed.push_back(lists[s][taken[s]++]);
    }
  }
  ProgramDraft draft;
  for (std::size_t s = 0; s < streams; ++s) {
    draft.stream("stream" + std::to_string(s));
  }
  const bool grouped = ranks == 4 && random.integer(0, 1) == 0;
  if (grouped) {
    draft.group({.name = "node", .parts = {{0, 2}, {3, 1}}});
  }
  for (const std::size_t o : listed) {
    const auto stream = static_cast<std::uint32_t>(stream_of[o]);
    const std::string id = "o" + std::to_string(o);
    if (random.integer(0, 1) == 0) {
      draft.exchange(id, stream, Kind::allreduce, {quarters(random, 4)}, {quarters(random, 12)});
      draft.last().group = grouped && random.integer(0, 1) == 0 ? 0 : kAllRanks;
    } else {
      draft.compute(id, stream, Kind::forward, {quarters(random, 12)});
      draft.last().type = random.integer(0, 5) == 0 ? OperationType::delay : OperationType::compute;
    }
  }
  for (std::size_t o = 0; o < count; ++o) {
    for (std::size_t other = 0; other < count; ++other) {
      const bool near = other < o && random.integer(0, 2) == 0;
      if (near || random.integer(0, 3) == 0) {
        draft.wait(listed_at[o], listed_at[other],
                   near ? 0 : static_cast<std::int32_t>(random.integer(1, 3)),
                   random.integer(0, 3) == 0 ? Scope::all : Scope::own);
      }
    }
  }
  draft.settings().ranks = ranks;
  return draft.finish(
      static_cast<std::uint32_t>(random.integer(0, static_cast<std::int64_t>(count) - 1)));
}

// A third of the waits hold in the first iterations only.
inline Program with_ending_waits(Program program, base::RandomStream& random) {
  for (Wait& wait : program.waits) {
    if (random.integer(0, 2) == 0) {
      wait.until = static_cast<std::uint32_t>(random.integer(1, 4));
    }
  }
  return program;
}

inline Factors random_factors(base::RandomStream& random, std::uint32_t ranks,
                              std::size_t iterations) {
  Factors factors;
  for (std::size_t i = 0; i < iterations * ranks; ++i) {
    factors.compute.push_back(1 + quarters(random, 4));
  }
  for (std::size_t i = 0; i < iterations; ++i) {
    factors.exchange.push_back(1 + quarters(random, 2));
  }
  return factors;
}

// Ends [(iteration * operations + operation) * ranks + rank] by the definition.
inline std::vector<double> ends_by_definition(const Program& program, std::int64_t iterations,
                                              const Factors& factors) {
  const std::size_t count = program.operations.size();
  const std::size_t ranks = program.ranks;
  std::vector<double> ends(static_cast<std::size_t>(iterations) * count * ranks, 0);
  const auto end = [&](std::int64_t t, std::size_t o, std::size_t r) -> double& {
    return ends[(static_cast<std::size_t>(t) * count + o) * ranks + r];
  };
  const auto enter = [&](std::int64_t t, std::size_t o, std::size_t r) {
    double time = 0;
    for (const Wait& wait : program.waits_of(o)) {
      const bool holds = t >= wait.distance && t < std::int64_t{wait.until};
      for (std::size_t s = 0; s < ranks && holds; ++s) {
        if (s == r || wait.scope == Scope::all) {
          time = std::max(time, end(t - wait.distance, wait.operation, s));
        }
      }
    }
    // The instance before this one on the stream.
    for (std::int64_t before =
             static_cast<std::int64_t>(o) - 1 + t * static_cast<std::int64_t>(count);
         before >= 0; --before) {
      const auto other = static_cast<std::size_t>(before) % count;
      if (program.operations[other].stream == program.operations[o].stream) {
        return std::max(time, end(before / static_cast<std::int64_t>(count), other, r));
      }
    }
    return time;
  };
  const auto evaluate = [&](std::int64_t t, std::size_t o, std::size_t r) {
    const Operation& operation = program.operations[o];
    const auto n = static_cast<std::size_t>(t);
    double time = enter(t, o, r);
    if (operation.type == OperationType::exchange) {
      std::vector<std::uint32_t> others;
      for (std::uint32_t s = 0; s < ranks; ++s) {
        others.push_back(s);
      }
      if (operation.group != kAllRanks) {
        for (const auto& part : program.groups[operation.group].parts) {
          if (std::ranges::count(part, r) > 0) {
            others = part;
          }
        }
      }
      for (const std::uint32_t s : others) {
        time = std::max(time, enter(t, o, s));
      }
      return time + (factors.exchange.empty() ? 1 : factors.exchange[n]) * operation.duration_s();
    }
    const bool varied = operation.type == OperationType::compute && !factors.compute.empty();
    return time + (varied ? factors.compute[n * ranks + r] : 1) * operation.seconds.value;
  };
  for (std::int64_t t = 0; t < iterations; ++t) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t o = 0; o < count; ++o) {
        for (std::size_t r = 0; r < ranks; ++r) {
          const double time = evaluate(t, o, r);
          changed = changed || time != end(t, o, r);
          end(t, o, r) = time;
        }
      }
    }
  }
  return ends;
}

// Row P1 of TRN 11.1.
inline Program alternating() {
  ProgramDraft draft;
  const auto a = draft.compute("a", draft.stream("compute"), Kind::step, Seconds{3});
  const auto b = draft.compute("b", draft.stream("s2"), Kind::forward, Seconds{4});
  const auto c = draft.compute("c", draft.stream("s3"), Kind::backward, Seconds{5});
  draft.wait(a, c, 1);
  draft.wait(b, a, 0);
  draft.wait(c, b, 1);
  return draft.finish(a);
}

} // namespace stepsim::programs
