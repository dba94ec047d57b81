#pragma once
// `stepsim import chakra` and `import astra-text`: the inputs of other simulators.
#include <string>

#include "cli/commands/import_flags.hpp"
#include "cli/commands/imported.hpp"

namespace stepsim::cli {

// A trace, or samples where `target` ends in .samples.json. Throws InputError with what would help
// where no gradient has a size, unless they may be unknown.
[[nodiscard]] Imported imported_chakra(const std::string& file, const ImportFlags& flags,
                                       const std::string& target);
// Throws InputError, too, where no layer communicates. Where all communication was dropped, the
// trace holds times alone, with a warning.
[[nodiscard]] Imported imported_astra_text(const std::string& file, const ImportFlags& flags);

} // namespace stepsim::cli
