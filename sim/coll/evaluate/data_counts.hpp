#pragma once
// Which data have arrived where, for schedules whose lanes carry several sets of data, such as the
// chunks of two_level: chunk 1 may wait on a card while chunk 2 is already complete inside the
// node. Every phase counts what each rank still has to receive in it, and knows the earlier phases
// of its data. Where a lane carries one set, positions in program order tell as much, and nothing
// is counted. Memory O(phases x ranks) if it counts.
#include <cstdint>
#include <vector>

#include "coll/schedule/schedule_cursor.hpp"

namespace stepsim::coll {

class DataCounts {
public:
  explicit DataCounts(const Schedule& schedule); // which outlives this

  // Whether a lane carries several sets, so that receptions are counted.
  [[nodiscard]] bool counts() const { return counts_; }
  // The data of a lane that carries one set.
  [[nodiscard]] std::uint32_t of_lane(std::uint32_t lane) const { return of_lane_[lane]; }
  // The rank has received a part in the phase, and added it if the phase adds.
  void arrived(std::uint32_t phase, std::uint32_t rank) {
    if (counts_) {
      --awaited(phase, rank);
    }
  }
  // Whether the sender has all that earlier phases of the data and earlier steps bring.
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
  std::vector<std::vector<std::uint32_t>> earlier_; // by phase: those of its data before it
  std::vector<Index> awaited_;                      // [phase x ranks + rank] receptions to come
};

} // namespace stepsim::coll
