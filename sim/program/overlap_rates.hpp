#pragma once
// Interference of computing and communication (TRN 3.1). Evaluator `events`. Rates are constant
// between events, so what is left of an operation falls linearly and its end is exact:
//
//     computing  slowed to 1 / s(kind) while an exchange of its rank is under way
//     exchange   start-up at full speed, then data at 1 / s(exchange) while a rank of its part
//                computes
//
// The s are the slowdowns of Interference; a part is the ranks that exchange together (Group).
// What runs on a fifo stream of a rank is a run, numbered stream * ranks + rank among the fifo
// streams; an exchange is the run of the first rank of its part. Changes of one instant are
// collected and take effect in settle(), so that an operation that follows another one at once does
// not flicker.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

class OverlapRates {
public:
  OverlapRates(const Program& program, std::size_t fifo_streams);

  void start_compute(std::uint32_t run, double seconds, double slowdown);
  void end_compute(std::uint32_t run);
  // An exchange that computing slows enters its data phase: `part` are its ranks, `seconds` count
  // at full speed. The span must stay valid until end_data().
  void start_data(std::uint32_t run, double seconds, std::span<const std::uint32_t> part);
  void end_data(std::uint32_t run);
  // An exchange of any kind is under way on the rank from now on, or no longer.
  void start_exchange(std::uint32_t rank);
  void end_exchange(std::uint32_t rank);

  struct Due {
    std::uint32_t run;
    double time;
  };
  // Applies the changes at time `now`; appends the end of every run that has started or whose end
  // has moved. It replaces the end that was given for this run before.
  void settle(double now, std::vector<Due>& due);

private:
  struct Run {
    double left = 0; // seconds at full speed, at time `since`
    double since = 0;
    double slowdown = 0;               // 0 until settled for the first time
    double overlapped = 1;             // compute: its slowdown while an exchange is under way
    std::uint32_t computing_ranks = 0; // data phase: ranks of its part that compute
    bool active = false;
    bool data = false;
    std::span<const std::uint32_t> part; // data phase
  };

  void touch(std::uint32_t rank);
  void change(std::uint32_t run, double slowdown, double now, std::vector<Due>& due);

  std::size_t ranks_;
  std::size_t streams_;
  double exchange_slowdown_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> exchanges_; // under way, per rank
  std::vector<std::uint32_t> computes_;  // running, per rank
  std::vector<bool> computing_;          // per rank, as settled
  std::vector<std::uint32_t> touched_;   // ranks with changes
  std::vector<bool> is_touched_;
  std::vector<std::uint32_t> new_data_; // runs
  // Data phases that each rank takes part in: [rank] -> runs.
  std::vector<std::vector<std::uint32_t>> data_of_;
  std::vector<std::uint32_t> changed_data_;
};

} // namespace stepsim::program
