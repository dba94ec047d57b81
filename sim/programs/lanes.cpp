#include "programs/lanes.hpp"

#include "programs/operation_layout.hpp"

namespace stepsim::programs {

Lanes::Lanes(const Program& program, std::int64_t iterations)
    : ranks_(program.ranks), iterations_(iterations), lane_of_(program.operations.size()) {
  const StreamLists main = stream_lists(program);
  const StreamLists tail = tail_lists(program);
  const auto is_fifo = [&](std::size_t stream) {
    return program.streams[stream].discipline == Discipline::fifo;
  };
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    const std::span<const std::uint32_t> last = tail.of(stream);
    if (is_fifo(stream) && main.of(stream).size() + last.size() > 0) {
      std::vector<std::uint32_t> all(main.of(stream).begin(), main.of(stream).end());
      all.insert(all.end(), last.begin(), last.end());
      add_lane(all, last.size());
    }
  }
  fifo_lanes_ = lists_.size();
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    if (!is_fifo(stream)) {
      for (const std::uint32_t o : main.of(stream)) {
        add_lane({o}, 0);
      }
    }
  }
  cursors_.resize(lists_.size() * ranks_);
  for (std::size_t cursor = 0; cursor < cursors_.size(); ++cursor) {
    settle(cursors_[cursor], lists_[cursor / ranks_]);
  }
}

void Lanes::add_lane(const std::vector<std::uint32_t>& operations, std::size_t tail) {
  for (const std::uint32_t o : operations) {
    lane_of_[o] = lists_.size();
  }
  lists_.push_back({.first = operations_.size(),
                    .size = static_cast<std::uint32_t>(operations.size() - tail),
                    .tail = static_cast<std::uint32_t>(tail)});
  operations_.insert(operations_.end(), operations.begin(), operations.end());
}

// Behind the end of an iteration the next one begins, behind the last one the tail.
void Lanes::settle(Cursor& cursor, const List& list) const {
  if (cursor.iteration < iterations_ && cursor.place == list.size) {
    cursor.place = 0;
    cursor.iteration = list.size == 0 ? iterations_ : cursor.iteration + 1;
    if (cursor.iteration == iterations_) {
      cursor.place = list.size;
    }
  }
  cursor.finished = cursor.iteration == iterations_ && cursor.place == list.size + list.tail;
}

void Lanes::advance(std::size_t cursor) {
  ++cursors_[cursor].place;
  cursors_[cursor].wait = 0;
  settle(cursors_[cursor], lists_[cursor / ranks_]);
}

} // namespace stepsim::programs
