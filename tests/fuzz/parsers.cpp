// Importers under libFuzzer: bytes in, a result or one of the two errors of an input out, and what
// was written is read again. parsers.py builds the first inputs and runs this program, which takes
// the importer from STEPSIM_PARSER and keeps its input in the folder STEPSIM_FOLDER, one in memory
// at best.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "import/chakra/import_chakra.hpp"
#include "import/import_layer_table.hpp"
#include "import/import_osu.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/nccl/import_nccl_inspector.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "import/nccl/import_nccl_topology.hpp"
#include "import/sizes/size_files.hpp"
#include "scenario/files/network_files.hpp"
#include "scenario/files/samples_file.hpp"
#include "scenario/files/trace_file.hpp"

namespace {

using namespace stepsim; // NOLINT(google-build-using-namespace): names of one program

constexpr std::uint64_t kMostBytes = 1 << 20;

io::ImportOptions common() {
  io::ImportOptions options;
  options.max_bytes = kMostBytes;
  return options;
}

// The text of what was imported; `parse` of it must give the same text again.
template <typename Value, typename Parse> void same_again(const Value& value, Parse parse) {
  const io::Json tree = io::to_json(value);
  try {
    io::require_finite(tree);
  } catch (const SimulationError&) {
    return; // refused by the command in the same way
  }
  const std::string text = io::pretty(tree);
  try {
    if (io::pretty(io::to_json(parse(io::parse_json(text, "again")))) == text) {
      return;
    }
    std::fprintf(stderr, "read again it is another one: %s\n", text.c_str());
  } catch (const InputError& error) {
    std::fprintf(stderr, "not read again: %s\n%s\n", error.what(), text.c_str());
  }
  std::abort();
}

void trace_again(const layers::Trace& trace) { same_again(trace, io::parse_trace); }

using Parser = std::function<void(const std::string& file)>;

const std::map<std::string, Parser, std::less<>>& parsers() {
  static const std::map<std::string, Parser, std::less<>> rows{
      {"kineto",
       [](const std::string& file) {
         io::KinetoOptions options;
         options.common = common();
         options.with_costs = true;
         trace_again(io::import_kineto_job({file}, options).trace);
       }},
      {"kineto-windows",
       [](const std::string& file) {
         io::KinetoOptions options;
         options.common = common();
         options.most_events = 16; // beyond that events wait in a file
         trace_again(io::import_kineto_job({file}, options).trace);
       }},
      {"pytorch-et",
       [](const std::string& file) { trace_again(io::trace_of_sizes(file, common())); }},
      {"ddp-log", [](const std::string& file) { (void)io::read_ddp_log(file, kMostBytes); }},
      {"flight-record",
       [](const std::string& file) {
         const io::FlightRecord record = io::read_flight_record(file, kMostBytes);
         for (const std::size_t per_step : {1U, 3U}) {
           (void)io::step_of(record, per_step);
         }
       }},
      {"size-table", [](const std::string& file) { (void)io::read_size_table(file, kMostBytes); }},
      {"chakra",
       [](const std::string& file) {
         trace_again(io::import_chakra(file, {common(), std::nullopt}).trace);
       }},
      {"chakra-samples",
       [](const std::string& file) {
         same_again(io::chakra_samples(file, common(), 8), io::parse_samples);
       }},
      {"astra-text",
       [](const std::string& file) {
         io::AstraTextOptions options;
         options.common = common();
         options.drop_other_communication = true;
         trace_again(io::import_astra_text(file, options));
       }},
      {"caffe-log",
       [](const std::string& file) {
         trace_again(io::import_caffe_log(file, {common(), std::nullopt, {}}));
       }},
      {"layer-table",
       [](const std::string& file) { trace_again(io::import_layer_table(file, common())); }},
      {"osu",
       [](const std::string& file) {
         io::OsuOptions options;
         options.common = common();
         options.op = "allreduce";
         options.ranks = 8;
         same_again(io::samples_of(io::import_osu(file, options)), io::parse_samples);
       }},
      {"nccl-tests",
       [](const std::string& file) {
         io::NcclTestsOptions options;
         options.common = common();
         same_again(io::import_nccl_tests(file, options), io::parse_samples);
       }},
      {"nccl-inspector",
       [](const std::string& file) {
         same_again(io::import_nccl_inspector({file}, common()), io::parse_samples);
       }},
      {"nccl-topology",
       [](const std::string& file) {
         io::NcclTopologyOptions options;
         options.common = common();
         same_again(io::import_nccl_topology(file, options).topology, io::parse_topology);
       }},
      {"hf-config",
       [](const std::string& file) {
         io::ParseLimits limits;
         limits.max_bytes = kMostBytes;
         const io::Json tree = io::read_json(file, limits);
         if (io::is_model_config(tree)) {
           same_again(io::parse_model_config(tree, "m"), io::parse_model);
         }
       }},
  };
  return rows;
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    std::fprintf(stderr, "%s is not set\n", name);
    std::exit(EXIT_FAILURE);
  }
  return value;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Parser& parser = parsers().at(setting("STEPSIM_PARSER"));
  static const std::string file = setting("STEPSIM_FOLDER") + "/input";
  {
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  try {
    parser(file);
  } catch (const InputError&) { // what is wrong with the file
  } catch (const UsageError&) { // an option is missing for it
  }
  return 0;
}
