#include "calibrate/cuda/gpu_fit.hpp"

#include "base/collected.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr double kNextClass = 1.25; // ratio of the bandwidths of neighbouring classes

struct Pair {
  std::uint32_t src{}, dst{};
  double latency_s{};
  double per_byte_s{};
  std::optional<double> exchange;
};

// Median seconds of each kind of message, by its devices; of the largest size, of ping-pongs the
// smallest.
class Times {
public:
  explicit Times(const std::vector<PairRecord>& records) {
    for (const PairRecord& record : records) {
      Entry& entry = entries_[{record.kind, {record.src, record.dst}}];
      const bool better =
          record.kind == "pingpong" ? record.bytes < entry.bytes : record.bytes > entry.bytes;
      if (entry.seconds.empty() || better) {
        entry = {record.bytes, {}};
      }
      if (record.bytes == entry.bytes) {
        entry.seconds.insert(entry.seconds.end(), record.time_s.begin(), record.time_s.end());
      }
    }
  }
  // Of a whole message, or per byte of it.
  [[nodiscard]] std::optional<double> seconds(const std::string& kind, std::uint32_t src,
                                              std::uint32_t dst, bool per_byte = true) const {
    const auto found = entries_.find({kind, {src, dst}});
    if (found == entries_.end() || found->second.seconds.empty()) {
      return std::nullopt;
    }
    const double bytes = per_byte ? static_cast<double>(found->second.bytes) : 1;
    return base::median(found->second.seconds) / bytes;
  }

private:
  struct Entry {
    std::int64_t bytes{};
    std::vector<double> seconds{};
  };
  std::map<std::pair<std::string, std::pair<std::uint32_t, std::uint32_t>>, Entry> entries_;
};

// The slower of both directions counts: a collective uses both.
std::vector<Pair> pairs_of(const std::vector<PairRecord>& records, const Times& times) {
  std::uint32_t devices = 0;
  for (const PairRecord& record : records) {
    devices = std::max({devices, record.src + 1, record.dst + 1});
  }
  std::vector<Pair> pairs;
  for (std::uint32_t src = 0; src < devices; ++src) {
    for (std::uint32_t dst = src + 1; dst < devices; ++dst) {
      const auto latency = times.seconds("pingpong", src, dst, false);
      const auto there = times.seconds("one_way", src, dst);
      const auto back = times.seconds("one_way", dst, src);
      if (latency && there && back) {
        Pair pair{src, dst, *latency, std::max(*there, *back), std::nullopt};
        if (const auto both = times.seconds("exchange", src, dst)) {
          pair.exchange = *both / pair.per_byte_s;
        }
        pairs.push_back(pair);
      }
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::per_byte_s);
  return pairs;
}

DeviceLinks class_of(const std::vector<Pair>& pairs) {
  DeviceLinks links;
  std::vector<double> exchanges;
  for (const Pair& pair : pairs) {
    if (pair.exchange) {
      exchanges.push_back(*pair.exchange);
    }
    links.pairs.emplace_back(pair.src, pair.dst);
  }
  std::ranges::sort(links.pairs);
  links.latency_s = base::median(base::collected<double>(pairs, &Pair::latency_s));
  links.per_byte_s = base::median(base::collected<double>(pairs, &Pair::per_byte_s));
  if (!exchanges.empty()) {
    links.exchange = base::median(exchanges);
  }
  return links;
}

void name_classes(std::vector<DeviceLinks>& classes) {
  const auto is_nvlink = [](const DeviceLinks& links) {
    return links.per_byte_s * kSlowestNvlink < 1;
  };
  const auto slow =
      classes.size() - static_cast<std::size_t>(std::ranges::count_if(classes, is_nvlink));
  bool fastest = true;
  for (DeviceLinks& links : classes) {
    if (is_nvlink(links)) {
      links.link_class = links.words = "nvlink";
      continue;
    }
    links.link_class = "pcie";
    links.words = slow == 1 ? "pcie"
                  : fastest ? "pcie, below one switch"
                            : "pcie, across switches or sockets";
    fastest = false;
  }
}

// Groups the pairs, which are sorted by ascending seconds per byte, into classes of links.
std::vector<DeviceLinks> classes_of(const std::vector<Pair>& pairs) {
  std::vector<DeviceLinks> classes;
  std::vector<Pair> of_class;
  for (const Pair& pair : pairs) {
    if (!of_class.empty() && pair.per_byte_s > kNextClass * of_class.back().per_byte_s) {
      classes.push_back(class_of(of_class));
      of_class.clear();
    }
    of_class.push_back(pair);
  }
  if (!of_class.empty()) {
    classes.push_back(class_of(of_class));
  }
  return classes;
}

} // namespace

std::vector<DeviceLinks> device_links(const std::vector<PairRecord>& records,
                                      const std::vector<std::uint32_t>& hosts) {
  const Times times(records);
  const auto are_apart = [&](const Pair& pair) {
    return pair.dst < hosts.size() && hosts[pair.src] != hosts[pair.dst];
  };
  std::vector<Pair> within;
  std::vector<Pair> between;
  for (const Pair& pair : pairs_of(records, times)) {
    (are_apart(pair) ? between : within).push_back(pair);
  }
  std::vector<DeviceLinks> classes = classes_of(within);
  name_classes(classes);
  for (DeviceLinks& links : classes_of(between)) {
    links.link_class = "network";
    links.words = "network between hosts";
    classes.push_back(std::move(links));
  }
  std::ranges::stable_sort(classes, {}, &DeviceLinks::per_byte_s);
  if (const auto shift = times.seconds("shift", 0, 0); shift && !classes.empty()) {
    classes.back().shift = *shift / classes.back().per_byte_s;
  }
  return classes;
}

std::string text_of(const DeviceLinks& links) {
  const auto factor = [](const char* name, const std::optional<double>& value) {
    return value ? std::string(", ") + name + " " + base::significant(*value, 3) : std::string();
  };
  const auto pair_text = [](const auto& pair) {
    return std::to_string(pair.first) + "-" + std::to_string(pair.second);
  };
  return links.words + ": " + std::to_string(links.pairs.size()) + " pairs, " +
         base::significant(1e6 * links.latency_s, 3) + " us, " +
         base::significant(1e-9 / links.per_byte_s, 3) + " GB/s" +
         factor("both ways", links.exchange) + factor("shift", links.shift) + " (" +
         base::listed(links.pairs, pair_text, " ") + ")";
}

} // namespace stepsim::calibrate::gpu
