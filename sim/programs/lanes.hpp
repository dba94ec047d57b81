#pragma once
// Part of the evaluator `events`: the progress of every rank through its operations. A lane is a
// sequence of instances that a rank runs in order: a fifo stream, or a single exchange of a stream
// that is not fifo. A cursor is the position of a rank in a lane; it has the number
// lane * ranks + rank. The lanes of fifo streams come first.

#include "programs/training_program.hpp"

namespace stepsim::programs {

class Lanes {
public:
  struct Cursor {
    std::int64_t iteration = 0; // equal to the number of iterations in the tail
    std::uint32_t place = 0;    // position in the list of the lane
    std::uint32_t wait = 0;     // index of the first wait that is not known to be satisfied
    bool finished = false;
  };

  // Makes the lanes of a valid program, with every cursor at its first instance.
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
  // Moves the cursor to the next instance of its lane.
  void advance(std::size_t cursor);

private:
  struct List {
    std::size_t first; // position in operations_; the tail follows the operations of an iteration
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
  std::vector<std::size_t> lane_of_; // [operation]
  std::vector<Cursor> cursors_;
};

} // namespace stepsim::programs
