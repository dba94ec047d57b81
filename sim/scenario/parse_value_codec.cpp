#include "scenario/parse_value_codec.hpp"

namespace stepsim::study {

namespace {

// Bytes of a value on the wire; codecs of any ratio say only by how much they shrink it.
double sent_bytes(CodecMethod method, double value_bytes) {
  switch (method) {
  case CodecMethod::truncate16:
    return 2;
  case CodecMethod::quantize8:
  case CodecMethod::int8:
    return 1;
  case CodecMethod::fp4:
    return 0.5;
  case CodecMethod::none:
  case CodecMethod::custom_codec:
    break;
  }
  return value_bytes;
}

} // namespace

ValueCodec parse_value_codec(io::Fields& fields, std::string_view key, const ParseContext& context,
                             double value_bytes) {
  ValueCodec codec;
  fields.object(key, [&](io::Fields& part) {
    codec.method = part.word("method", kCodecMethods);
    const bool none = codec.method == CodecMethod::none;
    if (codec.method == CodecMethod::custom_codec && !part.has("ratio")) {
      part.refuse("ratio", "required (a number)");
    }
    codec.ratio =
        part.number_or("ratio", std::max(1.0, value_bytes / sent_bytes(codec.method, value_bytes)));
    codec.encode_Bps = part.number("encode_Bps");
    codec.decode_Bps = part.number("decode_Bps");
    part.no_more();
    for (const std::string_view own : {"ratio", "encode_Bps", "decode_Bps"}) {
      context.needs_meaning(part, own, !none, "method none");
    }
    codec = none ? ValueCodec{} : codec;
  });
  return codec;
}

io::Json value_codec_tree(const ValueCodec& codec) {
  return io::Object{{"method", kCodecMethods[codec.method]},
                    {"ratio", codec.ratio},
                    {"encode_Bps", codec.encode_Bps},
                    {"decode_Bps", codec.decode_Bps}};
}

} // namespace stepsim::study
