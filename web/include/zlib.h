#pragma once
// What the engine needs of zlib to compile. The files in the page are not compressed: whoever calls
// one of these functions has found a mistake, and the page stops.
using Bytef = unsigned char;
using uInt = unsigned int;
using uLong = unsigned long;
struct z_stream {
  const Bytef* next_in;
  uInt avail_in;
  Bytef* next_out;
  uInt avail_out;
  const char* msg;
  void *zalloc, *zfree, *opaque;
};
enum { Z_NO_FLUSH, Z_OK = 0, Z_STREAM_END, Z_FINISH = 4, Z_DEFLATED = 8 };
enum { Z_DEFAULT_STRATEGY = 0, Z_DEFAULT_COMPRESSION = -1, Z_BUF_ERROR = -5 };
inline constexpr Bytef* Z_NULL = nullptr;
inline constexpr int MAX_WBITS = 15;
inline int inflateInit2(z_stream*, int) { __builtin_trap(); }
inline int inflateReset(z_stream*) { __builtin_trap(); }
inline int inflate(z_stream*, int) { __builtin_trap(); }
inline int inflateEnd(z_stream*) { __builtin_trap(); }
inline int deflateInit2(z_stream*, int, int, int, int, int) { __builtin_trap(); }
inline int deflate(z_stream*, int) { __builtin_trap(); }
inline int deflateEnd(z_stream*) { __builtin_trap(); }
