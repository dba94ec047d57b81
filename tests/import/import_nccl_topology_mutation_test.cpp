// Damaged machine files give a topology that can be read back or one clean error, never a crash or
// a hang (IO 18, item 10); generated machines come back as generated.
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "import/nccl/import_nccl_topology.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/trace_file.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// 1 for a topology, 0 for errors that name the file; anything else escapes.
int import_or_refuse(const std::string& file) {
  try {
    const NcclTopology result = import_nccl_topology(file, {});
    CHECK_FALSE(result.topology.gpus.empty());
    const std::string text = compact(to_json(result));
    CHECK(compact(to_json(parse_topology(parse_json(text, "t.json")))) ==
          compact(to_json(result.topology)));
    return 1;
  } catch (const InputError& error) {
    for (const base::Problem& problem : error.problems()) {
      CHECK(problem.text().starts_with(file));
    }
    return 0;
  }
}

std::size_t place_in(base::RandomStream& random, const std::string& text) {
  return static_cast<std::size_t>(random.integer(0, std::ssize(text) - 1));
}

std::string mutated(std::string text, base::RandomStream& random) {
  const std::size_t at = place_in(random, text);
  switch (random.integer(0, 5)) {
  case 0:
    text[at] ^= static_cast<char>(1 << random.integer(0, 7));
    return text;
  case 1:
    return text.substr(0, at);
  case 2: { // an attribute less
    const std::size_t equals = std::min(text.find("=\"", at), text.rfind("=\""));
    const std::size_t begin = text.rfind(' ', equals);
    return begin == std::string::npos ? text
                                      : text.erase(begin, text.find('"', equals + 2) + 1 - begin);
  }
  case 3: { // a tag twice
    const std::size_t begin = std::min(text.find('<', at), text.rfind('<'));
    return begin == std::string::npos
               ? text
               : text.insert(begin, text.substr(begin, text.find('>', begin) + 1 - begin));
  }
  case 4: { // a line less
    const std::size_t begin = std::min(text.find('\n', at), text.rfind('\n'));
    return begin == std::string::npos ? text
                                      : text.erase(begin, text.find('\n', begin + 1) - begin);
  }
  default: // a digit becomes another one: ids, speeds and classes change
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit != std::string::npos) {
      text[digit] = static_cast<char>('0' + random.integer(0, 9));
    }
    return text;
  }
}

// A machine with every kind of element.
const std::string kMachine = R"(<?xml version="1.0"?>
<!-- two sockets -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">
    <pci busid="0000:b0:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0000:01:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
        <gpu dev="0" sm="80" rank="0" gdr="1">
          <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>
          <nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:a1:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
        <nic>
          <net name="a" dev="0" speed="200000" port="1" latency="0.000000" maxconn="262144" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">
    <pci busid="0000:02:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="1" sm="80" rank="1" gdr="1">
        <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>
        <nvlink target="0000:01:00.0" count="4" tclass="0x030200"/>
      </gpu>
    </pci>
    <nic><net name="b" dev="1" speed="100000"/></nic>
  </cpu>
</system>
)";

} // namespace

TEST_CASE("nccl-topology: a damaged machine gives a topology or clean errors") {
  const TemporaryFolder folder;
  REQUIRE(import_or_refuse(folder.put("t.xml", kMachine)) == 1);
  int results = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    CAPTURE(trial);
    base::RandomStream random({81, static_cast<std::uint64_t>(trial), 0, 0, 0});
    std::string text = kMachine;
    for (std::int64_t n = random.integer(1, 3); n > 0 && text.find("=\"") != std::string::npos;
         --n) {
      text = mutated(std::move(text), random);
    }
    CAPTURE(text);
    results += import_or_refuse(folder.put("t.xml", text));
  }
  CHECK(results > kTrials / 10); // the test reaches what stands behind the parser
  CHECK(results < kTrials);
}

TEST_CASE("nccl-topology: damaged files of vendors give a topology or clean errors") {
  const TemporaryFolder folder;
  for (const char* name : {"aws_g5.48xl-topo", "aws_p4d-24xl-topo", "azure_ncv4-graph",
                           "azure_ncv4-topo", "azure_ndv4-topo", "azure_ndv5-topo"}) {
    const std::string file = sample(std::string("topo/") + name + ".xml");
    if (absent(file)) {
      return;
    }
    const std::string text = read_text(file);
    for (int trial = 0; trial < 300; ++trial) {
      CAPTURE(name);
      CAPTURE(trial);
      base::RandomStream random({82, static_cast<std::uint64_t>(trial), 0, 0, 0});
      (void)import_or_refuse(folder.put("t.xml", mutated(text, random)));
    }
  }
}

TEST_CASE("nccl-topology: a generated machine comes back as generated, gzip changes nothing") {
  const TemporaryFolder folder;
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    base::RandomStream random({83, static_cast<std::uint64_t>(trial), 0, 0, 0});
    const std::int64_t cpus = random.integer(1, 4);
    std::string text = "<system version=\"1\">";
    std::vector<std::string> gpus;
    std::size_t links = static_cast<std::size_t>(cpus * (cpus - 1) / 2);
    std::size_t switches = static_cast<std::size_t>(cpus);
    std::size_t hosts = 0;
    std::int64_t bus = 0;
    for (std::int64_t cpu = 0; cpu < cpus; ++cpu) {
      text += "<cpu numaid=\"" + std::to_string(cpu) + "\">";
      std::string closing;
      for (std::int64_t depth = random.integer(0, 3); depth > 0; --depth) { // bridges in bridges
        text += "<pci busid=\"0000:" + std::to_string(10 + bus++) + ":00.0\" class=\"0x060400\">";
        closing += "</pci>";
        ++links;
        ++switches;
      }
      for (std::int64_t device = random.integer(1, 5); device > 0; --device) {
        const bool gpu = random.integer(0, 1) == 0 || (gpus.empty() && device == 1);
        const std::string id = "0000:" + std::to_string(10 + bus++) + ":00.0";
        text += "<pci class=\"" + std::string(gpu ? "0x030200" : "0x020700") + "\" busid=\"" + id +
                "\"/>";
        if (gpu) {
          gpus.push_back(id);
        }
        ++hosts;
        ++links;
      }
      text += closing + "</cpu>";
    }
    const NcclTopology result = import_nccl_topology(folder.put("t.xml", text + "</system>"), {});
    CHECK(result.topology.gpus == gpus);
    CHECK(result.topology.hosts.size() == hosts);
    CHECK(result.topology.switches.size() == switches);
    CHECK(result.topology.links.size() == links);
    write_file(folder.file("t.xml.gz"), text + "</system>");
    CHECK(compact(to_json(import_nccl_topology(folder.file("t.xml.gz"), {}).topology)) ==
          compact(to_json(result.topology)));
  }
}
