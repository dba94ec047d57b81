#pragma once
// SHA-256 (FIPS 180-4) of a stream of bytes, by libcrypto. Results and imported files name their
// input files by this digest.
#include <memory>
#include <string>
#include <string_view>

struct SHA256state_st; // libcrypto's SHA256_CTX

namespace stepsim::io {

class Sha256 {
public:
  Sha256();
  void update(std::string_view bytes);
  // The digest of everything so far as 64 hex digits; more data may follow.
  [[nodiscard]] std::string hex() const;

private:
  struct Free {
    void operator()(SHA256state_st* context) const;
  };
  std::unique_ptr<SHA256state_st, Free> context_;
};

// The digest of one text, 64 hex digits.
[[nodiscard]] std::string sha256(std::string_view bytes);
// The digest of the bytes of a file, compressed or not, as sha256sum prints it. Throws InputError
// as ByteSource does (document/file.hpp).
[[nodiscard]] std::string sha256_of_file(const std::string& path);

} // namespace stepsim::io
