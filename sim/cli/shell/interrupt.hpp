#pragma once
// Installs the handler of Ctrl-C; see `catch_interrupts` in app.hpp. Called once by main.

namespace stepsim::cli {

void handle_interrupts();

} // namespace stepsim::cli
