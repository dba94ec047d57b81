#pragma once
// Parts of pieces between GPUs of one host, which are no messages of the network: every rank sends
// and receives at the rate of the inner link, which its transfers share fairly (CLU 2, COL 5.10).
#include <map>

#include "collectives/collective.hpp"
#include "links/flow/flow_level.hpp"

namespace stepsim::programs {

class InnerLinks {
public:
  struct Part {
    bool push{}; // else a pull
    std::uint32_t worker{}, server{}, exchange{};
  };
  InnerLinks(std::uint32_t ranks, const collectives::LinkCost& link)
      : level_(std::vector<double>(std::size_t{2} * ranks,
                                   link.per_byte_s > 0 ? 1 / link.per_byte_s
                                                       : std::numeric_limits<float>::max())),
        ranks_(ranks), startup_s_(link.startup_s()) {}

  // The link takes `stretch` times as long.
  void send(double now, const Part& part, std::uint32_t src, std::uint32_t dst, double bytes,
            double stretch = 1) {
    const auto [path, is_new] = paths_.try_emplace({src, dst}, 0);
    if (is_new) {
      path->second = level_.add_path({.links = {src, ranks_ + dst}, .latency_s = startup_s_});
    }
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(parts_.size()));
      parts_.emplace_back();
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    parts_[id] = part;
    level_.submit(now, {.id = id,
                        .path = path->second,
                        .bytes = bytes,
                        .latency_s = (stretch - 1) * startup_s_,
                        .stretch = stretch});
  }
  // The next time at which a transfer begins or ends to flow; infinity without one.
  [[nodiscard]] double next_time() { return level_.next_time(); }
  // Calls `take` with every part that has arrived until `now`; it may send others.
  template <class Take> void drain(double now, const Take& take) {
    while (level_.next_time() <= now) {
      std::vector<std::uint32_t> done;
      level_.advance(level_.next_time(), done);
      for (const std::uint32_t id : done) {
        free_.push_back(id);
        take(Part(parts_[id]));
      }
    }
  }

private:
  links::FlowLevel level_; // links: what each rank sends, then what each receives
  std::uint32_t ranks_;
  double startup_s_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> paths_; // (src, dst)
  std::vector<Part> parts_;                                                // by id of the transfer
  std::vector<std::uint32_t> free_;                                        // ids
};

} // namespace stepsim::programs
