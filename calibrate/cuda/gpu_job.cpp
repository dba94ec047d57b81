#include "calibrate/cuda/gpu_job.hpp"

#include <set>
#include <sstream>

#include "base/collected.hpp"

namespace stepsim::calibrate::gpu {

namespace {

std::string place_of(const Job& job, std::uint32_t rank) {
  return "rank " + std::to_string(rank) + " (host " + std::to_string(job.host_of[rank]) + ")";
}

// Identifiers contain no line feed, so that a list of them travels as one text.
std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each);) {
    lines.push_back(each);
  }
  return lines;
}

} // namespace

std::string first_error(const Job& job, const std::string& error) {
  if (job.is_alone()) {
    return error;
  }
  const std::vector<std::string> errors = job.gather(error);
  const auto first = std::ranges::find_if(errors, [](const auto& each) { return !each.empty(); });
  if (first == errors.end()) {
    return "";
  }
  const auto others =
      std::count_if(std::next(first), errors.end(), [](const auto& each) { return !each.empty(); });
  return place_of(job, static_cast<std::uint32_t>(first - errors.begin())) + ": " + *first +
         (others > 0 ? " (and on " + std::to_string(others) + " more of " +
                           std::to_string(job.ranks) + " ranks)"
                     : "");
}

void throw_if_any(const Job& job, const std::string& error) {
  if (const std::string text = first_error(job, error); !text.empty()) {
    throw JobError(text);
  }
}

std::vector<std::optional<int>> take_devices(const std::vector<std::vector<std::string>>& visible) {
  std::set<std::string> taken;
  std::vector<std::optional<int>> devices;
  for (const std::vector<std::string>& mine : visible) {
    const auto free =
        std::ranges::find_if(mine, [&](const auto& device) { return !taken.contains(device); });
    devices.push_back(free == mine.end() ? std::nullopt
                                         : std::optional(static_cast<int>(free - mine.begin())));
    if (free != mine.end()) {
      taken.insert(*free);
    }
  }
  return devices;
}

// Every rank looks at all hosts, so that all ranks come to the same end.
int device_of_rank(const Job& job, const std::vector<std::string>& visible) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& text : job.gather(base::listed(visible, {}, "\n"))) {
    lists.push_back(split_lines(text));
  }
  int mine = 0;
  const std::uint32_t hosts = 1 + *std::ranges::max_element(job.host_of);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    std::vector<std::uint32_t> ranks;
    std::vector<std::vector<std::string>> of_host;
    std::set<std::string> known;
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
      if (job.host_of[rank] == host) {
        if (lists[rank].empty()) {
          throw NotAvailable(place_of(job, rank) + ": no CUDA device");
        }
        ranks.push_back(rank);
        of_host.push_back(lists[rank]);
        known.insert(lists[rank].begin(), lists[rank].end());
      }
    }
    const std::vector<std::optional<int>> taken = take_devices(of_host);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!taken[i]) {
        throw UsageError(
            "host " + std::to_string(host) + " has " + std::to_string(ranks.size()) +
            " ranks and " + std::to_string(known.size()) +
            " GPUs: start one rank per GPU (mpirun --map-by ppr:" + std::to_string(known.size()) +
            ":node, srun --ntasks-per-node or torchrun --nproc_per_node " +
            std::to_string(known.size()) + ")");
      }
      mine = ranks[i] == job.rank ? *taken[i] : mine;
    }
  }
  return mine;
}

} // namespace stepsim::calibrate::gpu
