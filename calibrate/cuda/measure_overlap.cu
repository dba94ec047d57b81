// How much computing and collectives slow each other down (TRN 3): a product of two matrices on
// every device, alone and next to all-reduces without end, and the same of an all-reduce next to
// products. What runs beside always outlasts what is timed, or the sample is repeated with more.
#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/cuda/kernels.cuh"
#include "calibrate/cuda/low_rank.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kSide = 4096;             // of the matrices
constexpr double kOverlapSample = 0.02; // least seconds of a sample
constexpr int kMostCalls = 256;         // of a sample
constexpr int kMostBeside = 1 << 14;    // calls that run beside a sample

// One kind of work on a stream, whose calls are enqueued one after the other and timed together.
class Load {
public:
  Load(int device, const Stream& stream, std::function<void()> call)
      : device_(device), stream_(&stream), call_(std::move(call)), begin_(Event::Use::timing),
        end_(Event::Use::timing) {} // `device` is current

  void enqueue(int calls) const {
    const DeviceGuard guard(device_);
    begin_.record(*stream_);
    for (int i = 0; i < calls; ++i) {
      call_();
    }
    end_.record(*stream_);
    check_launches();
  }
  // Waits for what was enqueued last, which took so long.
  [[nodiscard]] double seconds() const {
    const DeviceGuard guard(device_);
    STEPSIM_CUDA(cudaEventSynchronize(end_));
    return seconds_between(begin_, end_);
  }
  [[nodiscard]] bool runs() const {
    const DeviceGuard guard(device_);
    const cudaError_t state = cudaEventQuery(end_);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError(); // it is no error
      return true;
    }
    STEPSIM_CUDA(state);
    return false;
  }

private:
  int device_;
  const Stream* stream_;
  std::function<void()> call_;
  Event begin_, end_;
};
using Loads = std::vector<Load>;

// Seconds of a call of each load, all of them at once.
std::vector<double> sample_of(const Loads& loads, int calls) {
  for (const Load& load : loads) {
    load.enqueue(calls);
  }
  std::vector<double> seconds;
  for (const Load& load : loads) {
    seconds.push_back(load.seconds() / calls);
  }
  return seconds;
}

// The same while every one of `others` runs. `longer` is the number of their calls.
std::vector<double> sample_beside(const Loads& loads, int calls, const Loads& others, int& longer) {
  for (;; longer *= 2) {
    for (const Load& other : others) {
      other.enqueue(longer);
    }
    const std::vector<double> seconds = sample_of(loads, calls);
    const bool outlasted = std::ranges::all_of(others, &Load::runs);
    for (const Load& other : others) {
      (void)other.seconds();
    }
    if (outlasted) {
      return seconds;
    }
    if (longer > kMostBeside) {
      throw CudaError("overlap: what runs beside ends before what is timed");
    }
  }
}

// Matrices of one device and what multiplies them.
struct Product {
  explicit Product(int side) : a(side * side), b(side * side), out(side * side), matrices(stream) {
    fill_random(a.get(), std::int64_t{side} * side, Distribution::gaussian, 1, stream);
    fill_random(b.get(), std::int64_t{side} * side, Distribution::gaussian, 2, stream);
    stream.synchronize();
  }
  Stream stream;
  Buffer<float> a, b, out;
  LowRank matrices;
};

int calls_for(double seconds) {
  return static_cast<int>(
      std::clamp(kOverlapSample / seconds, 4.0, static_cast<double>(kMostCalls)));
}

// So many calls that they last three times as long as what they run beside.
int calls_beside(double seconds, double each) {
  return static_cast<int>(std::clamp(3 * seconds / each, 4.0, static_cast<double>(kMostBeside)));
}

// Samples of both, alone and side by side, one record per device.
void sample_overlap(Measurement& measurement, const Loads& products, const Loads& exchanges,
                    OverlapRecord record) {
  (void)sample_of(products, kWarmUps);
  (void)sample_of(exchanges, kWarmUps);
  const double product = std::ranges::max(sample_of(products, 4));
  const double exchange = sample_of(exchanges, 4).front();
  const int product_calls = calls_for(product);
  const int exchange_calls = calls_for(exchange);
  int exchanges_beside = calls_beside(product_calls * product, exchange);
  int products_beside = calls_beside(exchange_calls * exchange, product);
  std::vector<OverlapRecord> records(products.size(), record);
  for (std::size_t i = 0; i < kPasses * kSamplesPerPass && !measurement.is_over(); ++i) {
    const auto alone = sample_of(products, product_calls);
    const auto beside = sample_beside(products, product_calls, exchanges, exchanges_beside);
    const double exchange_s = sample_of(exchanges, exchange_calls).front();
    const double slowed =
        sample_beside(exchanges, exchange_calls, products, products_beside).front();
    for (std::size_t device = 0; device < records.size(); ++device) {
      records[device].device = static_cast<std::uint32_t>(device);
      records[device].product_s.push_back(alone[device]);
      records[device].product_beside_s.push_back(beside[device]);
      records[device].exchange_s.push_back(exchange_s);
      records[device].exchange_beside_s.push_back(slowed);
    }
  }
  for (const OverlapRecord& each : records) {
    if (!each.product_s.empty()) {
      measurement.write(each);
    }
  }
}

} // namespace

void measure_overlap(Measurement& measurement, const Beside& collective) {
  int side = kSide;
  while (side > 1 && 3 * std::int64_t{side} * side * kElement > measurement.free_bytes / 4) {
    side /= 2;
  }
  try {
    std::vector<std::unique_ptr<Product>> all;
    Loads products;
    for (int device = 0; device < measurement.devices; ++device) {
      const DeviceGuard guard(device);
      const Product* product = all.emplace_back(std::make_unique<Product>(side)).get();
      products.emplace_back(device, product->stream, [product, side] {
        product->matrices.product(side, side, side, 1, {product->a.get()}, {product->b.get()}, 0,
                                  product->out.get());
      });
    }
    Loads exchanges;
    exchanges.emplace_back(0, *collective.stream, collective.call);
    OverlapRecord record;
    record.exchange = collective.exchange;
    record.side = side;
    record.bytes = collective.bytes;
    sample_overlap(measurement, products, exchanges, record);
  } catch (const NotAvailable& missing) {
    measurement.note("overlap is not measured: " + std::string(missing.what()));
  } catch (const CudaError& error) {
    measurement.note("overlap is not measured: " + std::string(error.what()));
  }
}

void measure_own_overlap(Measurement& measurement) {
  const std::int64_t elements =
      std::min(kLargeMessage, fitting_capacity(measurement, measurement.ranks));
  RankSet set(measurement.ranks, measurement.devices, elements, measurement.devices > 1);
  const std::vector<Way> ways = usable_ways(measurement, set);
  if (ways.empty() || measurement.ranks < 2) {
    return;
  }
  set.zero();
  const Way way = preferred(ways);
  PlanRequest request;
  request.ranks = measurement.ranks;
  request.elements = elements;
  const Call call = opened(set, make_plan(request), way);
  measure_overlap(measurement,
                  {text(request, way), elements * kElement, &set.main(), [&] { call(0); }});
}

} // namespace stepsim::calibrate::gpu
