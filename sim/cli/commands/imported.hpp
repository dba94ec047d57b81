#pragma once
// The result of `stepsim import`: the file to write, the summary to print, and warnings.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "import/import_osu.hpp"
#include "layers/model_table.hpp"
#include "layers/trace.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::cli {

struct Imported {
  io::Json tree;
  std::string summary;
  std::vector<std::string> warnings;
  std::string last_line{}; // printed after the warnings
};

// A trace. If none of its gradients has a size, which only --allow-unknown-sizes permits, there is
// a warning that `run` refuses the trace.
[[nodiscard]] Imported imported_trace(const layers::Trace& trace);
// A model table. The summary has the number of parameters and what was left out.
[[nodiscard]] Imported imported_model(const layers::ModelTable& table);
// Points of one operation, as a file of kind cost.
[[nodiscard]] Imported imported_cost(const io::OsuLog& log);
// Sets of repeated times, for `stepsim-calibrate fit`.
[[nodiscard]] Imported imported_samples(const io::Samples& samples);

// Throws InputError that names the right format or gives advice, because an importer would only say
// what its own format lacks:
//   - a Kineto, Chakra, PyTorch execution or ASTRA-sim trace given to another importer;
//   - a file that is not JSON given to the Kineto importer;
//   - a file that is recognised, but of a format that no importer reads.
// In all other cases, and for standard input, the importer itself reports the error.
void refuse_other_format(const std::string& file, std::string_view format);

} // namespace stepsim::cli
