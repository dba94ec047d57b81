// Parameter server (COL 5.10): all push at once, each of S servers adds what it got and sends it
// back; its port carries P (dedicated) or P-1 (colocated) messages of n/S each way. On two levels
// the interface that c ranks share carries c n (derived): every flow gets at least the smaller of
// its two fair shares, and the busiest port has no more to give.
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

std::optional<ClosedForm> parameter_server_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double servers = collective.options.servers;
  double wire = 0;  // bytes through the busiest port each way, in units of n
  double added = 0; // bytes added by a server, in units of n
  double held = 1 / servers;
  switch (collective.options.placement) {
  case Placement::dedicated:
    wire = std::max<double>(s.P / servers, ranks_per_interface(collective));
    added = s.P / servers;
    break;
  case Placement::colocated:
    wire = (s.P - 1) / servers;
    added = wire;
    break;
  case Placement::sharded:
    wire = s.f;
    added = s.f;
    held = 1 / s.P;
    break;
  }
  return linear_form(2 * s.alpha,
                     2 * wire * s.beta + added * s.gamma + held * collective.sum_s_per_byte, s.n);
}

} // namespace stepsim::collectives
