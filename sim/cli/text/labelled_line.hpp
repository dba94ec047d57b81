#pragma once
// Lines of texts in which a label stands before what it says.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.hpp"

namespace stepsim::cli {

// "label         text": the label is padded to `width`, and the text may hold words that users
// wrote.
inline void append_labelled(std::string& out, std::string_view label, std::size_t width,
                            std::string_view text) {
  out.append(label).append(width - label.size(), ' ').append(base::printable(text)).append("\n");
}

} // namespace stepsim::cli
