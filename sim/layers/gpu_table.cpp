#include "layers/gpu_table.hpp"

#include "base/collected.hpp"

#include <cassert>
#include <cctype>

namespace stepsim::layers {

namespace {

constexpr double kMiB = 1 << 20;

// Peaks, bandwidths and fractions: stas00/ml-engineering, compute/accelerator (best products that
// were measured); memory bandwidth of v100 and a100-80: cli99/llm-analysis. Sizes of memory:
// a100, h100 and l40s as nvidia-smi reports them (modal-labs/modal-client pull request 2797), b200
// and rtx4090 as PyTorch does (pytorch/ao pull request 4002, 3DTopia/Phidias-Diffusion issue 8),
// all others data sheets; v100 comes with 16 and 32 GB. Fractions of v100, mi250, l40s and
// rtx4090 are assumed.
constexpr std::array kGpus{
    Gpu{"v100", {125e12}, {0.90e12}, 16e9, 0.80, GpuFamily::other, false, false},
    Gpu{"a100-40", {312e12}, {1.555e12}, 40960 * kMiB, 0.869, GpuFamily::ampere, true, false},
    Gpu{"a100-80", {312e12}, {2.039e12}, 81920 * kMiB, 0.869, GpuFamily::ampere, true, false},
    Gpu{"h100", {989e12}, {3.35e12}, 81559 * kMiB, 0.803, GpuFamily::hopper, true, true},
    Gpu{"h200", {989e12}, {4.80e12}, 141e9, 0.803, GpuFamily::hopper, true, true},
    Gpu{"b200", {2250e12}, {8.00e12}, 178.35 * 1024 * kMiB, 0.776, GpuFamily::other, true, true},
    Gpu{"b300", {2250e12}, {8.00e12}, 288e9, 0.786, GpuFamily::other, true, true},
    Gpu{"mi250", {362e12}, {3.28e12}, 128e9, 0.50, GpuFamily::other, true, false},
    Gpu{"mi250-gcd", {181e12}, {1.64e12}, 64e9, 0.50, GpuFamily::other, true, false},
    Gpu{"mi300x", {1300e12}, {5.30e12}, 192e9, 0.514, GpuFamily::other, true, true},
    Gpu{"l40s", {362e12}, {0.864e12}, 46068 * kMiB, 0.80, GpuFamily::other, true, true},
    Gpu{"rtx4090", {165e12}, {1.008e12}, 23.64 * 1024 * kMiB, 0.80, GpuFamily::other, true, true},
};

// "NVIDIA A100-SXM4-80GB" -> NVIDIA, A100, SXM4, 80GB; capital letters.
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One pass over the layers in execution order. The shape of a product follows from the table: the
// rows M of a layer are its multiply-accumulates of the batch over its weights, and a weight of
// three dimensions is as many products as its first one says (experts).

constexpr double kValueBytes = 2;       // of weights and activations
constexpr double kUpdateBytes = 30;     // per parameter: master weight, two moments, gradient
constexpr double kCastBytes = 8;        // per parameter: weights to 16 bits, gradients back
constexpr double kLossBytes = 16;       // per token and word of the vocabulary
constexpr double kBackwardProducts = 2; // of input and of weight
constexpr double kBackwardAttention = 2.5;
constexpr double kBackwardElementwise = 2;

// Rates of a GPU at a precision.
struct Rates {
  double products, attention; // FLOP/s
  double memory;              // bytes/s
  double elementwise;         // tensors of the width of the model per block

  Rates(const Gpu& gpu, Precision precision) {
    const FamilyConstants& constants = gpu.constants();
    const double reached = gpu.peak.value * gpu.matrix_fraction;
    products =
        reached * constants.products * (precision == Precision::fp8 ? kFp8Peak * kFp8Fraction : 1);
    attention = reached * constants.attention;
    memory = gpu.memory.value * kMemoryFraction;
    elementwise = constants.elementwise;
  }

  [[nodiscard]] double product(double m, double n, double k) const {
    return std::max(2 * m * n * k / products, kValueBytes * (m * k + k * n + m * n) / memory);
  }
};

// Forward seconds of a layer by what its backward pass costs.
struct Parts {
  double products{}, attention{}, elementwise{};
  double once{};        // loss and casts: have no backward pass of their own
  bool is_head = false; // never recomputed

  [[nodiscard]] double again() const { return products + attention + elementwise; }
  [[nodiscard]] Seconds forward() const { return {again() + once}; }
  [[nodiscard]] Seconds backward(Recompute recompute) const {
    const bool all = recompute == Recompute::full && !is_head;
    const bool part = recompute == Recompute::selective_op && !is_head;
    const double repeated = all                                 ? again()
                            : part                              ? products / 2 + elementwise
                            : recompute == Recompute::selective ? attention
                                                                : 0;
    return {kBackwardProducts * products + kBackwardAttention * attention +
            kBackwardElementwise * elementwise + repeated};
  }
};

double elements_of(const ModelLayer& layer) {
  return base::sum_of<double>(layer.tensors,
                              [](const ModelTensor& tensor) { return tensor.elements(); });
}

// Of weights alone: tensors of two dimensions or more.
double weights_of(const ModelLayer& layer) {
  return base::sum_of<double>(layer.tensors, [](const ModelTensor& tensor) {
    return tensor.shape.size() > 1 ? static_cast<double>(tensor.elements()) : 0;
  });
}

class Estimator {
public:
  Estimator(const ModelTable& table, std::int64_t batch_size, const GpuEstimate& estimate)
      : table_(table), rates_(*estimate.gpu, estimate.precision),
        batch_(static_cast<double>(batch_size)),
        length_(table.sequence ? static_cast<double>(table.sequence->sequence_length) : 1) {
    const auto embedding = std::ranges::find(table.layers, "embedding", &ModelLayer::kind);
    if (embedding != table.layers.end() && !embedding->tensors.empty() &&
        embedding->tensors.front().shape.size() == 2) {
      embedding_ = embedding->tensors.front().shape;
    }
    outputs_ = table.image ? static_cast<double>(table.image->channels) *
                                 static_cast<double>(table.image->height) *
                                 static_cast<double>(table.image->width)
                           : 0;
  }

  // Layers must come in execution order.
  [[nodiscard]] Parts layer(const ModelLayer& layer) {
    Parts parts;
    const double macs = batch_ * static_cast<double>(layer.macs);
    const double tokens = batch_ * length_;
    if (layer.kind == "attention") {
      const bool causal = table_.sequence && table_.sequence->causal;
      parts.attention = 2 * macs / rates_.attention * (causal ? 0.5 : 1);
      const double values = table_.sequence ? tokens * width(layer) : values_;
      parts.elementwise = values * kValueBytes * rates_.elementwise / rates_.memory;
    } else if (layer.kind == "conv") {
      parts.products = convolution(layer, macs);
    } else if (layer.kind == "tied_decoder") {
      const double words = embedding_.empty() ? 0 : static_cast<double>(embedding_.front());
      parts.products = words > 0 ? rates_.product(tokens, words, macs / tokens / words)
                                 : 2 * macs / rates_.products;
      add_loss(parts, words, tokens);
    } else if (layer.macs == 0) {
      values_ = 0;
    } else {
      parts.products = products(layer, macs);
      if (!embedding_.empty() && !layer.tensors.empty() &&
          layer.tensors.front().shape == embedding_) {
        add_loss(parts, static_cast<double>(embedding_.front()), tokens);
      }
    }
    parts.once += kCastBytes * elements_of(layer) / rates_.memory;
    return parts;
  }

  [[nodiscard]] Seconds update() const {
    return {kUpdateBytes * static_cast<double>(table_.elements()) / rates_.memory};
  }

private:
  // Of the model: attention may be wider.
  [[nodiscard]] double width(const ModelLayer& attention) const {
    return embedding_.empty() ? static_cast<double>(attention.macs) / (2 * length_ * length_)
                              : static_cast<double>(embedding_.back());
  }

  void add_loss(Parts& parts, double words, double tokens) const {
    parts.is_head = true;
    parts.once += kLossBytes * tokens * words / rates_.memory;
  }

  [[nodiscard]] double products(const ModelLayer& layer, double macs) {
    const double weights = weights_of(layer);
    if (weights == 0) {
      return 2 * macs / rates_.products;
    }
    const double rows = macs / weights;
    double seconds = 0;
    for (const ModelTensor& tensor : layer.tensors) {
      if (tensor.shape.size() < 2) {
        continue;
      }
      const auto last = static_cast<double>(tensor.shape.back());
      const auto before_last = static_cast<double>(tensor.shape[tensor.shape.size() - 2]);
      const double count = static_cast<double>(tensor.elements()) / (last * before_last);
      seconds += count * rates_.product(rows, before_last, last);
      values_ = std::max(values_, rows * before_last);
    }
    return seconds;
  }

  // Its input is taken to be the output of the convolution before it.
  [[nodiscard]] double convolution(const ModelLayer& layer, double macs) {
    const double inputs = outputs_;
    const double weights = weights_of(layer);
    const double channels =
        layer.tensors.empty() ? 0 : static_cast<double>(layer.tensors.front().shape.front());
    outputs_ = weights > 0 ? macs / batch_ * channels / weights : inputs;
    return std::max(2 * macs / rates_.products,
                    kValueBytes * (batch_ * (inputs + outputs_) + weights) / rates_.memory);
  }

  const ModelTable& table_;
  Rates rates_;
  double batch_, length_;
  std::vector<std::int64_t> embedding_; // shape of the first one, vocabulary x width
  double outputs_{};                    // values that the last convolution made of a sample
  double values_{};                     // most that a product has made since the last norm
};

bool has_kind(const ModelTable& table, std::string_view kind) {
  return std::ranges::find(table.layers, kind, &ModelLayer::kind) != table.layers.end();
}

EstimatedTimes bare_times(const ModelTable& table, std::int64_t batch_size,
                          const GpuEstimate& estimate) {
  EstimatedTimes times;
  Estimator estimator(table, batch_size, estimate);
  for (const std::size_t index : table.execution_order()) {
    const Parts parts = estimator.layer(table.layers[index]);
    times.forward.push_back(parts.forward());
    times.backward.push_back(parts.backward(estimate.recompute));
  }
  times.update = estimator.update();
  return times;
}

Seconds step_of(const EstimatedTimes& times) {
  const auto sum = [](const std::vector<Seconds>& list) { return base::sum_of<Seconds>(list); };
  return sum(times.forward) + sum(times.backward) + times.update;
}

// The length of the table's own sequence, 0 without one.
std::int64_t length_of(const ModelTable& table) {
  return table.sequence ? table.sequence->sequence_length : 0;
}

} // namespace

std::span<const Gpu> gpus() { return kGpus; }

std::vector<std::string_view> gpu_words() {
  return base::collected<std::string_view>(kGpus, &Gpu::name);
}

const Gpu* find_gpu(std::string_view name) { return base::found(kGpus, name, &Gpu::name); }

PartName part_name(std::string_view name) {
  const std::vector<std::string> words = words_of_name(name);
  auto part = std::ranges::find_if(words, [](const std::string& word) {
    return word.size() > 1 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           std::ranges::any_of(word, is_digit);
  });
  if (part == words.end()) {
    part = std::ranges::find_if(words, [](const std::string& word) {
      return word.size() == 4 && std::ranges::all_of(word, is_digit);
    });
  }
  return {part == words.end() ? "" : *part,
          std::ranges::find(words, std::string("PCIE")) != words.end()};
}

bool may_be_same_gpu(std::string_view a, std::string_view b) {
  const std::string one = part_name(a).part;
  const std::string other = part_name(b).part;
  // V100 in V100S, 4090 in RTX4090, but not A10 in A100.
  const auto within = [](const std::string& part, const std::string& whole) {
    return (whole.starts_with(part) && !is_digit(whole[part.size()])) ||
           (whole.ends_with(part) && !is_digit(whole[whole.size() - part.size() - 1]));
  };
  return one.empty() || other.empty() || one == other || within(one, other) || within(other, one);
}

bool may_be_other_gpu(std::string_view recorded, std::string_view other) {
  return !recorded.empty() &&
         (!may_be_same_gpu(recorded, other) ||
          (part_name(recorded).part.empty() && !part_name(other).part.empty()));
}

bool has_attention(const ModelTable& table) { return has_kind(table, "attention"); }
bool estimates_compared(const ModelTable& table) { return has_attention(table) && !table.image; }
bool has_experts(const ModelTable& table) { return has_kind(table, "experts"); }

EstimatedTimes estimated_times(const ModelTable& table, std::int64_t batch_size,
                               const GpuEstimate& estimate) {
  assert(estimate.gpu != nullptr && estimate.gpu->has(estimate.precision) &&
         "the reader has checked the part and its precision");
  EstimatedTimes times = bare_times(table, batch_size, estimate);
  times.interval = estimates_compared(table) && !has_experts(table)
                       ? estimate.gpu->constants().interval
                       : kUnvalidatedInterval;
  if (!estimate.measured) {
    return times;
  }
  const MeasuredStepTime& measured = *estimate.measured;
  const std::int64_t batch = measured.batch_size.value_or(batch_size);
  const std::int64_t length = measured.sequence_length.value_or(length_of(table));
  const bool same = batch == batch_size && length == length_of(table);
  const bool same_length = length == length_of(table);
  const EstimatedTimes there =
      same ? times
           : bare_times(same_length ? table : with_sequence_length(table, length), batch, estimate);
  times.scale = measured.step / step_of(there);
  for (std::size_t l = 0; l < times.forward.size(); ++l) {
    times.forward[l] = times.forward[l] * times.scale;
    times.backward[l] = times.backward[l] * times.scale;
  }
  times.update = times.update * times.scale;
  times.interval = same ? EstimateInterval{} : kScaledInterval;
  return times;
}

} // namespace stepsim::layers
