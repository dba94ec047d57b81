#include "json/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

// `done` is what a function of libcrypto returns: 1 for success.
void check(int done) {
  if (done != 1) {
    throw SimulationError("libcrypto cannot compute SHA-256");
  }
}

} // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_) {
    throw std::bad_alloc();
  }
  check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::update(std::string_view bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex() const {
  const Sha256 end; // a copy, because more may follow
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  check(EVP_MD_CTX_copy_ex(end.context_.get(), context_.get()));
  check(EVP_DigestFinal_ex(end.context_.get(), digest.data(), &size));
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 0xF];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

} // namespace stepsim::io
