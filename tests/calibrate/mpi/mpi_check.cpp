// Collectives with real messages, started by mpirun: on 1 .. P of the processes every kind gives
// the right result, and rounds of acknowledged trees do not overlap. Prints what failed; exit 1.
#include <algorithm>
#include <array>
#include <iostream>

#include "calibrate/mpi/runtime.hpp"
#include "calibrate/mpi/wire.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::mpi;

namespace {

[[noreturn]] void fail(const std::string& text) {
  std::cerr << text << std::endl;
  Runtime::abort(1);
}

// No rank sends in a later step before every message of an earlier one that it sent has arrived.
void check_rounds(const Kind& kind, Wire& wire) {
  const std::int64_t bytes = 1 << 20;
  const Program program = program_of(kind, wire.ranks(), wire.rank(), bytes, {});
  Buffers buffers(bytes / kElement);
  std::vector<Event> log;
  wire.log = &log;
  (void)run(program, wire, buffers);
  wire.log = nullptr;
  // What this rank sent, with the time; the receivers' times come to it.
  constexpr std::size_t kMost = 64;
  std::array<std::array<std::int64_t, 3>, kMost> mine{}; // peer + 1 of receptions, step, time
  std::size_t count = 0;
  for (const Event& event : log) {
    if (event.kind == Event::Kind::received) {
      mine.at(count++) = {event.peer + 1, event.step, event.nanoseconds};
    }
  }
  std::vector<std::array<std::int64_t, 3>> all(kMost * wire.ranks());
  MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE,
                wire.group());
  for (const Event& event : log) {
    if (event.kind != Event::Kind::sent) {
      continue;
    }
    for (const auto& [sender, step, time] : all) {
      if (sender == wire.rank() + 1 && step < event.step && time > event.nanoseconds) {
        fail(name(kind) + ": rank " + std::to_string(wire.rank()) + " sent in step " +
             std::to_string(event.step) + " before step " + std::to_string(step) + " had arrived");
      }
    }
  }
}

void check_group(MPI_Comm group) {
  Wire wire(group, 32768);
  verify_all({}, wire);
  // Unacknowledged, and in segments that do not divide anything.
  Wire small(group, 4 * 1009);
  for (const Kind& kind : kinds()) {
    verify(kind, 10'007, {.segment_bytes = 4 * 1009, .acknowledge = false}, small);
  }
  for (const Kind& kind : {Kind{collectives::Op::broadcast, collectives::AlgorithmId::mst},
                           Kind{collectives::Op::allreduce, collectives::AlgorithmId::mst}}) {
    check_rounds(kind, wire);
  }
}

} // namespace

int main() {
  const Runtime runtime;
  try {
    for (std::uint32_t ranks = 1; ranks <= runtime.ranks(); ++ranks) {
      const bool inside = runtime.rank() < ranks;
      MPI_Comm group = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, static_cast<int>(runtime.rank()),
                     &group);
      if (inside) {
        check_group(group);
        MPI_Comm_free(&group);
      }
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
  return 0;
}
