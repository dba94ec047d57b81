#include "scenario/files/keys/links_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kLinksExamples{R"({
  "schema_version": 1, "kind": "links",
  "links": [{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9},
            {"src": 1, "dst": 0, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9}]})"};

} // namespace

FileKind links_file() { return {"links", &kLinks, kLinksExamples}; }

} // namespace stepsim::io::keys
