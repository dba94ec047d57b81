#pragma once
#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] int reproduce(const Invocation& invocation);

} // namespace stepsim::cli
