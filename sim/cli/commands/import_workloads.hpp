#pragma once
// `stepsim import chakra` and `import astra-text`, for the inputs of other simulators.
#include <string>

#include "cli/commands/import_flags.hpp"
#include "cli/commands/imported.hpp"

namespace stepsim::cli {

// Imports a trace, or samples if `target` ends in .samples.json. Throws InputError, with a remedy,
// if no gradient has a size, unless the flags allow unknown sizes.
[[nodiscard]] Imported imported_chakra(const std::string& file, const ImportFlags& flags,
                                       const std::string& target);
// Throws InputError if no layer of the trace has a gradient that travels.
void require_gradients(const layers::Trace& trace, const std::string& file);
// Throws InputError, among others, if no layer reduces a gradient, unless the flags drop other
// communication or allow unknown sizes. The trace then has only times; what was dropped is in a
// warning.
[[nodiscard]] Imported imported_astra_text(const std::string& file, const ImportFlags& flags);

} // namespace stepsim::cli
