#pragma once
// The stages of methods that send every value, in fewer bits or as factors (SPA 11; PIP 6), and of
// custom compressors.
#include "coll/compress/exchange_builder.hpp"

namespace stepsim::coll {

// Returns the FLOP of powersgd, summed over the matrices of n x c values. A matrix takes
// 6 r n c + 2 n r^2 with r = min(rank, n, c): three products of 2 r n c each (both factors, and the
// gradient back from them), and 2 n r^2 to make one factor orthogonal. One-dimensional tensors take
// none.
[[nodiscard]] double low_rank_flops(const Compression& compression, const GradientPart& gradient);

// powersgd: adds all-reduces of the n x r left factors, the c x r right factors and the
// one-dimensional tensors. A gradient without shapes counts as one such tensor.
void add_powersgd(const ExchangeBuilder& build);
// qsgd, signsgd: adds an all-gather around a ring, of `bytes_per_rank` from every rank for its
// whole gradient in few bits or signs.
void add_packed(const ExchangeBuilder& build, double bytes_per_rank);
// fp16: adds the dense all-reduce with values of at most 2 bytes.
void add_fp16(const ExchangeBuilder& build);
// truncate16, quantize8, custom_codec: adds the dense all-reduce of M / ratio bytes, where M are
// the bytes of the gradient. Every hop decodes, adds and encodes again, which the cost of adding
// contains. A parameter server decodes and adds every push, and encodes the sum once. With
// `scale_agreement`, an all-reduce of one scale per tensor comes first, and codes are added without
// decoding.
void add_codec(const ExchangeBuilder& build);
// custom: adds the exchange of the compressor with the bytes of its formula, without the cost of
// merging. Throws SimulationError for its exchange `server` on a fabric.
void add_custom(const ExchangeBuilder& build);

} // namespace stepsim::coll
