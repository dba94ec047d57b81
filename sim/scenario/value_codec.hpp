#pragma once
// A codec for values other than gradients of a step or sparse entries: outer gradients
// (outer_compression, TRN 8.1) and gathered parameters (parameter_compression). It reduces the
// bytes on the wire; encoding and decoding take time on the compute stream (PIP 6).
#include "base/words.hpp"

namespace stepsim::study {

enum class CodecMethod { none, truncate16, quantize8, int8, fp4, custom_codec };
inline constexpr auto kCodecMethods = base::words<CodecMethod>();

struct ValueCodec {
  CodecMethod method = CodecMethod::none;
  double ratio = 1;                      // bytes of values / bytes on the wire, >= 1
  double encode_Bps = 0, decode_Bps = 0; // uncompressed bytes/s; 0 = no time
  [[nodiscard]] double encode_s(double bytes) const {
    return encode_Bps > 0 ? bytes / encode_Bps : 0;
  }
  [[nodiscard]] double decode_s(double bytes) const {
    return decode_Bps > 0 ? bytes / decode_Bps : 0;
  }
};

} // namespace stepsim::study
