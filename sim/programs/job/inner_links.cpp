#include "programs/job/inner_links.hpp"

namespace stepsim::programs {

InnerLinks::InnerLinks(std::uint32_t ranks, const collectives::LinkCost& link)
    : level_(std::vector<double>(std::size_t{2} * ranks, link.per_byte_s > 0
                                                             ? 1 / link.per_byte_s
                                                             : std::numeric_limits<float>::max())),
      ranks_(ranks), startup_s_(link.startup_s()) {}

void InnerLinks::send(double now, const Part& part, std::uint32_t src, std::uint32_t dst,
                      double bytes, double stretch) {
  const auto [path, is_new] = paths_.try_emplace({src, dst}, 0);
  if (is_new) {
    path->second =
        level_.add_path({.links = {src, ranks_ + dst}, .parts = {}, .latency_s = startup_s_});
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

} // namespace stepsim::programs
