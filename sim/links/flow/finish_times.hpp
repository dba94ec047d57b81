#pragma once
// Indexed min-heap of flow finish times; update and erase by flow in O(log n). Every finish time
// has a window: a flow that would finish within its window after now counts as finished, so that
// equal flows finish together although their times differ by rounding.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepsim::links {

class FinishTimes {
public:
  struct Finish {
    double early; // end - window
    double end;
    std::uint32_t place;
  };

  // Inserts the flow, or changes its finish time.
  void set(std::uint32_t place, double early, double end) {
    if (place >= index_.size()) {
      index_.resize(place + 1, kNone);
    }
    std::size_t at = index_[place];
    if (at == kNone) {
      at = heap_.size();
      heap_.emplace_back();
    }
    const Finish finish{early, end, place};
    at = sift_up(at, finish);
    sift_down(at, finish);
  }
  void remove(std::uint32_t place) {
    if (place >= index_.size() || index_[place] == kNone) {
      return;
    }
    std::size_t at = index_[place];
    index_[place] = kNone;
    const Finish last = heap_.back();
    heap_.pop_back();
    if (at < heap_.size()) {
      at = sift_up(at, last);
      sift_down(at, last);
    }
  }

  // Returns the earliest end, or infinity if the heap is empty.
  [[nodiscard]] double next() const {
    double first = std::numeric_limits<double>::infinity();
    visit(0, first, [&](const Finish& finish) { first = finish.end < first ? finish.end : first; });
    return first;
  }
  // Appends the flows that end at `now`, in no particular order; they stay in the heap.
  void at(double now, std::vector<std::uint32_t>& places) const {
    double limit = now;
    visit(0, limit, [&](const Finish& finish) { places.push_back(finish.place); });
  }

private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Calls see(finish) for all entries with early <= limit; see() may lower the limit.
  template <class See> void visit(std::size_t at, double& limit, const See& see) const {
    if (at >= heap_.size() || heap_[at].early > limit) {
      return;
    }
    see(heap_[at]);
    visit(2 * at + 1, limit, see);
    visit(2 * at + 2, limit, see);
  }
  void put(std::size_t at, const Finish& finish) {
    heap_[at] = finish;
    index_[finish.place] = at;
  }
  std::size_t sift_up(std::size_t at, const Finish& finish) {
    for (; at > 0 && finish.early < heap_[(at - 1) / 2].early; at = (at - 1) / 2) {
      put(at, heap_[(at - 1) / 2]);
    }
    return at;
  }
  void sift_down(std::size_t at, const Finish& finish) {
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      child += child + 1 < heap_.size() && heap_[child + 1].early < heap_[child].early ? 1 : 0;
      if (finish.early <= heap_[child].early) {
        break;
      }
      put(at, heap_[child]);
      at = child;
    }
    put(at, finish);
  }

  std::vector<Finish> heap_;
  std::vector<std::size_t> index_; // [place]
};

} // namespace stepsim::links
