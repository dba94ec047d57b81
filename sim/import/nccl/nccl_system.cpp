// The XML tree that pugixml makes to plain nodes, with the checks of every attribute. Names of
// elements and attributes are those of NCCL's and RCCL's dumps; elements that say nothing about the
// machine are counted, and reported once.
#include "import/nccl/nccl_system.hpp"

#include <pugixml.hpp>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMostSystemProblems = 20;
constexpr std::int64_t kMostCpus = 256; // all pairs are joined
constexpr double kMostMbps = 1e7;       // Slingshot writes kbit/s: 200000000 are 200 Gb/s
constexpr double kMostLanes = 255;      // what Linux answers where it does not know
constexpr std::string_view kBusIdCharacters = "0123456789abcdefABCDEF:.";

struct ClassKind {
  std::string_view prefix;
  NcclKind kind;
};
constexpr std::array kClasses{
    ClassKind{"0x0302", NcclKind::gpu},    ClassKind{"0x0207", NcclKind::nic},
    ClassKind{"0x0200", NcclKind::nic},    ClassKind{"0x0680", NcclKind::nvswitch},
    ClassKind{"0x0604", NcclKind::bridge},
};

// By the first digits of the PCI class: base class and subclass; the rest is the programming
// interface.
std::optional<NcclKind> kind_of_class(std::string_view text) {
  const std::string word = lower_case(text);
  const auto* row = std::ranges::find_if(
      kClasses, [&](const ClassKind& each) { return word.starts_with(each.prefix); });
  return row == kClasses.end() ? std::nullopt : std::optional(row->kind);
}

using Element = pugi::xml_node;

// Empty also where the attribute is absent: dumps write "" for what they do not know.
std::string_view text_of(const Element& element, const char* attribute) {
  return trimmed(element.attribute(attribute).value());
}

std::string_view name_of(const Element& element) { return element.name(); }

// In document order.
template <class Visit> void each_child(const Element& element, const Visit& visit) {
  for (const Element& child : element.children()) {
    if (child.type() == pugi::node_element) {
      visit(child);
    }
  }
}

// Walks the document from the CPUs down; parents are added before their children.
class SystemReader {
public:
  SystemReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NcclSystem read() {
    const Element root = parse();
    if (name_of(root) == "graphs") {
      fail(place(root), "<graphs> holds NCCL's rings and trees, not the machine: give the file of "
                        "NCCL_TOPO_DUMP_FILE, which holds <system>");
    }
    if (name_of(root) != "system") {
      fail(place(root), "must hold <system>, got <" + base::shown_value(root.name()) + '>');
    }
    if (const std::string_view version = text_of(root, "version");
        !version.empty() && version != "1" && version != "2") {
      fail(place(root), fmt::format("version must be 1 (NCCL) or 2 (RCCL), got \"{}\"",
                                    base::shown_value(version)));
    }
    each_child(root, [this](const Element& child) {
      name_of(child) == "cpu" ? cpu(child) : ignore(child);
    });
    if (!problems_.empty()) {
      throw InputError(std::move(problems_));
    }
    return std::move(system_);
  }

private:
  // What the parser would lose in silence is refused.
  Element parse() {
    // Bounds the tree that pugixml makes before anything is refused, 64 bytes for each tag.
    constexpr std::size_t kMaxTags = 4 * kMaxXmlElements;
    if (static_cast<std::size_t>(std::ranges::count(text_, '<')) > kMaxTags) {
      fail(0, fmt::format("more than {} tags and comments", kMaxTags));
    }
    if (const std::size_t at = text_.find('\0'); at != std::string_view::npos) {
      fail(at, "a zero byte is not a character of XML"); // pugixml takes it for the end
    }
    const pugi::xml_parse_result parsed =
        document_.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) {
      fail(static_cast<std::size_t>(parsed.offset),
           fmt::format("this is not XML, says its parser: {}", parsed.description()));
    }
    const Element root = document_.document_element();
    if (const Element other = root.next_sibling()) {
      fail(place(other), fmt::format("a document has one outermost element, <{}> is closed",
                                     base::shown_value(root.name())));
    }
    require_size(root, 1);
    return root;
  }

  // Depth counts from 1.
  void require_size(const Element& element, std::size_t depth) {
    if (depth > kMaxXmlDepth) {
      fail(place(element), fmt::format("nested deeper than {} levels", kMaxXmlDepth));
    }
    if (++elements_ > kMaxXmlElements) {
      fail(place(element), fmt::format("more than {} elements", kMaxXmlElements));
    }
    each_child(element, [&](const Element& child) { require_size(child, depth + 1); });
  }

  static std::size_t place(const Element& element) {
    return static_cast<std::size_t>(std::max(element.offset_debug(), std::ptrdiff_t{}));
  }
  // The line of a tag, from 1. Most are asked in the order of the file.
  std::int64_t line_at(std::size_t place) {
    if (place < counted_) {
      counted_ = 0;
      line_ = 1;
    }
    line_ += std::ranges::count(text_.substr(counted_, place - counted_), '\n');
    counted_ = place;
    return line_;
  }
  [[noreturn]] void fail(std::size_t place, const std::string& message) {
    throw InputError(file_, std::to_string(line_at(place)), message);
  }

  // Reading goes on, so that one run names the first 20 problems of the file.
  void problem(const Element& at, const std::string& message) {
    if (problems_.size() < kMostSystemProblems) {
      problems_.push_back({file_, std::to_string(line_at(place(at))), message});
    }
  }
  void ignore(const Element& element) { ++system_.ignored[base::shown_value(element.name())]; }

  // Empty if there is no such attribute, or no text.
  std::optional<double> number(const Element& element, const char* attribute, Range range) {
    const std::string_view text = text_of(element, attribute);
    return text.empty() ? std::nullopt : checked(element, attribute, text, range, false);
  }
  std::optional<std::int64_t> integer(const Element& element, const char* attribute, Range range) {
    const std::string_view text = text_of(element, attribute);
    const auto value = text.empty() ? std::nullopt : checked(element, attribute, text, range, true);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  // The number, or a problem that names the attribute and its range.
  std::optional<double> checked(const Element& element, const char* attribute,
                                std::string_view text, Range range, bool whole) {
    const auto value = parse_real(text);
    if (value && range.contains(*value) && (!whole || *value == std::floor(*value))) {
      return value;
    }
    std::string rule = range.text();
    rule.replace(0, std::string_view("must be").size(),
                 whole ? "must be an integer" : "must be a number");
    problem(element,
            std::string(attribute) + ": " + rule + ", got \"" + base::shown_value(text) + '"');
    return std::nullopt;
  }

  // Nodes refer to their parents by index: references end with the next one added. CPUs and GPUs
  // are named elsewhere by their ids; of other devices RCCL's files have several with one id, and
  // the later ones become "0000:c5:00.0#2", "#3".
  NcclNode& add(const Element& element, NcclKind kind, std::string id,
                std::optional<std::size_t> parent) {
    const int seen = id.empty() ? 1 : ++ids_[bus_key(id)];
    if (seen > 1 && (kind == NcclKind::cpu || kind == NcclKind::gpu)) {
      problem(element, '"' + base::shown_value(id) + "\" appears twice");
    } else if (seen > 1) {
      ++system_.renamed;
      id += "#" + std::to_string(seen);
    }
    NcclNode& node = system_.nodes.emplace_back();
    node.kind = kind;
    node.id = std::move(id);
    node.line = line_at(place(element));
    node.parent = parent;
    return node;
  }

  // A file of several machines would join them by links that do not exist.
  void cpu(const Element& element) {
    const std::string_view host = text_of(element, "host_hash");
    if (cpus_ > 0 && host != host_) {
      fail(place(element),
           "this CPU belongs to another machine than the first one (host_hash): give "
           "the file of one machine");
    }
    host_ = host;
    if (++cpus_ > kMostCpus) {
      fail(place(element), fmt::format("more than {} CPUs", kMostCpus));
    }
    const auto numa = integer(element, "numaid", between(-1, 65'535));
    const std::size_t self = system_.nodes.size();
    NcclNode& node =
        add(element, NcclKind::cpu, "cpu" + std::to_string(numa.value_or(cpus_ - 1)), std::nullopt);
    node.arch = text_of(element, "arch");
    node.vendor = text_of(element, "vendor");
    const auto family = integer(element, "familyid", between(0, 1e6));
    const auto model = integer(element, "modelid", between(0, 1e6));
    node.family = family;
    node.model = model;
    children(element, self);
  }

  // By what the element holds, then by its PCI class.
  static NcclKind kind_of(const Element& element) {
    if (element.child("gpu")) {
      return NcclKind::gpu;
    }
    if (element.child("nic")) {
      return NcclKind::nic;
    }
    const auto by_class = kind_of_class(text_of(element, "class"));
    return element.child("pci") ? NcclKind::bridge : by_class.value_or(NcclKind::device);
  }

  // A device and all behind it. A bus id names it everywhere else.
  void pci(const Element& element, std::size_t parent) {
    const std::string id(text_of(element, "busid"));
    if (id.empty() || id.find_first_not_of(kBusIdCharacters) != std::string::npos) {
      problem(element, id.empty() ? "<pci> has no busid"
                                  : "busid: must be hexadecimal digits, ':' and '.', got \"" +
                                        base::shown_value(id) + '"');
    }
    system_.any_class |= !text_of(element, "class").empty();
    const std::size_t self = system_.nodes.size();
    NcclNode& node = add(element, kind_of(element), id, parent);
    const auto lanes = integer(element, "link_width", between(0, kMostLanes));
    node.lanes = lanes && kPcieLanes.contains(static_cast<double>(*lanes)) ? lanes : std::nullopt;
    node.speed_GTps = link_speed(element);
    children(element, self);
  }

  // A device has one GPU at most, and a processor none.
  void children(const Element& element, std::size_t self) {
    each_child(element, [&](const Element& child) {
      if (name_of(child) == "pci") {
        pci(child, self);
      } else if (name_of(child) == "nic") {
        nic(child, self);
      } else if (name_of(child) == "gpu" && name_of(element) == "pci" &&
                 gpu_of_.insert(self).second) {
        gpu(child, self);
      } else {
        ignore(child);
      }
    });
  }

  // "16 GT/s", "32.0 GT/s PCIe"; empty where it does not start with a number ("Unknown").
  std::optional<double> link_speed(const Element& element) {
    const std::string_view text = text_of(element, "link_speed");
    const std::string_view first = text.substr(0, text.find_first_not_of("0123456789.-"));
    return first.empty() ? std::nullopt : checked(element, "link_speed", first, kPcieSpeeds, false);
  }

  // What is known of a GPU, and its NVLinks or xGMI links; -1 stands for unknown.
  void gpu(const Element& element, std::size_t self) {
    system_.any_gpu = true;
    NcclNode& node = system_.nodes[self];
    const auto id = [&](const char* attribute) {
      const auto value = integer(element, attribute, between(-1, 1e6));
      return value == -1 ? std::nullopt : value;
    };
    node.rank = id("rank");
    node.dev = id("dev");
    node.sm = id("sm");
    node.gcn = lower_case(text_of(element, "gcn"));
    each_child(element, [&](const Element& child) {
      const bool c2c = name_of(child) == "c2c";
      if (!c2c && name_of(child) != "nvlink" && name_of(child) != "xgmi") {
        return ignore(child);
      }
      const auto links = integer(child, "count", between(0, 10'000));
      if (c2c) {
        node.c2c_Bps += number(child, "bw", between(0, 1e9)).value_or(0) * 1e6 *
                        static_cast<double>(links.value_or(1));
        return;
      }
      node.nvlinks.push_back({std::string(text_of(child, "target")), links.value_or(1),
                              kind_of_class(text_of(child, "tclass")) == NcclKind::nvswitch});
    });
  }

  // A network interface has a node per network behind it.
  void nic(const Element& element, std::size_t parent) {
    each_child(element, [&](const Element& child) {
      if (name_of(child) != "net" || text_of(child, "net") == "0") { // "0": joined to others
        return ignore(child);
      }
      std::string attributes;
      for (const pugi::xml_attribute& each : child.attributes()) {
        attributes.append(each.name()).append("=").append(each.value()).append("\n");
      }
      // What hangs on no PCI device, such as a bridge of the operating system, is listed below
      // every CPU.
      if (system_.nodes[parent].kind == NcclKind::cpu && !virtual_.insert(attributes).second) {
        return ignore(child);
      }
      const auto dev = integer(child, "dev", between(0, 1e6));
      auto rate = number(child, "speed", between(-1e12, 1e12));
      const bool in_kbps = rate && *rate > kMostMbps;
      if (in_kbps) {
        *rate /= 1000;
      }
      const auto latency = number(child, "latency", between(0, 1e9));
      NcclNode& net = add(child, NcclKind::net, fmt::format("net{}", dev.value_or(nets_)), parent);
      net.rate_Mbps = rate && *rate >= 1 ? rate : std::nullopt;
      net.rate_in_kbps = in_kbps;
      net.latency_us = latency && *latency > 0 ? latency : std::nullopt;
      ++nets_;
    });
  }

  std::string_view text_;
  const std::string& file_;
  pugi::xml_document document_;
  std::size_t elements_ = 0;
  std::size_t counted_ = 0; // bytes whose lines are in line_
  std::int64_t line_ = 1;
  NcclSystem system_;
  std::map<std::string, int> ids_; // key -> devices
  std::set<std::string> virtual_;  // networks below CPUs, by their attributes
  std::set<std::size_t> gpu_of_;   // nodes whose <gpu> has been read
  std::string host_;
  std::int64_t cpus_ = 0, nets_ = 0;
  std::vector<base::Problem> problems_;
};

} // namespace

// "00000000:1B:00.0" and "0000:1b:00.0" are one device: case and leading zeros do not count.
std::string bus_key(std::string_view bus_id) {
  const std::string key = lower_case(bus_id);
  return key.substr(std::min(key.find_first_not_of('0'), key.size()));
}

NcclSystem read_nccl_system(std::string_view text, const std::string& file) {
  return SystemReader(text, file).read();
}

double pcie_rate(const PcieLink& link, double efficiency) {
  const double coded = link.speed_GTps <= 5 ? 8.0 / 10 : 128.0 / 130;
  return link.speed_GTps * 1e9 * static_cast<double>(link.lanes) * coded / 8 * efficiency;
}

double nvlink_rate(std::int64_t sm) {
  if (sm < 70) {
    return 18e9;
  }
  return sm >= 100 ? 40.1e9 : sm == 86 ? 12e9 : 20e9;
}

double xgmi_rate(std::string_view gcn) {
  constexpr std::string_view kPrefix = "gfx";
  const std::string_view digits = gcn.starts_with(kPrefix) ? gcn.substr(kPrefix.size()) : gcn;
  if (digits == "910" || digits.starts_with("90a")) { // RCCL once numbered gfx90a as 910
    return 36e9;
  }
  return digits.starts_with("94") || digits.starts_with("95") ? 48e9 : 24e9;
}

double cpu_rate(const NcclNode& cpu) {
  const std::int64_t family = cpu.family.value_or(0);
  const std::int64_t model = cpu.model.value_or(0);
  if (cpu.arch == "ppc64") {
    return 32e9;
  }
  if (cpu.vendor == "AuthenticAMD") { // 23 and below Zen 2, 25 Zen 3 and 4, 26 Zen 5
    const bool zen5 = family == 26 || family == 0xBF;
    const bool zen3 = family == 25 || family == 0xAF;
    return zen5 ? 32e9 : zen3 ? 24e9 : 16e9;
  }
  if (cpu.vendor == "GenuineIntel" && family == 6) {
    if (model >= 0xCF || (model >= 0xAD && model <= 0xAF)) { // Emerald, Granite Rapids
      return 40e9;
    }
    return model >= 0x8F ? 22e9 : model >= 0x55 ? 10e9 : 6e9; // Sapphire Rapids, Skylake
  }
  return 6e9;
}

} // namespace stepsim::io
