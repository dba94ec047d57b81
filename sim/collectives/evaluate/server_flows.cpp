// How the events run: a worker that enters submits its pushes, one per server; a server counts them
// down, adds once all are there, and submits its pulls. Every flow is one transfer of the network
// model, so that ports are shared as the model says.
#include "collectives/evaluate/server_flows.hpp"

#include "base/error.hpp"
#include "collectives/evaluate/busy_time.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/partition.hpp"
#include "links/flow/flow_network.hpp"
#include "links/flow/port_network.hpp"

namespace stepsim::collectives {
namespace {

// Who pushes to whom. Servers that are ranks keep their own part, which crosses no port.
struct Servers {
  std::uint32_t workers{};
  std::uint32_t servers{};
  bool dedicated{};
  [[nodiscard]] std::uint32_t host(std::uint32_t server) const {
    return dedicated ? workers + server : server; // ranks, then dedicated servers
  }
  [[nodiscard]] bool crosses(std::uint32_t worker, std::uint32_t server) const {
    return dedicated || worker != server;
  }
  [[nodiscard]] std::uint32_t pushes() const { return dedicated ? workers : workers - 1; }
};

// Throws SimulationError for operations, links and counts that a parameter server cannot have.
Servers servers_of(const Collective& collective) {
  const Options& options = collective.options;
  if (collective.op != Op::allreduce) {
    throw SimulationError(std::string(name(collective.op)) + " has no algorithm parameter_server");
  }
  const Links& links = collective.links;
  if (!links.fabric && (links.pairs_only || !links.pairs.empty())) {
    throw SimulationError("parameter_server needs equal links between nodes");
  }
  const bool sharded = options.placement == Placement::sharded;
  const Servers result{collective.ranks, sharded ? collective.ranks : options.servers,
                       options.placement == Placement::dedicated};
  if (result.servers < 1 || (!result.dedicated && result.servers > result.workers)) {
    throw SimulationError("parameter_server: " + std::to_string(result.servers) +
                          " servers do not fit " + std::to_string(result.workers) + " workers");
  }
  return result;
}

double reduction_at(const Collective& collective, const Servers& servers, std::uint32_t server) {
  const bool per_rank = !servers.dedicated && !collective.reduction_s_per_byte_rank.empty();
  return per_rank ? collective.reduction_s_per_byte_rank[server] : collective.reduction_s_per_byte;
}

Evaluation nothing_to_do(const Collective& collective, bool with_transfer_times) {
  Evaluation result;
  result.ranks.finish_s = entry_times(collective);
  result.seconds = *std::max_element(result.ranks.finish_s.begin(), result.ranks.finish_s.end());
  if (with_transfer_times) {
    result.ranks.transfer_s.assign(collective.ranks, 0.0);
  }
  if (collective.links.fabric) {
    result.links.resize(collective.links.fabric->fabric().links.size());
  }
  return result;
}

// One run on a network of its own. Ids of timers below the number of workers are entries, the
// others are servers whose additions end.
template <class Links, links::NetworkModel Network> class ServerRun {
public:
  ServerRun(const Collective& collective, const Servers& servers, const Links& links,
            Network network, bool with_transfer_times)
      : collective_(collective), servers_(servers),
        parts_(Partition::equal(collective.bytes, servers_.servers, collective.options)),
        links_(links), network_(std::move(network)), enter_(entry_times(collective)),
        finish_(enter_),
        missing_(servers_.servers, servers_.pushes() + (servers_.dedicated ? 0 : 1)),
        watches_(with_transfer_times), busy_(with_transfer_times ? collective.ranks : 0) {}

  Evaluation run() {
    for (std::uint32_t worker = 0; worker < servers_.workers; ++worker) {
      timers_.push(enter_[worker], worker);
    }
    std::vector<std::uint32_t> done;
    for (;;) {
      now_ = std::min(network_.next_time(), timers_.next_or_never());
      if (now_ == kNever) {
        break;
      }
      done.clear();
      network_.advance(now_, done);
      for (const std::uint32_t id : done) {
        ++result_.events;
        transferred(id);
      }
      timers_.drain(now_, [&](const auto& timer) {
        ++result_.events;
        timer.id() < servers_.workers ? push_all(timer.id()) : added(timer.id() - servers_.workers);
      });
    }
    result_.ranks.finish_s = finish_;
    result_.seconds = *std::max_element(finish_.begin(), finish_.end());
    if (watches_) {
      result_.ranks.transfer_s = busy_.lengths();
    }
    return std::move(result_);
  }
  [[nodiscard]] const Network& network() const { return network_; }

private:
  struct Flow {
    std::uint32_t worker{};
    std::uint32_t server{};
    bool push{};
    double begin_s{};
  };

  void start(std::uint32_t worker, std::uint32_t server, bool push) {
    const std::uint32_t host = servers_.host(server);
    const auto [src, dst] = push ? std::pair(worker, host) : std::pair(host, worker);
    const LinkCost& link = links_.cost(src, dst);
    const PortPair ports = ports_of(links_, src, dst);
    const links::Transfer transfer{.id = static_cast<std::uint32_t>(flows_.size()),
                                   .latency_s = link.startup_s(),
                                   .per_byte_s = link.per_byte_s,
                                   .bytes = parts_.bytes(server, 1),
                                   .send_port = ports.send,
                                   .receive_port = ports.receive,
                                   .src = src,
                                   .dst = dst};
    // Busy time begins when bytes begin to flow: the latency holds no port, so that a delay may
    // come before or after the flow. On a fabric the path adds its own.
    double latency = link.startup_s();
    if constexpr (std::same_as<Network, links::FlowNetwork>) {
      latency = network_.latency_s(transfer);
    }
    network_.submit(now_, transfer);
    flows_.push_back({worker, server, push, now_ + latency});
    ++result_.messages;
  }

  void push_all(std::uint32_t worker) {
    for (std::uint32_t server = 0; server < servers_.servers; ++server) {
      if (servers_.crosses(worker, server)) {
        start(worker, server, true);
      } else {
        arrived(server); // its own part
      }
    }
  }

  void transferred(std::uint32_t id) {
    const Flow flow = flows_[id];
    occupied(flow.worker, flow.begin_s);
    if (!servers_.dedicated) {
      occupied(flow.server, flow.begin_s);
    }
    if (flow.push) {
      arrived(flow.server);
    }
  }

  void arrived(std::uint32_t server) {
    if (--missing_[server] == 0) {
      const double seconds = parts_.bytes(server, 1) *
                             (servers_.pushes() * reduction_at(collective_, servers_, server) +
                              collective_.sum_s_per_byte);
      timers_.push(now_ + seconds, servers_.workers + server);
      if (!servers_.dedicated && watches_) {
        busy_.add(server, now_, now_ + seconds);
      }
    }
  }

  void added(std::uint32_t server) {
    if (!servers_.dedicated) {
      finish_[server] = now_;
    }
    for (std::uint32_t worker = 0; worker < servers_.workers; ++worker) {
      if (servers_.crosses(worker, server)) {
        start(worker, server, false);
      }
    }
  }

  void occupied(std::uint32_t rank, double begin) {
    finish_[rank] = now_;
    if (watches_) {
      busy_.add(rank, begin, now_);
    }
  }

  const Collective& collective_;
  Servers servers_;
  Partition parts_;
  const Links& links_;
  Network network_;
  events::EventQueue<double> timers_; // worker enters, or workers + server: its additions end
  std::vector<double> enter_, finish_;
  std::vector<std::uint32_t> missing_; // pushes (and the own part) a server waits for
  std::vector<Flow> flows_;
  bool watches_;
  BusyTime busy_;
  double now_ = 0;
  Evaluation result_;
};

} // namespace

Evaluation parameter_server_events(const Collective& collective, bool with_transfer_times) {
  if (is_empty(collective)) {
    return nothing_to_do(collective, with_transfer_times);
  }
  const Servers servers = servers_of(collective);
  if (collective.links.fabric) {
    const FabricLinks links(collective.links);
    ServerRun run(collective, servers, links, links::FlowNetwork(*collective.links.fabric),
                  with_transfer_times);
    Evaluation result = run.run();
    result.links = run.network().level().link_use(result.seconds);
    return result;
  }
  if (collective.links.two_level) {
    const std::uint32_t dedicated = servers.dedicated ? servers.servers : 0;
    const ServerNodes nodes(collective.links, servers.workers, dedicated);
    links::PortNetwork ports(nodes.capacities());
    return ServerRun(collective, servers, nodes, std::move(ports), with_transfer_times).run();
  }
  const EqualLinks links{collective.links.all};
  links::PortNetwork ports(std::vector<double>(std::size_t{2} * (servers.workers + servers.servers),
                                               1 / links.all.per_byte_s));
  return ServerRun(collective, servers, links, std::move(ports), with_transfer_times).run();
}

Evaluation parameter_server_max_plus(const Collective& collective, bool with_transfer_times) {
  if (is_empty(collective)) {
    return nothing_to_do(collective, with_transfer_times);
  }
  const Servers servers = servers_of(collective);
  if (!max_plus_defined(collective)) {
    throw SimulationError(no_max_plus(collective));
  }
  if (with_transfer_times) {
    // The end needs a sum only; when each push was on the wire depends on who shared the port with
    // it.
    // Pushes share the port of the server, so that their busy times need the flows.
    Evaluation result = parameter_server_events(collective, true);
    result.events = 0;
    return result;
  }
  const LinkCost& link = collective.links.all;
  std::vector<double> arrivals;
  const std::vector<double> enter = entry_times(collective);
  for (std::uint32_t worker = 0; worker < servers.workers; ++worker) {
    if (servers.crosses(worker, 0)) {
      arrivals.push_back(enter[worker] + link.startup_s());
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  double time = servers.dedicated ? 0 : enter[0];
  double pushed = 0;
  for (const double arrival : arrivals) {
    pushed = std::max(pushed, arrival) + collective.bytes * link.per_byte_s;
  }
  // All pushes are through, the server adds them one after the other, and all pulls leave its port
  // together: the last of them ends after all bytes have left.
  const double all = servers.pushes() * collective.bytes;
  time = std::max(time, pushed) + all * reduction_at(collective, servers, 0) +
         collective.bytes * collective.sum_s_per_byte + link.startup_s() + all * link.per_byte_s;
  Evaluation result;
  result.seconds = time;
  result.messages = std::uint64_t{2} * servers.pushes();
  result.ranks.finish_s.assign(servers.workers, time);
  return result;
}

Traffic parameter_server_traffic(const Collective& collective) {
  Traffic traffic;
  if (is_empty(collective)) {
    return traffic;
  }
  const Servers servers = servers_of(collective);
  const Partition parts = Partition::equal(collective.bytes, servers.servers, collective.options);
  for (std::uint32_t worker = 0; worker < servers.workers; ++worker) {
    double sent = collective.bytes;
    if (!servers.dedicated && worker < servers.servers) {
      sent += (servers.pushes() - 1.0) * parts.bytes(worker, 1); // less its own part, plus pulls
    }
    traffic.min_per_rank = worker == 0 ? sent : std::min(traffic.min_per_rank, sent);
    traffic.max_per_rank = std::max(traffic.max_per_rank, sent);
  }
  traffic.steps = 2;
  traffic.total = 2 * servers.pushes() * collective.bytes;
  traffic.messages = std::uint64_t{2} * servers.pushes() * servers.servers;
  return traffic;
}

std::string no_max_plus(const Collective& collective) {
  const Servers servers = servers_of(collective);
  return "max_plus is not defined for " +
         (servers.servers != 1 ? std::to_string(servers.servers) + " parameter servers"
                               : std::string("a parameter server on a worker of several nodes")) +
         "; use events";
}

bool max_plus_defined(const Collective& collective) {
  if (collective.links.fabric) {
    return false;
  }
  if (collective.algorithm != AlgorithmId::parameter_server || is_empty(collective)) {
    return true;
  }
  // With a single server every transfer goes through its port, so that the order of arrival alone
  // decides when the last one ends, whether bytes are served in turn or at once.
  // One port that all transfers share: a node's interfaces see fewer of them, never more.
  const Servers servers = servers_of(collective);
  return servers.servers == 1 && (!collective.links.two_level || servers.dedicated);
}

} // namespace stepsim::collectives
