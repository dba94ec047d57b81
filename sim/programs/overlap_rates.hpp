#pragma once
// Part of the evaluator `events`: the interference of compute and communication (TRN 3.1). Rates
// are constant between events, so that ends are exact:
//
//     compute    runs at 1 / s(kind) while an exchange of its rank is in flight
//     exchange   start-up at full speed, then data at 1 / s(exchange) while a rank of its part
//                computes
//
// The s are the slowdowns of Interference. A part is the ranks that exchange together (Group). A
// run is the operation in progress on a fifo stream of a rank; runs are numbered
// stream * ranks + rank, with streams numbered among the fifo streams. An exchange is a single run,
// on the first rank of its part. Changes at one instant are collected and applied together in
// settle(), so that the rates do not change when one operation directly follows another.

#include "programs/training_program.hpp"

namespace stepsim::programs {

class OverlapRates {
public:
  OverlapRates(const Program& program, std::size_t fifo_streams);

  void start_compute(std::uint32_t run, double seconds, double slowdown);
  void end_compute(std::uint32_t run);
  // Begins the data phase of an exchange that compute slows. `part` has its ranks and must remain
  // valid until end_data(). `seconds` is its duration at full speed.
  void start_data(std::uint32_t run, double seconds, std::span<const std::uint32_t> part);
  void end_data(std::uint32_t run);
  // These begin and end an exchange, of any kind, on a rank.
  void start_exchange(std::uint32_t rank);
  void end_exchange(std::uint32_t rank);

  struct Due {
    std::uint32_t run;
    double time;
  };
  // Applies the changes at time `now`. Appends to `due` the end of every run that has started or
  // whose end has moved, at most once per run. This end replaces the one from an earlier call, even
  // if it is sooner.
  void settle(double now, std::vector<Due>& due);

private:
  struct Run {
    double left = 0; // seconds at full speed that were left at time `since`
    double since = 0;
    double slowdown = 0;               // 0 before the first settle()
    double overlapped = 1;             // compute: slowdown while an exchange is in flight
    std::uint32_t computing_ranks = 0; // data phase: ranks of the part that compute
    bool active = false;
    bool data = false;
    std::span<const std::uint32_t> part; // data phase: ranks of the exchange
  };

  void touch(std::uint32_t rank);
  void change(std::uint32_t run, double slowdown, double now, std::vector<Due>& due);

  std::size_t ranks_;
  std::size_t streams_;
  double exchange_slowdown_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> exchanges_; // [rank]: exchanges in flight
  std::vector<std::uint32_t> computes_;  // [rank]: compute operations in progress
  std::vector<bool> computing_;          // [rank]: whether it computes, as of the last settle()
  std::vector<std::uint32_t> touched_;   // ranks with changes since the last settle()
  std::vector<bool> is_touched_;
  std::vector<std::uint32_t> new_data_; // runs whose data phase has just begun
  // [rank]: runs in their data phase in which the rank takes part.
  std::vector<std::vector<std::uint32_t>> data_of_;
  std::vector<std::uint32_t> changed_data_;
};

} // namespace stepsim::programs
