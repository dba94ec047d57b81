// Examples are part of the schema and are checked against it: a step with one exchange per layer,
// and one whose exchange takes its time from the cluster.
#include "scenario/program_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kProgramExamples{
    R"({"schema_version": 1, "kind": "program", "name": "two-layers", "streams": [{"name": "compute"}, {"name": "reduce"}], "operations": [{"id": "F1", "stream": "compute", "type": "compute", "kind": "forward", "seconds": 0.001, "waits": [["X1", 1]], "first_layer": 0}, {"id": "F2", "stream": "compute", "type": "compute", "kind": "forward", "seconds": 0.001, "waits": [["X2", 1]], "first_layer": 1}, {"id": "B2", "stream": "compute", "type": "compute", "kind": "backward", "seconds": 0.002, "first_layer": 1}, {"id": "B1", "stream": "compute", "type": "compute", "kind": "backward", "seconds": 0.002, "first_layer": 0}, {"id": "X2", "stream": "reduce", "type": "exchange", "kind": "allreduce", "startup_s": 0.0001, "data_s": 0.002, "waits": [["B2", 0]], "unit": 0}, {"id": "X1", "stream": "reduce", "type": "exchange", "kind": "allreduce", "startup_s": 0.0001, "data_s": 0.001, "waits": [["B1", 0]], "unit": 1}], "marker": "B1"})",
    R"({"kind": "program", "streams": [{"name": "compute"}, {"name": "reduce"}], "operations": [{"id": "S", "stream": "compute", "type": "compute", "kind": "step", "seconds": 0.05, "waits": [["X", 2]]}, {"id": "X", "stream": "reduce", "type": "exchange", "collective": "allreduce", "bytes": 100000000, "waits": [["S", 0]]}], "marker": "S", "overlap": {"compute": 1.2}, "cluster": {"nodes": 8, "network": {"latency_s": 2e-05, "bandwidth_Bps": 3.125e9}}, "iterations": 200})"};

} // namespace

io::FileKind program_file() { return {"program", &kProgram, kProgramExamples}; }

} // namespace stepsim::study::keys
