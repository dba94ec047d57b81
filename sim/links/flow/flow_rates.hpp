#pragma once
// Fair rates of flows that share links, with weights, coefficients, caps and strict classes. Flow f
// puts a_fl x_f on link l (a = 1 on a single path, 1/m on each of m branches of spraying). In every
// class, progressive filling (PKT 6.2, 6.4) raises x_f = w_f s with the common level s until a link
// of f is full or f is at its cap. Classes are served in increasing number, each with the capacity
// that earlier classes leave; a flow across a link without capacity left gets rate 0.
//
//   x is weighted max-min fair: every flow is at its cap or has a full link on which no flow of
//   its class has a larger x / w. There is exactly one such allocation.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stepsim::links {

// A link with at most this fraction of its capacity left has none for the next class.
inline constexpr double kNothingLeft = 1e-9;

// Computes the rates of one class. Keeps its memory between calls; time O(uses log links), where
// uses are the links on the paths of the given flows.
class ProgressiveFilling {
public:
  struct Flow {
    std::span<const std::uint32_t> links;
    const double* coefficient{}; // [links], null = 1
    double weight = 1;
    double cap_level = std::numeric_limits<double>::infinity(); // cap / weight
  };
  explicit ProgressiveFilling(std::size_t links);

  // Computes level[f] = x_f / w_f. [link] `left` is what earlier classes leave of `capacity`,
  // bytes/s.
  void fill(std::span<const double> left, std::span<const double> capacity,
            std::span<const Flow> flows, std::span<double> level);
  // Results of the last fill(): the links with flows, and the level at which a link became full
  // (infinity if all its flows had stopped before).
  [[nodiscard]] std::span<const std::uint32_t> links() const { return links_; }
  [[nodiscard]] double full_at(std::uint32_t link) const { return state_[link].full_at; }

private:
  struct Link {
    double left;
    double share;       // sum over the flows still rising
    double whole_share; // value of `share` when it was last summed
    double full_at;
    std::uint32_t begin; // index of its first user in users_
    std::uint32_t users;
    std::uint32_t open; // users whose level still rises
  };
  struct User {
    std::uint32_t flow;
    double share; // weight times coefficient
  };
  struct Entry { // a link that becomes full at `level`, if its Link::open is still `open`
    double level;
    std::uint32_t link;
    std::uint32_t open;
    [[nodiscard]] bool operator<(const Entry& other) const {
      return level > other.level || (level == other.level && link > other.link);
    }
  };
  void index(std::span<const double> left, std::span<const Flow> flows);
  void append(std::uint32_t link);
  [[nodiscard]] bool refresh_top(std::span<const double> level);
  void stop_users(std::uint32_t link, double at, std::span<double> level);
  void stop_now(std::span<const Flow> flows, double at);
  void begin(std::span<const double> left, std::span<const double> capacity,
             std::span<const Flow> flows, std::span<double> level);
  void leave(const Flow& uses, double level);

  std::vector<Link> state_; // [link]; `users` is 0 between calls
  std::vector<std::uint32_t> links_;
  std::vector<User> users_;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> by_cap_;
  std::vector<std::uint32_t> stopping_;
};

} // namespace stepsim::links
