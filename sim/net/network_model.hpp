#pragma once
// What a network model offers to the simulations that pull it:
//   submit(now, transfer)   a transfer starts now
//   next_time()             when the model changes next, infinity if never
//   advance(now, done)      go on to `now` (at most next_time()); ids of transfers that end by then
//                           are appended to `done`, in a fixed order
// Times are in seconds and never fall. A concept, not a base class: simulations take the model as
// template parameter.
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepsim::net {

inline constexpr double kNever = std::numeric_limits<double>::infinity();
inline constexpr std::uint32_t kNoPort = 0xffffffff;

// One message. It takes latency_s, then its bytes at most at 1 / per_byte_s bytes per second.
struct Transfer {
  std::uint32_t id{}; // the caller's; unique among the transfers under way
  double latency_s{};
  double per_byte_s{};
  double bytes{};
  std::uint32_t send_port = kNoPort; // shared ports on its way, for models that know ports
  std::uint32_t receive_port = kNoPort;
  std::uint32_t src{}, dst{}; // ranks, for models that know the ways between them
};

template <class Model>
concept NetworkModel = requires(Model model, double now, const Transfer& transfer,
                                std::vector<std::uint32_t>& done) {
  model.submit(now, transfer);
  { model.next_time() } -> std::convertible_to<double>;
  model.advance(now, done);
};

} // namespace stepsim::net
