#pragma once
// All problems that reading a text as some kind of file finds, one per line.
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"

namespace stepsim::io {

// `read` takes the parsed tree; the file is called "f.json".
template <class Read> std::string problem_text(std::string_view text, Read read) {
  try {
    (void)read(parse_json(text, "f.json"));
  } catch (const InputError& error) {
    std::string all;
    for (const base::Problem& problem : error.problems()) {
      all += problem.text() + "\n";
    }
    return all;
  }
  return "";
}

} // namespace stepsim::io
