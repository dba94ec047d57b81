#include "layers/gpu_table.hpp"

#include <algorithm>
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

bool has_digit(const std::string& word) { return std::ranges::any_of(word, is_digit); }

} // namespace

std::span<const Gpu> gpus() { return kGpus; }

std::vector<std::string_view> gpu_words() {
  std::vector<std::string_view> words;
  for (const Gpu& gpu : kGpus) {
    words.push_back(gpu.name);
  }
  return words;
}

const Gpu* find_gpu(std::string_view name) {
  const auto* found = std::ranges::find(kGpus, name, &Gpu::name);
  return found == kGpus.end() ? nullptr : found;
}

PartName part_name(std::string_view name) {
  const std::vector<std::string> words = words_of_name(name);
  auto part = std::ranges::find_if(words, [](const std::string& word) {
    return word.size() > 1 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           has_digit(word);
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

} // namespace stepsim::layers
