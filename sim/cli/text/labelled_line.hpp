#pragma once
// Lines that consist of a label and a text.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.hpp"

namespace stepsim::cli {

// Appends "label         text" and a line end. The label is padded to `width` characters and must
// not be longer. The text is escaped, because it may contain words of users.
inline void append_labelled(std::string& out, std::string_view label, std::size_t width,
                            std::string_view text) {
  out.append(label).append(width - label.size(), ' ').append(base::printable(text)).append("\n");
}

} // namespace stepsim::cli
