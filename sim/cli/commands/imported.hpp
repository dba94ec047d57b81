#pragma once
// What `stepsim import` made of its input: the file to write, the summary that it prints, and
// warnings.
#include <string>
#include <vector>

#include "files/samples_file.hpp"
#include "import/import_osu.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct Imported {
  io::Json tree;
  std::string summary;
  std::vector<std::string> warnings;
  std::string last_line{}; // printed behind them
};

// A trace without any gradient size, which only --allow-unknown-sizes lets through, gets a warning:
// `run` refuses it.
[[nodiscard]] Imported imported_trace(const train::Trace& trace);
// A model table, with its parameters and what of it was left out.
[[nodiscard]] Imported imported_model(const train::ModelTable& table);
// Points of one operation as a file of kind cost.
[[nodiscard]] Imported imported_cost(const io::OsuLog& log);
// Sets of repeated times, for stepsim-calibrate fit.
[[nodiscard]] Imported imported_samples(const io::Samples& samples);

// Throws InputError where `file` is a trace (kineto) and another format is asked for, where a trace
// is asked for and `file` is no JSON, or where `file` is known to be of a kind that no importer
// reads: an importer says what is missing in its own format, and not what the file is. All other
// mix-ups, and standard input, are left to the importer that was asked for.
void refuse_other_format(const std::string& file, std::string_view format);

} // namespace stepsim::cli
