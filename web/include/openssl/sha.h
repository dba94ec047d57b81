#pragma once
// What the engine needs of libcrypto to compile. The page computes no digest of a file.
#include <cstddef>
inline constexpr int SHA256_DIGEST_LENGTH = 32;
struct SHA256state_st {};
using SHA256_CTX = SHA256state_st;
inline int SHA256_Init(SHA256_CTX*) { __builtin_trap(); }
inline int SHA256_Update(SHA256_CTX*, const void*, std::size_t) { __builtin_trap(); }
inline int SHA256_Final(unsigned char*, SHA256_CTX*) { __builtin_trap(); }
