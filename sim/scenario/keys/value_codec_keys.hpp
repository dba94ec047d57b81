#pragma once
// The keys of a codec for outer gradients or gathered parameters, a word or an object (TRN 8.1).

#include "document/fields/key.hpp"
#include "scenario/training_parts.hpp"

namespace stepsim::study::keys {

inline constexpr std::array kValueCodec{
    io::rows::word("method", kCodecMethods,
                   "Codec: values of 2 bytes (truncate16), 1 byte (quantize8, int8) or half a byte "
                   "(fp4), or of any ratio (custom_codec).")
        .by_default("none"),
    io::rows::number("ratio",
                     "Bytes of values over bytes on the wire. The default is that of the method; "
                     "required with custom_codec.",
                     io::at_least(1))
        .example("4"),
    io::rows::number("encode_Bps",
                     "Speed of encoding, uncompressed bytes/s; 0 means that it takes no time.",
                     io::at_least(0))
        .by_default(0)
        .example("1e11"),
    io::rows::number("decode_Bps",
                     "Speed of decoding, uncompressed bytes/s; 0 means that it takes no time.",
                     io::at_least(0))
        .by_default(0)
        .example("1e11")};

// The two forms of the key `name`: the word of a codec, or an object with the keys above.
[[nodiscard]] constexpr std::array<io::Key, 2> codec_forms(std::string_view name) {
  return {io::rows::word(name, kCodecMethods, "A codec with its defaults."),
          io::rows::object(name, kValueCodec, "A codec and what differs from its defaults.")
              .example(R"({"method": "int8", "encode_Bps": 1e11})")};
}

} // namespace stepsim::study::keys
