#pragma once
// Archives for tests: entries one after the other, ended by two blocks of zeros.
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>

namespace stepsim::io {

// One entry; `type` as in the header: 0 a file, 5 a folder, x a pax header, L a long name.
inline std::string tar_entry(std::string_view name, std::string_view content, char type = '0') {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name.substr(0, 100));
  put(124, size);
  block[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  put(148, "        ");
  const unsigned sum = std::accumulate(block.begin(), block.end(), 0U, [](unsigned all, char c) {
    return all + static_cast<unsigned char>(c);
  });
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string_view(digits, 7));
  block += content;
  block.resize((block.size() + 511) / 512 * 512, '\0');
  return block;
}

inline std::string tar_end() { return std::string(1024, '\0'); }

} // namespace stepsim::io
