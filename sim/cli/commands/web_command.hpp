#pragma once
// stepsim web: the what-if page, one file that answers in a browser without a network. The build
// makes it where emscripten is installed (web/CMakeLists.txt); the command copies it.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError where this build has no page, InputError for a trace that cannot
// be read.
[[nodiscard]] int web_page(const Invocation& invocation);

} // namespace stepsim::cli
