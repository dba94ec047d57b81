// played_calibrate DEVICES HOSTS BYTES OPTIONS...: `stepsim-calibrate cuda OPTIONS...` on the
// played machine, for mpirun. Every process sees DEVICES devices of its host, or with DEVICES = own
// the device of its rank alone; ranks are spread over HOSTS hosts, the first ones on the first.
#include <mpi.h>

#include <cstdlib>
#include <string>

#include "calibrate/program/program.hpp"
#include "cli/shell/entry.hpp"
#include "shim/streams.hpp"

namespace {

int hosts = 1;

int run(int argc, char** argv) {
  const std::string devices = argv[1];
  hosts = std::atoi(argv[2]);
  cuda_on_cpu::Machine machine;
  if (devices == "own") {
    machine.first_device = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  } else {
    machine.devices = std::atoi(devices.c_str());
  }
  machine.free_bytes = std::atoll(argv[3]);
  machine.l2_bytes = 1 << 16;
  machine.link = [](int, int) { return cuda_on_cpu::Link{1e-3, 1e9, {}}; };
  cuda_on_cpu::set_machine(machine);
  stepsim::cli::Invocation invocation;
  invocation.command_line = stepsim::cli::command_line("stepsim-calibrate", argc, argv);
  invocation.arguments.assign(argv + 4, argv + argc);
  return stepsim::calibrate::cuda(invocation);
}

} // namespace

// Ranks of this machine can all share memory; here only those of one played host can.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int, int key, MPI_Info, MPI_Comm* made) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  return MPI_Comm_split(comm, rank * hosts / ranks, key, made);
}

int main(int argc, char** argv) { return stepsim::cli::run_program(argc, argv, run); }
