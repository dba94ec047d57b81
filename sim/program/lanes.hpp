#pragma once
// Where the ranks of a program stand: a lane is what one rank works off in order, either a fifo
// stream or a single exchange of another stream, instance after instance. Evaluator `events`.
// Cursors are numbered lane * ranks + rank; the lanes of fifo streams come first.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

class Lanes {
public:
  struct Cursor {
    std::int64_t iteration = 0; // iterations: the tail
    std::uint32_t place = 0;    // in the list of the lane
    std::uint32_t wait = 0;     // waits before this one are satisfied
    bool finished = false;
  };

  // The lanes of a valid program, every cursor on its first instance.
  Lanes(const Program& program, std::int64_t iterations);

  [[nodiscard]] std::size_t fifo_lanes() const { return fifo_lanes_; }
  [[nodiscard]] std::size_t cursors() const { return cursors_.size(); }
  [[nodiscard]] Cursor& at(std::size_t cursor) { return cursors_[cursor]; }
  [[nodiscard]] std::uint32_t rank_of(std::size_t cursor) const {
    return static_cast<std::uint32_t>(cursor % ranks_);
  }
  [[nodiscard]] std::uint32_t cursor_of(std::uint32_t operation, std::uint32_t rank) const {
    return static_cast<std::uint32_t>(lane_of_[operation] * ranks_ + rank);
  }
  [[nodiscard]] std::uint32_t operation_of(std::size_t cursor) const {
    return operations_[lists_[cursor / ranks_].first + cursors_[cursor].place];
  }
  // To the next instance of the lane.
  void advance(std::size_t cursor);

private:
  struct List {
    std::size_t first; // the tail follows the operations of an iteration
    std::uint32_t size;
    std::uint32_t tail;
  };

  void settle(Cursor& cursor, const List& list) const;
  void add_lane(const std::vector<std::uint32_t>& operations, std::size_t tail);

  std::size_t ranks_;
  std::int64_t iterations_;
  std::size_t fifo_lanes_ = 0;
  std::vector<List> lists_;
  std::vector<std::uint32_t> operations_;
  std::vector<std::size_t> lane_of_; // per operation
  std::vector<Cursor> cursors_;
};

} // namespace stepsim::program
