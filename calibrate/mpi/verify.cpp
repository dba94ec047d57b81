// Values are chosen so that every sum is exact; a wrong schedule shows in the first element that
// differs.
#include "calibrate/mpi/wire.hpp"

#include <cassert>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "calibrate/execute/sampling.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::mpi {

namespace {

constexpr std::uint32_t kFiller = ~std::uint32_t{0};
constexpr std::uint32_t kDensity = 16; // elements per entry

std::vector<Entry> packed(const collectives::SparseVector& list, std::size_t k) {
  std::vector<Entry> entries(k, Entry{kFiller, 0});
  for (std::size_t i = 0; i < list.size(); ++i) {
    entries[i] = {list.indices[i], static_cast<float>(list.values[i])};
  }
  return entries;
}

collectives::SparseVector unpacked(const std::vector<Entry>& entries) {
  collectives::SparseVector list;
  for (const Entry& entry : entries) {
    if (entry.index != kFiller) {
      list.indices.push_back(entry.index);
      list.values.push_back(entry.value);
    }
  }
  return list;
}

std::string place(const Kind& kind, std::int64_t elements, const Wire& wire) {
  return name(kind) + " P=" + std::to_string(wire.ranks()) + " n=" + std::to_string(elements) +
         " rank " + std::to_string(wire.rank());
}

// A guard behind the vectors shows what is written beyond their end.
void verify_dense(const Kind& kind, std::int64_t elements, const Program& program, Wire& wire) {
  constexpr float kGuard = -77;
  Buffers buffers(elements + 1);
  buffers.fill(wire.rank(), elements);
  buffers.x.back() = kGuard;
  buffers.result.back() = kGuard;
  const std::span<const float> result = run(program, wire, buffers);
  std::string problem;
  if (has_result(kind.op, wire.rank())) {
    problem = first_difference(result, expected_vector(kind.op, wire.ranks(), elements));
  }
  if (buffers.x.back() != kGuard || buffers.result.back() != kGuard) {
    problem += ": the word behind the vectors was overwritten";
  }
  if (!problem.empty()) {
    throw SimulationError(place(kind, elements, wire) + problem);
  }
}

void verify_sparse(const Kind& kind, std::uint32_t k, const Program& program, Wire& wire) {
  collectives::SparseVector list = sparse_selection(wire.rank(), k);
  run_sparse(program, wire, list);
  const collectives::SparseVector expected = expected_sparse(wire.ranks(), k);
  const auto entry = [](const collectives::SparseVector& from, std::size_t i) {
    return i < from.size() ? std::to_string(from.indices[i]) + ": " + base::shortest(from.values[i])
                           : std::string("no entry");
  };
  for (std::size_t i = 0; i < std::max(expected.size(), list.size()); ++i) {
    if (entry(list, i) != entry(expected, i)) {
      throw SimulationError(place(kind, k, wire) + " entry " + std::to_string(i) + ": got " +
                            entry(list, i) + ", expected " + entry(expected, i));
    }
  }
}

} // namespace

collectives::SparseVector sparse_selection(std::uint32_t rank, std::uint32_t k) {
  collectives::SparseVector list;
  for (std::uint32_t i = 0; i < k; ++i) {
    const std::uint64_t draw = base::hash(i, rank);
    list.indices.push_back(i * kDensity + static_cast<std::uint32_t>(draw % kDensity));
    list.values.push_back(static_cast<double>((draw >> 8) % 1000 + 1) * (draw % 3 == 0 ? -1 : 1));
  }
  return list;
}

collectives::SparseVector expected_sparse(std::uint32_t ranks, std::uint32_t k) {
  std::vector<collectives::SparseVector> selected;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    selected.push_back(sparse_selection(rank, k));
  }
  return gtopk(collectives::SparseMethod::gtopk_tree, selected, k).result;
}

void run_sparse(const Program& program, Wire& wire, collectives::SparseVector& list) {
  assert(program.kind.sparse);
  const auto k = static_cast<std::uint32_t>(program.bytes / kEntry);
  std::vector<Entry> sent;
  std::vector<Entry> received(k);
  run_steps(
      program, wire,
      [&](const Message&) {
        sent = packed(list, k);
        return sent.data();
      },
      [&](const Message&) { return received.data(); },
      [&](const Message& message) {
        list = message.reduce ? merge_top_k(list, unpacked(received), k) : unpacked(received);
      });
}

double merge_seconds(std::uint32_t k) {
  const collectives::SparseVector mine = sparse_selection(0, k);
  const std::vector<Entry> theirs = packed(sparse_selection(1, k), k);
  std::array<double, 9> seconds{};
  for (double& each : seconds) {
    const auto start = std::chrono::steady_clock::now();
    const collectives::SparseVector merged = merge_top_k(mine, unpacked(theirs), k);
    const std::vector<Entry> out = packed(merged, k);
    each = seconds_since(start);
    assert(out.size() == k);
  }
  return base::median(seconds);
}

// Also counts the bytes: a collective with the right result may still send too much.
void verify(const Kind& kind, std::int64_t elements, const MessageOptions& options, Wire& wire) {
  const std::int64_t bytes = elements * (kind.sparse ? kEntry : kElement);
  const Program program = program_of(kind, wire.ranks(), wire.rank(), bytes, options);
  wire.bytes_sent = 0;
  if (kind.sparse) {
    verify_sparse(kind, static_cast<std::uint32_t>(elements), program, wire);
  } else {
    verify_dense(kind, elements, program, wire);
  }
  std::int64_t planned = 0;
  for (const Step& step : program.steps) {
    planned += step.send ? step.send->count * kElement : 0;
  }
  if (wire.bytes_sent != planned) {
    throw SimulationError(place(kind, elements, wire) + ": sent " +
                          std::to_string(wire.bytes_sent) + " bytes, planned " +
                          std::to_string(planned));
  }
}

// Sizes at which parts are empty, single or uneven, and a large one.
void verify_all(const MessageOptions& options, Wire& wire) {
  const std::int64_t ranks = wire.ranks();
  for (const Kind& kind : kinds()) {
    for (const std::int64_t elements : {std::int64_t{0}, std::int64_t{1}, ranks - 1, ranks,
                                        std::int64_t{kind.sparse ? 10'001 : 1'000'001}}) {
      verify(kind, elements, options, wire);
    }
  }
}

} // namespace stepsim::calibrate::mpi
