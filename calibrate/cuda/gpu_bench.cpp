// gpu_bench -o FILE: verifies and times collectives and kernels on the GPUs of this machine and
// writes JSON Lines that `stepsim-calibrate fit FILE` turns into a calibration file, here or on
// another machine. Needs CUDA and nothing else that a machine may lack. Records are flushed one by
// one, so that an interrupted run leaves what it has measured. Exit codes: 0 done, 1 a wrong result
// or a failed call, 2 usage, 77 no GPU, driver or library.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>

#include "base/collected.hpp"
#include "base/quantity.hpp"
#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/measure.hpp"
#include "calibrate/cuda/nccl_calls.hpp"

namespace {

using namespace stepsim;
using namespace stepsim::calibrate::gpu;

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kSkipped = 77;

constexpr std::string_view kHelp =
    "gpu_bench -o FILE [--ranks P] [--backend own|nccl] [--only collectives|kernels]\n"
    "          [--dtype float|bfloat16|half|all]\n"
    "          [--block SIZE|optimal] [--verify-only] [--dense-sizes] [--strict]\n"
    "          [--max-seconds N] [--total-seconds N] [--seed N]\n\n"
    "Verifies collectives and kernels on the GPUs of this machine, then times them. FILE gets "
    "JSON\n"
    "Lines; `stepsim-calibrate fit FILE -o gpu.calibration.json` fits them. Without a GPU: exit "
    "77. Ranks: one per GPU, or eight that share one. --max-seconds counts timing, "
    "--total-seconds\n"
    "everything; at its end, and at a signal to end, FILE is closed with what was measured.\n";

// A number within [least, most]; the comparison also refuses NaN. Throws UsageError otherwise.
double number(std::string_view flag, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    throw UsageError(std::string(flag) + ": must be a number from " + std::to_string(least) +
                     " to " + std::to_string(most) + ", got " + text);
  }
  return value;
}

// One of the words. Throws UsageError otherwise.
std::string word(std::string_view flag, const std::string& text,
                 const std::vector<std::string_view>& words) {
  if (std::ranges::find(words, text) == words.end()) {
    throw UsageError(std::string(flag) + ": " + base::listed(words, {}, ", ", " or ") + ", got " +
                     text);
  }
  return text;
}

// Bytes of a block of lp; 0 = optimal.
std::int64_t block_bytes(const std::string& text) {
  if (text == "optimal") {
    return 0;
  }
  const auto parsed = base::parse_quantity(text, base::QuantityKind::size);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    throw UsageError("--block " + text + ": " + *problem);
  }
  const double bytes = std::get<double>(parsed);
  if (!is_block(bytes)) {
    throw UsageError("--block " + text + ": must be a multiple of 4 bytes, at most 1 GB");
  }
  return static_cast<std::int64_t>(bytes);
}

struct CommandLine {
  MeasureOptions options;
  std::string output;
  bool help = false;
};

// Parsed by hand, because the library that the other programs use may be missing on the machine on
// which this one is built. Throws UsageError for the first argument that is wrong.
CommandLine parse(int argc, char** argv) {
  CommandLine line;
  for (int i = 0; i < argc; ++i) {
    line.options.command += (i > 0 ? " " : "") + std::string(i > 0 ? argv[i] : "gpu_bench");
  }
  const auto value = [&](int& i) {
    if (i + 1 >= argc) {
      throw UsageError(std::string(argv[i]) + ": needs a value");
    }
    return std::string(argv[++i]);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      line.help = true;
    } else if (flag == "-o") {
      line.output = value(i);
    } else if (flag == "--ranks") {
      line.options.ranks = static_cast<std::uint32_t>(number(flag, value(i), 1, 64));
    } else if (flag == "--max-seconds") {
      line.options.max_seconds = number(flag, value(i), 1, 1e6);
    } else if (flag == "--total-seconds") {
      line.options.total_seconds = number(flag, value(i), 1, 1e6);
    } else if (flag == "--seed") {
      line.options.seed = static_cast<std::uint64_t>(number(flag, value(i), 0, 1e15));
    } else if (flag == "--block") {
      line.options.block_bytes = block_bytes(value(i));
    } else if (flag == "--backend") {
      line.options.nccl = word(flag, value(i), {"own", "nccl"}) == "nccl";
    } else if (flag == "--dtype") {
      auto types = base::collected<std::string_view>(kNcclTypes, &NcclType::name);
      types.emplace_back("all");
      line.options.dtype = word(flag, value(i), types);
    } else if (flag == "--only") {
      line.options.kernels = word(flag, value(i), {"collectives", "kernels"}) == "kernels";
      line.options.collectives = !line.options.kernels;
    } else if (flag == "--dense-sizes") {
      line.options.dense = true;
    } else if (flag == "--strict") {
      line.options.strict = true;
    } else if (flag == "--verify-only") {
      line.options.timing = false;
    } else {
      throw UsageError(std::string(flag) + ": unknown option; see gpu_bench --help");
    }
  }
  if (line.output.empty() && !line.help) {
    throw UsageError("-o FILE is required");
  }
  line.options.program = "gpu_bench " STEPSIM_VERSION;
  if (const char* revision = std::getenv("STEPSIM_REVISION")) { // gpu_check knows it
    line.options.revision = revision;
  }
  return line;
}

volatile std::sig_atomic_t stopped = 0;

int run(int argc, char** argv) {
  CommandLine line = parse(argc, argv);
  if (line.help) {
    std::cout << kHelp;
    return EXIT_SUCCESS;
  }
  // Set before the first CUDA call, which reads them: all kernels are loaded at once, and there are
  // enough hardware queues that streams do not wait for each other. A value that the user has set
  // stays.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  for (const int signal : {SIGTERM, SIGINT}) {
    (void)std::signal(signal, [](int) { stopped = 1; });
  }
  line.options.stop = [] { return stopped != 0; };
  std::ofstream file(line.output);
  if (!file) {
    throw SimulationError(line.output + ": cannot be written");
  }
  measure(
      line.options,
      [&](const std::string& text) {
        file << text << std::flush;
        if (!file) {
          throw SimulationError(line.output + ": cannot be written");
        }
      },
      [](const std::string& text) { std::cout << text << std::flush; });
  return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    std::cerr << std::string("error: ") + error.what() + "\n";
    return kUsage;
  } catch (const NotAvailable& error) {
    std::cerr << std::string(error.what()) + "\n";
    return kSkipped;
  } catch (const std::exception& error) {
    std::cerr << std::string("error: ") + error.what() + "\n";
    return kFailed;
  }
}
