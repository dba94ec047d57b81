// ASCII goes through in one piece; anything else is looked at one character at a time. What is
// replaced is written as an escape that a programmer recognises.
#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace stepsim::base {

namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F;
}

// Code points beyond ASCII that a terminal obeys instead of showing them, or that turn the
// direction of the text after them: a message could then read as something else.
bool is_control(std::uint32_t point) {
  static constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 6> kRanges{{
      {0x80, 0x9F},     // C1 controls
      {0x61C, 0x61C},   // Arabic letter mark
      {0x200E, 0x200F}, // marks of direction
      {0x2028, 0x202E}, // line and paragraph separators, embeddings and overrides
      {0x2066, 0x2069}, // isolates
      {0xFEFF, 0xFEFF}, // byte order mark
  }};
  return std::ranges::any_of(
      kRanges, [&](const auto& range) { return point >= range.first && point <= range.second; });
}

std::uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  std::uint32_t point = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    point = point << 6 | (byte(i) & 0x3FU);
  }
  return point;
}

void append_hex(std::string& out, std::string_view prefix, std::uint32_t value, int digits) {
  out += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out += "0123456789abcdef"[value >> shift & 0xFU];
  }
}

std::string escaped(std::string_view text, bool keep_line_breaks) {
  std::string out;
  while (!text.empty()) {
    const auto* const stop = std::ranges::find_if_not(text, is_plain);
    out.append(text.begin(), stop);
    text.remove_prefix(static_cast<std::size_t>(stop - text.begin()));
    if (text.empty()) {
      break;
    }
    const char c = text.front();
    std::size_t length = 1;
    if (c == '\n') {
      out += keep_line_breaks ? "\n" : "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (const std::size_t sequence = utf8_length(text); sequence < 2) {
      append_hex(out, "\\x", static_cast<unsigned char>(c), 2);
    } else {
      length = sequence;
      const std::uint32_t point = code_point(text.substr(0, length));
      if (is_control(point)) {
        append_hex(out, "\\u", point, 4);
      } else {
        out.append(text.substr(0, length));
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

} // namespace

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) {
        return false;
      }
    }
    return true;
  };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1, 2) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return !overlong && !surrogate && continues(1, 3) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool too_large = first == 0xF4 && second > 0x8F;
    return !overlong && !too_large && continues(1, 4) ? 4 : 0;
  }
  return 0;
}

std::string escaped_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += letter || kept.find(c) != std::string_view::npos
               ? std::string(1, c)
               : std::string{'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

} // namespace stepsim::base
