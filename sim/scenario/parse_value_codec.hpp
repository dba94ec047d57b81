#pragma once
// Reads and writes codecs of outer gradients and gathered parameters in a scenario.

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads `key` of `fields`, a word or an object, for values of `value_bytes` bytes.
[[nodiscard]] ValueCodec parse_value_codec(io::Fields& fields, std::string_view key,
                                           const ParseContext& context, double value_bytes);
// The object that a resolved scenario has for the codec.
[[nodiscard]] io::Json value_codec_tree(const ValueCodec& codec);

} // namespace stepsim::study
