#include "document/sha256.hpp"

#include <openssl/sha.h>

#include <array>

#include "document/file.hpp"

namespace stepsim::io {

// These functions have no errors. Those of EVP, which libcrypto recommends, may load an engine or a
// provider, and would put 4 MB into a program that is linked with all of it.
void Sha256::Free::operator()(SHA256state_st* context) const {
  delete context; // NOLINT(cppcoreguidelines-owning-memory)
}

Sha256::Sha256() : context_(std::make_unique<SHA256_CTX>().release()) {
  SHA256_Init(context_.get());
}

void Sha256::update(std::string_view bytes) {
  SHA256_Update(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  SHA256_CTX end = *context_; // a copy, because more may follow
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256_Final(digest.data(), &end);
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 0xF];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_of_file(const std::string& path) {
  ByteSource source(path, kDefaultMaxBytes, true);
  while (!source.next().empty()) {}
  return source.digest();
}

} // namespace stepsim::io
