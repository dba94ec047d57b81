// Which devices are GPUs, in which order, and how many NVLinks join them. GPUs are ordered by rank
// if all have one, else by device number, else as in the file.
#include "import/nccl/nccl_system.hpp"

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

using Places = std::vector<std::size_t>;

// False and unchanged if a GPU has no such number.
bool sort_by(Places& gpus, const NcclSystem& system, std::string_view what,
             std::optional<std::int64_t> NcclNode::*number, const std::string& file) {
  const auto value = [&](std::size_t i) { return system.nodes[i].*number; };
  if (!std::ranges::all_of(gpus, [&](std::size_t i) { return value(i).has_value(); })) {
    return false;
  }
  std::ranges::stable_sort(gpus, {}, value);
  if (const auto twice = std::ranges::adjacent_find(gpus, {}, value); twice != gpus.end()) {
    throw InputError(file, std::to_string(system.nodes[*(twice + 1)].line),
                     fmt::format("{} {} appears twice", what, *value(*twice)));
  }
  return true;
}

// Ranks are used only if every GPU has one: a part of an order is none.
Places gpus_of_file(const NcclSystem& system, const std::string& file,
                    std::vector<std::string>& warnings) {
  Places gpus;
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (system.nodes[i].kind == NcclKind::gpu) {
      gpus.push_back(i);
      ranks += system.nodes[i].rank ? 1 : 0;
    }
  }
  if (gpus.empty()) {
    throw InputError(file, "",
                     fmt::format("no GPU found: no pci element has {}; pass --gpus",
                                 system.any_class ? "the class of one (0x0302)" : "a class"));
  }
  if (!sort_by(gpus, system, "rank", &NcclNode::rank, file)) {
    if (ranks > 0) {
      warnings.push_back(
          fmt::format("only {} of {} GPUs have a rank: ranks are not used", ranks, gpus.size()));
    }
    (void)sort_by(gpus, system, "dev", &NcclNode::dev, file);
  }
  return gpus;
}

} // namespace

// With names the user says which devices are GPUs: some dumps have no classes.
Places order_gpus(NcclSystem& system, const std::vector<std::string>& names,
                  const std::string& file, std::vector<std::string>& warnings) {
  if (names.empty()) {
    return gpus_of_file(system, file, warnings);
  }
  std::map<std::string, std::size_t> place; // of PCI devices, by their keys
  std::vector<std::string_view> known;
  std::set<std::size_t> parents;
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    const NcclNode& node = system.nodes[i];
    if (node.kind != NcclKind::cpu && node.kind != NcclKind::net) {
      place.emplace(bus_key(node.id), i);
      known.push_back(node.id);
    }
    if (node.parent) {
      parents.insert(*node.parent);
    }
  }
  Places gpus;
  for (const std::string& name : names) {
    const std::string flag = "--gpus " + base::shown_value(name) + ": ";
    const auto at = place.find(bus_key(name));
    if (at == place.end()) {
      throw UsageError(flag + "no pci element of " + file + " has this bus id" +
                       base::did_you_mean(name, known));
    }
    NcclNode& node = system.nodes[at->second];
    // A bridge cannot be made a GPU: what hangs on it would be cut off.
    if (node.kind != NcclKind::gpu && parents.contains(at->second)) {
      throw UsageError(flag + "is no GPU, other devices hang on it");
    }
    if (std::ranges::find(gpus, at->second) != gpus.end()) {
      throw UsageError(flag + "appears twice");
    }
    node.kind = NcclKind::gpu;
    gpus.push_back(at->second);
  }
  return gpus;
}

// Each GPU lists its links; a pair is listed from both ends, which should agree.
NvlinkCounts count_nvlinks(const NcclSystem& system, std::vector<std::string>& warnings) {
  std::map<std::string, std::size_t> gpus;
  std::set<std::string> switches;
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    if (system.nodes[i].kind == NcclKind::gpu) {
      gpus.emplace(bus_key(system.nodes[i].id), i);
    } else if (system.nodes[i].kind == NcclKind::nvswitch) {
      switches.insert(bus_key(system.nodes[i].id));
    }
  }
  NvlinkCounts counts;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> one_way;
  std::int64_t own = 0;
  std::int64_t unknown = 0;
  for (const auto& [key, gpu] : gpus) {
    for (const NcclNvlink& link : system.nodes[gpu].nvlinks) {
      const std::string target = bus_key(link.target);
      if (const auto peer = gpus.find(target); peer != gpus.end()) {
        const bool to_itself = peer->second == gpu;
        own += to_itself ? 1 : 0;
        one_way[{gpu, peer->second}] += to_itself ? 0 : link.links;
      } else if (link.to_switch || switches.contains(target)) {
        counts.to_switch[gpu] += link.links;
      } else {
        ++unknown;
      }
    }
  }
  // Where both ends list the pair the smaller of their counts holds.
  std::int64_t unequal = 0;
  for (const auto& [ends, links] : one_way) {
    const auto back = one_way.find({ends.second, ends.first});
    const std::int64_t other = back == one_way.end() ? links : back->second;
    const bool first = ends.first < ends.second || back == one_way.end();
    unequal += first && links != other ? 1 : 0;
    if (first && std::min(links, other) > 0) {
      counts.pairs[std::minmax(ends.first, ends.second)] = std::min(links, other);
    }
  }
  std::erase_if(counts.to_switch, [](const auto& each) { return each.second == 0; });
  add_where(warnings,
            {{own > 0, counted(own, "nvlink element") + " left out: the target is the GPU itself"},
             {unknown > 0,
              counted(unknown, "nvlink element") + " left out: the target is no GPU of the file"},
             {unequal > 0,
              counted(unequal, "pair") +
                  " of GPUs with more NVLinks one way than the other: the smaller number counts"}});
  return counts;
}

} // namespace stepsim::io
