// Values are chosen so that every sum is exact; a wrong schedule shows in the first element that
// differs.
#include "calibrate/mpi/verify.hpp"

#include <array>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "calibrate/mpi/sparse.hpp"

namespace stepsim::calibrate::mpi {

namespace {

std::string place(const Kind& kind, std::int64_t elements, const Wire& wire) {
  return name(kind) + " P=" + std::to_string(wire.ranks()) + " n=" + std::to_string(elements) +
         " rank " + std::to_string(wire.rank());
}

[[noreturn]] void wrong(const std::string& where, std::int64_t index, double got, double expected) {
  throw SimulationError(where + ": element " + std::to_string(index) + " is " +
                        base::shortest(got) + ", expected " + base::shortest(expected));
}

// A guard behind the vectors shows what is written beyond their end.
void verify_dense(const Kind& kind, std::int64_t elements, const Program& program, Wire& wire) {
  constexpr float kGuard = -77;
  Buffers buffers(elements + 1);
  buffers.fill(wire.rank(), elements);
  buffers.x.back() = kGuard;
  buffers.result.back() = kGuard;
  const std::span<const float> result = run(program, wire, buffers);
  if (has_result(kind.op, wire.rank())) {
    for (std::int64_t i = 0; i < elements; ++i) {
      const float expected = expected_value(kind.op, wire.ranks(), i);
      if (const float got = result[static_cast<std::size_t>(i)]; got != expected) {
        wrong(place(kind, elements, wire), i, got, expected);
      }
    }
  }
  if (buffers.x.back() != kGuard || buffers.result.back() != kGuard) {
    wrong(place(kind, elements, wire), elements, buffers.x.back(), kGuard);
  }
}

void verify_sparse(const Kind& kind, std::uint32_t k, const Program& program, Wire& wire) {
  collectives::SparseVector list = sparse_selection(wire.rank(), k);
  run_sparse(program, wire, list);
  const collectives::SparseVector expected = expected_sparse(wire.ranks(), k);
  if (list == expected) {
    return;
  }
  for (std::size_t i = 0; i < expected.size() && i < list.size(); ++i) {
    if (list.indices[i] != expected.indices[i]) {
      wrong(place(kind, k, wire) + " index", static_cast<std::int64_t>(i), list.indices[i],
            expected.indices[i]);
    }
    if (list.values[i] != expected.values[i]) {
      wrong(place(kind, k, wire), static_cast<std::int64_t>(i), list.values[i], expected.values[i]);
    }
  }
  wrong(place(kind, k, wire) + " entries", 0, static_cast<double>(list.size()),
        static_cast<double>(expected.size()));
}

} // namespace

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
