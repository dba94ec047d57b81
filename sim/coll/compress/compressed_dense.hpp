#pragma once
// The stages of methods that send every value, in fewer bits or as factors (SPA 11; PIP 6), and of
// custom compressors.
#include "coll/compress/exchange_builder.hpp"

namespace stepsim::coll {

// FLOP of powersgd per n x c matrix of rank r: three products of 2 r n c each (both factors, and
// the gradient back from them), and 2 n r^2 to make one factor orthogonal.
//     6 r n c + 2 n r^2; one-dimensional tensors cost nothing
[[nodiscard]] double low_rank_flops(const Compression& compression, const GradientPart& gradient);

// All-reduces of the n x r left factors, of the c x r right ones, and of one-dimensional tensors.
void add_powersgd(const ExchangeBuilder& build);
// Few bits a value, or signs: everybody's whole gradient in `bytes_per_rank`, gathered around a
// ring.
void add_packed(const ExchangeBuilder& build, double bytes_per_rank);
// fp16: the dense all-reduce with values of at most 2 bytes.
void add_fp16(const ExchangeBuilder& build);
// truncate16, quantize8, custom_codec: the dense all-reduce of M / ratio bytes, M bytes of the
// gradient. Every hop decodes, adds and encodes again, which counts as the cost of adding. A
// parameter server decodes and adds every push, and encodes the sum once. With `scale_agreement` an
// all-reduce of one scale per tensor comes first, and codes are added as they are.
void add_codec(const ExchangeBuilder& build);
// custom: its exchange of the bytes that its formula gives; what merging costs is not on the wire.
void add_custom(const ExchangeBuilder& build);

} // namespace stepsim::coll
