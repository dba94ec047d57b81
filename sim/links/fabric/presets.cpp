// Nodes are numbered hosts first, then switches level by level; cables in the order of their lower
// ends. Results name nodes and links, so that this order is part of what users see.
#include "links/fabric/topology.hpp"

#include <cassert>

namespace stepsim::links {

namespace {

std::string numbered(std::string_view word, std::uint64_t number) {
  return std::string(word).append(std::to_string(number));
}

void add_hosts(Fabric& fabric, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    fabric.node_names.push_back(numbered("h", i));
  }
  fabric.hosts += count;
}

// Id of the first of them.
NodeId add_switches(Fabric& fabric, std::string_view word, std::uint32_t count) {
  const NodeId first = fabric.nodes();
  for (std::uint32_t i = 0; i < count; ++i) {
    fabric.node_names.push_back(numbered(word, i));
  }
  fabric.switches += count;
  return first;
}

NodeId add_switch(Fabric& fabric, std::string name) {
  fabric.node_names.push_back(std::move(name));
  ++fabric.switches;
  return fabric.nodes() - 1;
}

void add_cable(Fabric& fabric, NodeId a, NodeId b, LinkSpeed speed) {
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    fabric.links.push_back({from, to, speed.latency_s, speed.bandwidth_Bps});
    fabric.link_names.push_back(fabric.node_names[from] + ">" + fabric.node_names[to]);
  }
}

} // namespace

Fabric star(std::uint32_t hosts, LinkSpeed link) {
  Fabric fabric;
  add_hosts(fabric, hosts);
  const NodeId centre = add_switch(fabric, "switch");
  for (NodeId host = 0; host < hosts; ++host) {
    add_cable(fabric, host, centre, link);
  }
  return fabric;
}

Fabric leaf_spine(const LeafSpine& shape) {
  Fabric fabric;
  add_hosts(fabric, shape.leaves * shape.hosts_per_leaf);
  const NodeId leaf = add_switches(fabric, "leaf", shape.leaves);
  const NodeId spine = add_switches(fabric, "spine", shape.spines);
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    add_cable(fabric, host, leaf + host / shape.hosts_per_leaf, shape.host);
  }
  for (std::uint32_t i = 0; i < shape.leaves; ++i) {
    for (std::uint32_t j = 0; j < shape.spines; ++j) {
      add_cable(fabric, leaf + i, spine + j, shape.uplink);
    }
  }
  return fabric;
}

Fabric ring(std::uint32_t hosts, LinkSpeed link) { return torus({hosts}, link); }

Fabric torus(const std::vector<std::uint32_t>& sizes, LinkSpeed link) {
  Fabric fabric;
  std::uint32_t hosts = 1;
  for (const std::uint32_t size : sizes) {
    hosts *= size;
  }
  add_hosts(fabric, hosts);
  fabric.hosts_forward = true;
  for (NodeId host = 0; host < hosts; ++host) {
    std::uint32_t stride = 1; // between neighbours in this dimension
    for (const std::uint32_t size : sizes) {
      const std::uint32_t at = host / stride % size;
      if (at + 1 < size) {
        add_cable(fabric, host, host + stride, link);
        // The cable that closes the ring of a dimension; of two hosts it would be the first cable
        // again.
      } else if (size > 2) {
        add_cable(fabric, host, host - at * stride, link);
      }
      stride *= size;
    }
  }
  return fabric;
}

Fabric fat_tree(std::uint32_t ports, LinkSpeed link) {
  assert(ports % 2 == 0 && "a fat tree needs an even number of ports");
  // A k-port fat tree (Al-Fares et al., 2008): k pods of k/2 edge and k/2 aggregation switches,
  // k^2/4 core switches, k^3/4 hosts; each level can carry what the level below it can send.
  const std::uint32_t half = ports / 2;
  const std::uint32_t per_level = ports * half; // edge or aggregation switches
  Fabric fabric;
  add_hosts(fabric, per_level * half);
  const NodeId edge = add_switches(fabric, "edge", per_level);
  const NodeId aggregation = add_switches(fabric, "aggregation", per_level);
  const NodeId core = add_switches(fabric, "core", half * half);
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    add_cable(fabric, host, edge + host / half, link);
  }
  for (std::uint32_t i = 0; i < per_level; ++i) {
    const std::uint32_t pod = i / half;
    for (std::uint32_t j = 0; j < half; ++j) {
      add_cable(fabric, edge + i, aggregation + pod * half + j, link);
    }
  }
  for (std::uint32_t i = 0; i < per_level; ++i) {
    for (std::uint32_t j = 0; j < half; ++j) {
      add_cable(fabric, aggregation + i, core + i % half * half + j, link);
    }
  }
  return fabric;
}

Fabric dragonfly(const Dragonfly& shape) {
  const auto [groups, routers, hosts, host_link, local, global] = shape;
  Fabric fabric;
  add_hosts(fabric, groups * routers * hosts);
  const NodeId first = fabric.nodes();
  for (std::uint32_t i = 0; i < groups * routers; ++i) {
    add_switch(fabric, numbered("group", i / routers) + numbered("router", i % routers));
  }
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    add_cable(fabric, host, first + host / hosts, host_link);
  }
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t i = 0; i < routers; ++i) {
      for (std::uint32_t j = i + 1; j < routers; ++j) {
        add_cable(fabric, first + group * routers + i, first + group * routers + j, local);
      }
    }
  }
  // Every pair of groups has one cable; a router has the cables to a run of the groups behind its
  // own, so that they spread evenly over the routers.
  const std::uint32_t per_router = (groups - 1 + routers - 1) / routers;
  const auto router = [&](std::uint32_t group, std::uint32_t other) {
    return first + group * shape.routers +
           ((other + shape.groups - group) % shape.groups - 1) / per_router;
  };
  for (std::uint32_t i = 0; i < groups; ++i) {
    for (std::uint32_t j = i + 1; j < groups; ++j) {
      add_cable(fabric, router(i, j), router(j, i), global);
    }
  }
  return fabric;
}

// A GPU has a cable to the switch of its machine and one by PCIe to a network interface, which
// several may share. On rails the interfaces of one number share a switch across machines.
Fabric gpu_machines(const GpuMachines& shape) {
  assert((shape.nics > 0 || shape.machines == 1) && "several machines need a way out");
  assert(shape.nics <= shape.gpus && "a GPU uses one network interface");
  Fabric fabric;
  fabric.gpus_per_machine = shape.gpus;
  fabric.hosts = shape.machines * shape.gpus;
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    fabric.node_names.push_back(numbered("node", host / shape.gpus) +
                                numbered("gpu", host % shape.gpus));
  }
  const NodeId inside = fabric.nodes();
  for (std::uint32_t m = 0; m < shape.machines; ++m) {
    add_switch(fabric, numbered("node", m) + "nvswitch");
  }
  const bool network = shape.nics > 0;
  const NodeId pcie = fabric.nodes();
  for (NodeId host = 0; network && host < fabric.hosts; ++host) {
    add_switch(fabric, numbered("node", host / shape.gpus) + numbered("pcie", host % shape.gpus));
  }
  const NodeId nic = fabric.nodes();
  for (std::uint32_t i = 0; i < shape.machines * shape.nics; ++i) {
    add_switch(fabric, numbered("node", i / shape.nics) + numbered("nic", i % shape.nics));
  }
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    add_cable(fabric, host, inside + host / shape.gpus, shape.nvlink);
  }
  if (!network) {
    return fabric;
  }
  const NodeId outside =
      shape.rails ? add_switches(fabric, "rail", shape.nics) : add_switch(fabric, "switch");
  const NodeId spine = add_switches(fabric, "spine", shape.rails ? shape.spines : 0);
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    add_cable(fabric, host, pcie + host, shape.pcie);
  }
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    const std::uint32_t local = host % shape.gpus;
    add_cable(fabric, pcie + host, nic + host / shape.gpus * shape.nics + local % shape.nics,
              shape.pcie);
  }
  for (std::uint32_t i = 0; i < shape.machines * shape.nics; ++i) {
    add_cable(fabric, nic + i, outside + (shape.rails ? i % shape.nics : 0), shape.network);
  }
  for (std::uint32_t i = 0; shape.rails && i < shape.nics; ++i) {
    for (std::uint32_t j = 0; j < shape.spines; ++j) {
      add_cable(fabric, outside + i, spine + j, shape.uplink);
    }
  }
  // Rails without spines meet inside the machines only: traffic between rails passes through a GPU.
  fabric.hosts_forward = shape.rails && shape.nics > 1 && shape.spines == 0;
  return fabric;
}

} // namespace stepsim::links
