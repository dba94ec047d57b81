#include "calibrate/mpi/mpi_job.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <numeric>

namespace stepsim::calibrate::mpi {

namespace {

constexpr int kJobTag = 21;

// The lowest rank of the host is the label of the host.
std::vector<std::uint32_t> hosts_of(MPI_Comm group, int rank, int ranks) {
  MPI_Comm host{};
  MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  int label = rank;
  MPI_Allreduce(MPI_IN_PLACE, &label, 1, MPI_INT, MPI_MIN, host);
  MPI_Comm_free(&host);
  std::vector<int> labels(static_cast<std::size_t>(ranks));
  MPI_Allgather(&label, 1, MPI_INT, labels.data(), 1, MPI_INT, group);
  return numbered(labels);
}

} // namespace

std::vector<std::uint32_t> numbered(std::span<const int> labels) {
  std::vector<int> known;
  std::vector<std::uint32_t> numbers;
  for (const int label : labels) {
    const auto found = std::ranges::find(known, label);
    numbers.push_back(static_cast<std::uint32_t>(found - known.begin()));
    if (found == known.end()) {
      known.push_back(label);
    }
  }
  return numbers;
}

bool takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::vector<std::string> MpiJob::gather(const std::string& text) const {
  int ranks = 0;
  MPI_Comm_size(group_, &ranks);
  const auto mine = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, group_);
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                 group_);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

gpu::Job MpiJob::job() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(group_, &rank);
  MPI_Comm_size(group_, &ranks);
  gpu::Job job;
  job.rank = static_cast<std::uint32_t>(rank);
  job.ranks = static_cast<std::uint32_t>(ranks);
  job.host_of = hosts_of(group_, rank, ranks);
  int device_messages = takes_device_memory() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &device_messages, 1, MPI_INT, MPI_MIN, group_);
  job.device_messages = device_messages == 1;
  job.broadcast = [this](void* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, group_);
  };
  job.largest = [this](double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, group_);
    return value;
  };
  job.gather = [this](const std::string& text) { return gather(text); };
  job.barrier = [this] { MPI_Barrier(group_); };
  job.send = [this](const void* data, std::int64_t bytes, std::uint32_t to) {
    MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(to), kJobTag, group_,
              &requests_.emplace_back());
  };
  job.receive = [this](void* data, std::int64_t bytes, std::uint32_t from) {
    MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(from), kJobTag, group_,
              &requests_.emplace_back());
  };
  job.wait = [this] {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  };
  job.begin = [this](const std::string& what) { watchdog_.begin(what); };
  return job;
}

} // namespace stepsim::calibrate::mpi
