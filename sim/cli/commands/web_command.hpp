#pragma once
// stepsim web: writes the what-if page, an HTML file with the simulator, which works in a browser
// without a network. The build makes the page if emscripten is installed (web/CMakeLists.txt); the
// command copies it and adds the trace of --trace.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError if this build has no page, InputError for a trace that cannot be
// read, and SimulationError if the page has no place for a trace.
[[nodiscard]] int web_page(const Invocation& invocation);

} // namespace stepsim::cli
