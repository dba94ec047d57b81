#include "calibrate/mpi/mpi_job.hpp"

#include <numeric>

namespace stepsim::calibrate::mpi {

namespace {

std::vector<std::string> gathered(const std::string& text, MPI_Comm group, std::size_t ranks) {
  const auto mine = static_cast<int>(text.size());
  std::vector<int> lengths(ranks);
  MPI_Allgather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, group);
  std::vector<int> offsets(ranks);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                 group);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranks; ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

} // namespace

gpu::Job job_of(MPI_Comm group, Watchdog& watchdog) {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  gpu::Job job;
  job.rank = static_cast<std::uint32_t>(rank);
  job.host_of = hosts_of_ranks(group);
  job.ranks = static_cast<std::uint32_t>(job.host_of.size());
  job.broadcast = [group](void* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, group);
  };
  job.largest = [group](double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, group);
    return value;
  };
  job.gather = [group, ranks = job.ranks](const std::string& text) {
    return gathered(text, group, ranks);
  };
  job.barrier = [group] { MPI_Barrier(group); };
  job.begin = [&watchdog](const std::string& what) { watchdog.begin(what); };
  return job;
}

} // namespace stepsim::calibrate::mpi
