// The lines of docs/engine.md, which have to stand in a test.
#include <doctest/doctest.h>

#include <vector>

#include "links/flow/port_network.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

TEST_CASE("links: two flows through one card, as docs/engine.md has them") {
  std::vector<double> ends(2);
  links::PortNetwork network({1e9, 1e9, 1e9}); // bytes per second of three cards
  network.submit(0, {.id = 0, .latency_s = 1e-5, .bytes = 1e6, .send_port = 0, .receive_port = 1});
  network.submit(0, {.id = 1, .latency_s = 1e-5, .bytes = 3e6, .send_port = 0, .receive_port = 2});
  std::vector<std::uint32_t> done;
  for (double now = network.next_time(); now != links::kNever; now = network.next_time()) {
    network.advance(now, done); // appends the transfers that end now
    for (; !done.empty(); done.pop_back()) {
      ends[done.back()] = now;
    }
  }
  // Half of the card each until the smaller one has ended, then the rest of the larger one.
  CHECK(ends[0] == testing::within(1e-5 + 2e-3, 1e-12));
  CHECK(ends[1] == testing::within(1e-5 + 4e-3, 1e-12));
}
