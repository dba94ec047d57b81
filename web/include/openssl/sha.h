#pragma once
// What the engine needs of libcrypto. A digest tells a file from its successor: the files of the
// page do not change, and no answer of the page has a digest, so that all of them are zeros.
#include <algorithm>
#include <cstddef>
inline constexpr int SHA256_DIGEST_LENGTH = 32;
struct SHA256state_st {};
using SHA256_CTX = SHA256state_st;
inline int SHA256_Init(SHA256_CTX*) { return 1; }
inline int SHA256_Update(SHA256_CTX*, const void*, std::size_t) { return 1; }
inline int SHA256_Final(unsigned char* digest, SHA256_CTX*) {
  std::fill_n(digest, SHA256_DIGEST_LENGTH, static_cast<unsigned char>(0));
  return 1;
}
