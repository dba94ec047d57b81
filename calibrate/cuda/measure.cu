// The order is fixed: facts of the machine, verification of everything, then timing, collectives
// and kernels sharing the time. Each record is handed out as soon as it exists. Everything is
// verified first, so that no time of a wrong kernel is ever written.
#include "calibrate/cuda/measure.hpp"

#include "calibrate/cuda/driver.hpp"
#include "calibrate/cuda/measurement.cuh"
#include "calibrate/cuda/run_plan.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// The number of devices, and the error where there are none.
std::pair<int, std::string> count_devices() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    return {0, cudaGetErrorString(error)};
  }
  return {devices, "none found"};
}

// What tells the devices of a host apart, whatever numbers CUDA_VISIBLE_DEVICES gives them. Empty
// where there is no device.
std::vector<std::string> visible_devices() {
  std::vector<std::string> ids;
  for (int device = 0; device < count_devices().first; ++device) {
    cudaDeviceProp properties{};
    STEPSIM_CUDA(cudaGetDeviceProperties(&properties, device));
    std::string id;
    for (const char byte : properties.uuid.bytes) {
      id += std::to_string(static_cast<int>(byte)) + ".";
    }
    ids.push_back(id);
  }
  return ids;
}

std::string bus_id(int device) {
  std::array<char, 32> text{};
  STEPSIM_CUDA(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
  return text.data();
}

std::string version_text(int version) { // 13000 = 13.0
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceFacts facts_of(int device, const Nvml& nvml) {
  cudaDeviceProp properties{};
  STEPSIM_CUDA(cudaGetDeviceProperties(&properties, device));
  DeviceFacts facts;
  facts.name = properties.name;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  facts.ecc = nvml.ecc(bus_id(device));
  facts.before = nvml.state(bus_id(device));
  return facts;
}

Header header_of(const MeasureOptions& options, const Measurement& measurement, const Nvml& nvml) {
  Header header;
  header.program = options.program;
  header.revision = options.revision;
  header.command = options.command;
  header.date = now_text();
  header.compiler = "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                    std::to_string(__CUDACC_VER_MINOR__) + ", g++ " + __VERSION__;
  header.driver = nvml.driver_version();
  int version = 0;
  STEPSIM_CUDA(cudaRuntimeGetVersion(&version));
  header.cuda_runtime = version_text(version);
  STEPSIM_CUDA(cudaDriverGetVersion(&version));
  header.cuda_driver = version_text(version);
  header.ranks = measurement.ranks;
  header.seed = options.seed;
  header.same_device = measurement.same_device;
  if (measurement.job.is_alone()) {
    for (int device = 0; device < measurement.devices; ++device) {
      header.devices.push_back(facts_of(device, nvml));
    }
    header.peer_access = peer_access(measurement.devices);
  } else {
    header.devices.push_back(facts_of(measurement.device, nvml));
    header.hosts = measurement.job.host_of;
    header.device_of_rank = measurement.job.gather(text_of(header.devices.front()));
  }
  return header;
}

// All ranks have buffers of one length, so that the device with least free memory decides.
std::int64_t least_free_memory(const Measurement& measurement) {
  std::size_t least = 0;
  const int first = measurement.device;
  for (int device = first; device < first + measurement.devices; ++device) {
    const DeviceGuard guard(device);
    std::size_t free = 0;
    std::size_t total = 0;
    STEPSIM_CUDA(cudaMemGetInfo(&free, &total));
    least = device == first ? free : std::min(least, free);
  }
  return static_cast<std::int64_t>(-measurement.slowest(-static_cast<double>(least)));
}

// A part that is wrong is noted and not timed; the other goes on.
bool is_right(Measurement& measurement, bool (*verify)(Measurement&)) {
  try {
    return verify(measurement);
  } catch (const DeviceLost&) { // there is no other part that could go on
    throw;
  } catch (const SimulationError& error) {
    measurement.note(error.what());
    if (measurement.failed.empty()) {
      measurement.failed = error.what();
    }
    return false;
  }
}

void run_parts(Measurement& measurement) {
  const MeasureOptions& options = measurement.options;
  if (options.nccl) {
    verify_and_measure_nccl(measurement, options.max_seconds);
    return;
  }
  const bool collectives = options.collectives && is_right(measurement, verify_collectives);
  const bool gtopk = collectives && is_right(measurement, verify_gtopk);
  const bool kernels = options.kernels && is_right(measurement, verify_kernels);
  if (!options.timing) {
    return;
  }
  const double share = collectives && kernels ? 0.5 : 1.0;
  if (collectives) {
    const double of_pairs = measurement.same_device ? 0 : 0.2 * share * options.max_seconds;
    measure_pairs(measurement, of_pairs);
    measure_collectives(measurement, share * options.max_seconds - of_pairs);
    measure_own_overlap(measurement);
    if (gtopk) {
      measure_gtopk(measurement, 0.1 * share * options.max_seconds);
    }
  }
  if (kernels) {
    measure_kernels(measurement, share * options.max_seconds);
  }
}

// Which ranks there are, and which devices this process drives.
void take_place(Measurement& measurement) {
  const MeasureOptions& options = measurement.options;
  if (measurement.job.is_alone()) {
    const auto [devices, problem] = count_devices();
    if (devices == 0) {
      throw NotAvailable("no CUDA device: " + problem);
    }
    measurement.devices = devices;
    measurement.ranks = options.nccl ? static_cast<std::uint32_t>(measurement.devices)
                                     : ranks_for(options.ranks, measurement.devices);
    measurement.same_device = measurement.ranks > static_cast<std::uint32_t>(measurement.devices);
  } else {
    measurement.device = device_of_rank(measurement.job, visible_devices());
    measurement.ranks = measurement.job.ranks;
  }
  STEPSIM_CUDA(cudaSetDevice(measurement.device));
}

} // namespace

void measure(const MeasureOptions& options, const Sink& records, const Sink& progress,
             const Job& job) {
  Measurement measurement{options, records, progress, job};
  take_place(measurement);
  int l2 = 0;
  STEPSIM_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, measurement.device));
  measurement.l2_bytes = l2;
  measurement.free_bytes = least_free_memory(measurement);
  const Nvml nvml;
  Header header = header_of(options, measurement, nvml);
  records(line(header));
  measurement.say(header.devices.front().name + ", compute capability " +
                  header.devices.front().compute_capability + ", driver " +
                  (header.driver.empty() ? "unknown" : header.driver));
  std::vector<std::string> buses; // asked now: after an error that sticks CUDA gives no answer
  for (int device = 0; device < measurement.devices; ++device) {
    buses.push_back(bus_id(measurement.device + device));
  }
  const auto end = [&](const std::string& early) {
    for (std::size_t device = 0; device < buses.size(); ++device) {
      header.devices[device].after = nvml.state(buses[device]);
    }
    records(end_line(header.devices, measurement.same_device, early));
  };
  try {
    run_parts(measurement);
  } catch (const std::exception& error) {
    end(error.what());
    throw;
  }
  end(measurement.is_over() ? "time was up, or it was told to stop" : "");
  if (!measurement.failed.empty()) {
    throw SimulationError(measurement.failed);
  }
  if (measurement.unsteady > 0) {
    const std::string text =
        std::to_string(measurement.unsteady) + " blocks have passes that differ by more than 5 %";
    measurement.say(text);
    if (options.strict) {
      throw SimulationError(text);
    }
  }
}

} // namespace stepsim::calibrate::gpu
