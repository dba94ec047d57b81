#include "study/reproduce/reproduction_keys.hpp"

namespace stepsim::reproduce::keys {

namespace {

constexpr std::array<std::string_view, 1> kReproductionExamples{R"({
  "schema_version": 1, "kind": "reproduction", "name": "tiny", "title": "A ring",
  "citation": "Nobody: an example.",
  "runs": [{"id": "ring", "argv": ["collective", "--op", "allreduce", "--algorithm", "ring",
            "--ranks", "2,4,8", "--bytes", "1MB", "--latency", "10us", "--bandwidth", "1GB/s"]}],
  "figures": [{"id": "R1", "question": "How long does a ring take?",
    "x": {"title": "ranks", "scale": "log2"}, "y": {"title": "time", "unit": "ms"},
    "panels": [{"curves": [{"label": "ring", "run": "ring", "x": "ranks",
                            "y": "1000 * closed_form_s"}]}]}],
  "claims": [{"id": "slower", "figure": "R1", "text": "Eight ranks take longer than two.",
    "label": "abstract", "source": "this example", "reported": [1], "low": 1,
    "ours": [{"run": "ring", "where": {"ranks": 8}, "value": "closed_form_s / other_closed_form_s",
              "other": {"where": {"ranks": 2}}}]}]})"};

} // namespace

io::FileKind reproduction_file() {
  return {kReproduction.name, &kReproduction, kReproductionExamples};
}

} // namespace stepsim::reproduce::keys
