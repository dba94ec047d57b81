// PyTorch names element types in two ways, "c10::BFloat16" and "float"; both become the words of
// traces. Which inputs of an operator are parameters follows from the operators' signatures.
#include "import/kineto/kineto_events.hpp"

#include <algorithm>
#include <array>
#include <cctype>

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
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (lower.starts_with("torch.")) {
    lower.erase(0, 6);
  }
  if (lower.starts_with("float8")) {
    return DtypeWord{"float8", 1};
  }
  struct Row {
    std::string_view pytorch;
    DtypeWord word;
  };
  static constexpr std::array kRows{
      Row{"float", {"float32", 4}},
      Row{"half", {"float16", 2}},
      Row{"bfloat16", {"bfloat16", 2}},
      Row{"double", {"float64", 8}},
      Row{"long", {"int64", 8}},
      Row{"long int", {"int64", 8}},
      Row{"int", {"int32", 4}},
      Row{"char", {"int8", 1}},
      Row{"signed char", {"int8", 1}},
      Row{"byte", {"uint8", 1}},
      Row{"unsigned char", {"uint8", 1}},
      Row{"bool", {"bool", 1}},
      // In Python and in our own files.
      Row{"float32", {"float32", 4}},
      Row{"fp32", {"float32", 4}},
      Row{"float16", {"float16", 2}},
      Row{"fp16", {"float16", 2}},
      Row{"bf16", {"bfloat16", 2}},
      Row{"float64", {"float64", 8}},
      Row{"int64", {"int64", 8}},
      Row{"int32", {"int32", 4}},
      Row{"int8", {"int8", 1}},
      Row{"uint8", {"uint8", 1}},
      Row{"fp8", {"float8", 1}},
  };
  const auto row = std::ranges::find(kRows, lower, &Row::pytorch);
  return row == kRows.end() ? std::nullopt : std::optional(row->word);
}

} // namespace stepsim::io
