#define ZLIB_CONST
#include <zlib.h>

#include <array>
#include <cassert>
#include <limits>
#include <new>
#include <utility>

#include "io/timeline.hpp"

namespace stepsim::io {

struct GzipWriter::Stream {
  z_stream state{};
};

GzipWriter::GzipWriter(Sink sink) : sink_(std::move(sink)), stream_(std::make_unique<Stream>()) {
  constexpr int kGzip = 15 + 16;  // largest window, gzip header
  constexpr int kMemoryLevel = 8; // zlib's default
  if (deflateInit2(&stream_->state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipWriter::~GzipWriter() { deflateEnd(&stream_->state); }

void GzipWriter::write(std::string_view block) { deflate_all(block, Z_NO_FLUSH); }

void GzipWriter::finish() { deflate_all({}, Z_FINISH); }

void GzipWriter::deflate_all(std::string_view block, int flush) {
  assert(block.size() <= std::numeric_limits<uInt>::max() && "blocks are small");
  z_stream &state = stream_->state;
  std::array<unsigned char, std::size_t{1} << 16> out;
  state.next_in = reinterpret_cast<const Bytef *>(block.data());
  state.avail_in = static_cast<uInt>(block.size());
  do {
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    deflate(&state, flush);
    sink_({reinterpret_cast<const char *>(out.data()), out.size() - state.avail_out});
  } while (state.avail_out == 0);
  assert(state.avail_in == 0 && "all input is consumed");
}

} // namespace stepsim::io
