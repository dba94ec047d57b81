// What a machine refuses: peers beyond the eighth, page-locked memory, and every answer after an
// error that sticks. The rest is measured, and the records say what is missing.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "calibrate/cuda/measure.hpp"
#include "calibrate/cuda/measurement.cuh"

using namespace stepsim;
using namespace stepsim::calibrate::gpu;

namespace {

struct Result {
  std::string records, progress, error;
};

cuda_on_cpu::Machine small_machine(int devices) {
  cuda_on_cpu::Machine machine;
  machine.devices = devices;
  machine.free_bytes = std::int64_t{1} << 14;
  machine.l2_bytes = 1 << 12;
  return machine;
}

// `part` on a machine, with records and progress as texts.
template <class Part>
Result played(const cuda_on_cpu::Machine& machine, const MeasureOptions& options, Part part) {
  cuda_on_cpu::set_machine(machine);
  Result result;
  const Sink records = [&](const std::string& line) { result.records += line; };
  const Sink progress = [&](const std::string& line) { result.progress += line; };
  try {
    part(options, records, progress);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  CHECK(cuda_on_cpu::violations().empty());
  return result;
}

Result verified(const cuda_on_cpu::Machine& machine) { // collectives
  MeasureOptions options;
  options.kernels = options.timing = false;
  return played(machine, options,
                [](const MeasureOptions& all, const Sink& records, const Sink& progress) {
                  measure(all, records, progress);
                });
}

// One part by itself, without time for any block: what it says before it begins.
Result begun(cuda_on_cpu::Machine machine, void (*part)(Measurement&, double)) {
  machine.free_bytes = std::int64_t{1} << 26;
  machine.executes = false;
  return played(machine, {},
                [&](const MeasureOptions& all, const Sink& records, const Sink& progress) {
                  Measurement measurement{all, records, progress};
                  measurement.devices = machine.devices;
                  measurement.ranks = ranks_for(0, machine.devices);
                  measurement.l2_bytes = machine.l2_bytes;
                  measurement.free_bytes = machine.free_bytes;
                  part(measurement, 0);
                });
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("limits: of ten devices with eight peers each, the other pairs copy through the host") {
  constexpr int kDevices = 10;
  cuda_on_cpu::Machine machine = small_machine(kDevices);
  machine.most_peers = 8;
  const Result result = verified(machine);
  CHECK(result.error == "");
  CHECK(count(result.records, "unusable") == 0);
  const int pairs = kDevices * (kDevices - 1 - machine.most_peers);
  CHECK(count(result.records, std::to_string(pairs) + " pairs of devices get no peer access") == 1);
  CHECK(count(result.records, "\"what\": \"collectives\"") == 1);
}

TEST_CASE("limits: without page-locked memory everything else is measured") {
  cuda_on_cpu::Machine machine = small_machine(2);
  machine.most_pinned_bytes = 0;
  const Result collectives = verified(machine);
  CHECK(collectives.error == "");
  CHECK(count(collectives.records, "\"record\": \"unusable\", \"variant\": \"host_staged\"") == 2);
  CHECK(count(collectives.records, "\"record\": \"unusable\"") == 2);
  CHECK(count(collectives.records, "\"what\": \"collectives\"") == 1);
  const Result kernels = begun(machine, measure_kernels);
  CHECK(kernels.error == "");
  CHECK(count(kernels.records, "copies from and to page-locked memory are not timed: ") == 1);
  CHECK(count(kernels.progress, "blocks to time") == 1);
  const Result timed = begun(machine, measure_collectives);
  CHECK(timed.error == "");
  CHECK(count(timed.records, "host_staged is not timed: ") == 1);
}

TEST_CASE("limits: the records say that staged copies share the stream of the sender") {
  const Result timed = begun(small_machine(2), measure_collectives);
  CHECK(timed.error == "");
  CHECK(count(timed.records, "host_staged: both copies of a message run on the stream of its "
                             "sender") == 1);
}

TEST_CASE("limits: an error that sticks ends the measurement with one text") {
  cuda_on_cpu::Machine machine = small_machine(2);
  machine.works = 1000;
  const Result result =
      played(machine, {}, [](const MeasureOptions& all, const Sink& records, const Sink& progress) {
        measure(all, records, progress);
      });
  CHECK(count(result.error, "an illegal memory access was encountered") == 1);
  CHECK(count(result.error, "nothing was measured after it") == 1);
  CHECK(count(result.records, "an illegal memory access was encountered") == 1); // of the last line
  CHECK(count(result.records, "\"record\": \"end\", \"early\": \"cuda") == 1);
}
