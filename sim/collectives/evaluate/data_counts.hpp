#pragma once
// Tracks which data have arrived where, for schedules whose lanes carry several sets of data, such
// as the chunks of two_level: chunk 1 may wait for an interface while chunk 2 is already complete
// inside the node. For every phase and rank it counts the receptions still to come, and it knows
// the earlier phases of the same data. If each lane carries one set, positions in program order are
// enough and nothing is counted. Memory O(phases x ranks) if it counts.
#include <cstdint>
#include <vector>

#include "collectives/schedule/schedule_cursor.hpp"

namespace stepsim::collectives {

class DataCounts {
public:
  explicit DataCounts(const Schedule& schedule); // `schedule` must outlive the object

  // Whether a lane carries several sets of data, so that receptions are counted.
  [[nodiscard]] bool counts() const { return counts_; }
  // Returns the set of data of a lane that carries only one.
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t lane) const { return of_lane_[lane]; }
  // Records that the rank has received a part in the phase, and has added it if the phase adds.
  void arrived(std::uint32_t phase, std::uint32_t rank) {
    if (counts_) {
      --awaited(phase, rank);
    }
  }
  // Whether the sender has received everything from earlier phases of the data and from earlier
  // steps. Needs counts().
  [[nodiscard]] bool all_is_there(const NextSend& send) const;

private:
  [[nodiscard]] Index& awaited(std::uint32_t phase, std::uint32_t rank) {
    return awaited_[phase * std::size_t{schedule_.ranks} + rank];
  }
  [[nodiscard]] Index awaited(std::uint32_t phase, std::uint32_t rank) const {
    return awaited_[phase * std::size_t{schedule_.ranks} + rank];
  }

  const Schedule& schedule_;
  bool counts_ = false;
  std::vector<std::uint32_t> of_lane_;
  std::vector<std::vector<std::uint32_t>> earlier_; // [phase] earlier phases of the same data
  std::vector<Index> awaited_;                      // [phase x ranks + rank] receptions to come
};

} // namespace stepsim::collectives
