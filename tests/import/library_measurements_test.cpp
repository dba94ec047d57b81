// Reading measured times for the library model: logs, folders of logs, tables.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "import/nccl/library_measurements.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using namespace stepsim::nccl;
using stepsim::testing::within;

namespace {

namespace fs = std::filesystem;

// A folder for one test case, which is removed with it.
class Folder {
public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / (name + "-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file) << text;
    return file;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

private:
  fs::path path_;
};

// A log of two GPUs on each of two hosts, with `prefix` before every line.
std::string log_of(const std::string& prefix, const std::string& rows,
                   const std::string& last_host = "b") {
  std::string text;
  const auto line = [&](const std::string& content) { text += prefix + content + "\n"; };
  line("# Collective test starting: all_reduce_perf");
  line("# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)");
  line("#  Rank  0 Group  0 Pid 1 on a device  0 [0000:1b:00] NVIDIA H100");
  line("#  Rank  1 Group  0 Pid 2 on a device  1 [0000:1c:00] NVIDIA H100");
  line("#  Rank  2 Group  0 Pid 3 on " + last_host + " device  0 [0000:1b:00] NVIDIA H100");
  line("#  Rank  3 Group  0 Pid 4 on b device  1 [0000:1c:00] NVIDIA H100");
  line("#       size  count   type   redop  root   time   algbw   busbw #wrong   time   algbw   "
       "busbw #wrong");
  return text + rows;
}

std::string row(const std::string& prefix, const std::string& bytes, const std::string& time) {
  return prefix + bytes + " 2 float sum -1 " + time + " 0.1 0.1 0 99.0 0.1 0.1 0\n";
}

std::string error_of(const std::vector<std::string>& paths, const MeasurementOptions& options) {
  try {
    (void)read_measurements(paths, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

constexpr const char* kHeader = "system,op,nodes,gpus_per_node,bytes,time_us\n";

} // namespace

TEST_CASE("measurements: a log says its operation and its shape, with and without prefixes") {
  const Folder folder("stepsim_measurements_log");
  for (const std::string prefix : {"", "0: ", "[1,0]<stdout>:"}) {
    CAPTURE(prefix);
    const std::string file = folder.write(
        "a.log", log_of(prefix, row(prefix, "1024", "12.5") + row(prefix, "2048", "13") +
                                    row(prefix, "0", "9") + row(prefix, "64", "0")));
    const LibraryMeasurements read = read_measurements({file}, {});
    REQUIRE(read.points.size() == 2);
    CHECK(read.points[0].operation == Operation::allreduce);
    CHECK(read.points[0].shape == Shape{2, 2});
    CHECK(read.points[0].bytes == 1024);
    CHECK(read.points[0].measured_s == within(12.5e-6, 1e-12)); // out of place
    CHECK(read.skipped == 2);
    CHECK(read.sources == std::set<std::string>{"NVIDIA H100"});
  }
}

TEST_CASE("measurements: hosts with different numbers of ranks are left out with a warning") {
  const Folder folder("stepsim_measurements_hosts");
  const std::string file = folder.write("a.log", log_of("", row("", "1024", "12.5"), "a"));
  CHECK(error_of({file}, {}).find("no rows of measured times") != std::string::npos);
  const std::string good = folder.write("b.log", log_of("", row("", "1024", "12.5")));
  CHECK(read_measurements({file, good}, {}).warnings.size() == 2); // the block, and its rows
}

TEST_CASE("measurements: what the importer of a log doubts is said") {
  const Folder folder("doubted");
  const std::string file =
      folder.write("n.log", log_of("", row("", "1048576", "10.0") + "# Avg bus bandwidth : 5\n"));
  const std::vector<std::string> warnings = read_measurements({file}, {}).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().starts_with(file + ": allreduce: average bus bandwidth"));
}

TEST_CASE("measurements: equal sizes of several files are one point, the median") {
  const Folder folder("stepsim_measurements_folder");
  folder.write("a.log", log_of("", row("", "1024", "10")));
  folder.write("b.log", log_of("", row("", "1024", "14")));
  folder.write("c.log", log_of("", row("", "1024", "11")));
  folder.write("notes.txt", "nothing of use");
  const LibraryMeasurements read = read_measurements({folder.path()}, {});
  REQUIRE(read.points.size() == 1);
  CHECK(read.points[0].measured_s == within(11e-6, 1e-12));
  CHECK(read.points[0].count == 3);
}

TEST_CASE("measurements: no row of a damaged file of a folder counts") {
  const Folder folder("stepsim_measurements_damaged");
  folder.write("a.csv", std::string(kHeader) + "one,allreduce,2,8,1024,10\n");
  folder.write("b.csv", std::string(kHeader) + "two,allreduce,2,8,1024,90\n" +
                            "two,allreduce,2,8,2048,90\ntwo,allreduce\n");
  const LibraryMeasurements read = read_measurements({folder.path()}, {});
  REQUIRE(read.points.size() == 1);
  CHECK(read.points[0].measured_s == within(10e-6, 1e-12));
  CHECK(read.points[0].count == 1);
  CHECK(read.sources.size() == 1);
}

TEST_CASE("measurements: a folder without rows says what each file lacked") {
  const Folder folder("stepsim_measurements_nothing");
  folder.write("a.txt", "nothing of use");
  const std::string error = error_of({folder.path()}, {});
  CHECK(error.find("a.txt: neither a log of nccl-tests nor a table") != std::string::npos);
}

TEST_CASE("measurements: a table gives the rows of one system") {
  const Folder folder("stepsim_measurements_table");
  const std::string file = folder.write(
      "t.csv", std::string(kHeader) + "one,allreduce,2,8,1024,10\none,allgather,2,8,63,9\n" +
                   "one,allgather,2,8,64,9\none,sendrecv,2,8,64,9\none,allreduce,2,8,2048,nan\n" +
                   "two,allreduce,1,8,1024,5\n");
  CHECK(error_of({file}, {}).find("fit-library --system takes one of one, two") !=
        std::string::npos);
  // Two tables of one system each are not one table of several.
  const std::string other =
      folder.write("o.csv", std::string(kHeader) + "two,allreduce,1,8,1024,5\n");
  const std::string alone =
      folder.write("a.csv", std::string(kHeader) + "one,allreduce,2,8,1024,10\n");
  MeasurementOptions together;
  together.several_devices = true;
  CHECK(read_measurements({alone, other}, together).points.size() == 2);
  CHECK(error_of({alone, other}, {}).find("measurements of several systems (one, two)") !=
        std::string::npos);
  MeasurementOptions options;
  options.system = "one";
  const LibraryMeasurements read = read_measurements({file}, options);
  REQUIRE(read.points.size() == 2); // all-gather from 4 bytes per rank on
  CHECK(read.points[0].operation == Operation::allreduce);
  CHECK(read.points[1].bytes == 64);
  CHECK(read.skipped == 3);
  options.operation = Operation::allgather;
  CHECK(read_measurements({file}, options).points.size() == 1);
}

TEST_CASE("measurements: two kinds of GPU are refused unless they are asked for") {
  const Folder folder("stepsim_measurements_devices");
  std::string other = log_of("", row("", "2048", "10"));
  for (std::size_t at = 0; (at = other.find("H100", at)) != std::string::npos;) {
    other.replace(at, 4, "A100");
  }
  const std::string first = folder.write("a.log", log_of("", row("", "1024", "12.5")));
  const std::string second = folder.write("b.log", other);
  CHECK(error_of({first, second}, {}).find("--force takes them together") != std::string::npos);
  MeasurementOptions options;
  options.several_devices = true;
  CHECK(read_measurements({first, second}, options).points.size() == 2);
}
