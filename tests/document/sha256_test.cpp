#include "document/sha256.hpp"

#include <doctest/doctest.h>

using stepsim::io::Sha256;
using stepsim::io::sha256;

TEST_CASE("SHA-256 of the examples of FIPS 180-4") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the bytes are split") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i % 251);
  }
  for (std::size_t length = 0; length <= text.size(); ++length) {
    for (const std::size_t first : {std::size_t{0}, length / 3, length / 2, length}) {
      Sha256 hash;
      hash.update(std::string_view(text).substr(0, first));
      hash.update(std::string_view(text).substr(first, length - first));
      CHECK(hash.hex() == sha256(text.substr(0, length)));
    }
  }
}
