// PyTorch names element types in two ways, "c10::BFloat16" and "float"; both become the words of
// traces. Which inputs of an operator are parameters follows from the operators' signatures.
#include "import/kineto/kineto_events.hpp"

#include <algorithm>

#include "base/statistics.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

std::span<const int> parameter_inputs(std::string_view operation) {
  static constexpr std::array kWeightBias{1, 2};
  static constexpr std::array kNormalized{2, 3};
  static constexpr std::array kRootMeanSquare{2};
  static constexpr std::array kProduct{2, 0};
  static constexpr std::array kTable{0};
  static constexpr std::array kSlope{1};
  struct Row {
    std::string_view operation;
    std::span<const int> inputs;
  };
  static constexpr std::array kRows{
      Row{"aten::conv1d", kWeightBias},
      Row{"aten::conv2d", kWeightBias},
      Row{"aten::conv3d", kWeightBias},
      Row{"aten::conv_transpose1d", kWeightBias},
      Row{"aten::conv_transpose2d", kWeightBias},
      Row{"aten::conv_transpose3d", kWeightBias},
      Row{"aten::batch_norm", kWeightBias},
      Row{"aten::instance_norm", kWeightBias},
      Row{"aten::linear", kWeightBias},
      Row{"aten::layer_norm", kNormalized},
      Row{"aten::group_norm", kNormalized},
      Row{"aten::rms_norm", kRootMeanSquare},
      Row{"aten::addmm", kProduct},
      Row{"aten::embedding", kTable},
      Row{"aten::prelu", kSlope},
  };
  const auto row = std::ranges::find(kRows, operation, &Row::operation);
  return row == kRows.end() ? std::span<const int>() : row->inputs;
}

std::optional<DtypeWord> dtype_of_pytorch(std::string_view name) {
  if (name.starts_with("c10::")) {
    name.remove_prefix(5);
  }
  const std::string lower = lower_case(name);
  std::string_view word = lower;
  if (word.starts_with("torch.")) {
    word.remove_prefix(6);
  }
  if (word.starts_with("float8")) {
    word = "float8";
  }
  struct Row {
    std::string_view pytorch, word;
  };
  // Names other than our own words, which are those of Python.
  static constexpr std::array kRows{
      Row{"float", "float32"},       Row{"half", "float16"},     Row{"double", "float64"},
      Row{"long", "int64"},          Row{"long int", "int64"},   Row{"int", "int32"},
      Row{"char", "int8"},           Row{"signed char", "int8"}, Row{"byte", "uint8"},
      Row{"unsigned char", "uint8"}, Row{"fp32", "float32"},     Row{"fp16", "float16"},
      Row{"bf16", "bfloat16"},       Row{"fp8", "float8"},
  };
  if (const auto row = std::ranges::find(kRows, word, &Row::pytorch); row != kRows.end()) {
    word = row->word;
  }
  const std::span<const std::string_view> words = layers::dtype_words();
  const auto known = std::ranges::find(words, word);
  return known == words.end() ? std::nullopt
                              : std::optional(DtypeWord{*known, layers::dtype_bytes(*known)});
}

void set_times(layers::MeasuredBucket& bucket, const std::vector<double>& times,
               double per_second) {
  if (!times.empty()) {
    bucket.min = Seconds{std::ranges::min(times) / per_second};
    bucket.median = Seconds{base::median(times) / per_second};
    bucket.max = Seconds{std::ranges::max(times) / per_second};
  }
}

layers::Tensor tensor_of(std::int64_t elements, const DtypeWord& type) {
  layers::Tensor tensor;
  tensor.elements = elements;
  tensor.dtype = type.word;
  tensor.bytes = Bytes{elements * type.bytes};
  return tensor;
}

} // namespace stepsim::io
