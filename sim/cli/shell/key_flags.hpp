#pragma once
// Flags that set one key of a scenario: --nodes 4 means --set /cluster/nodes=4. `init` has some of
// these flags. If a user types such a flag for a command that only has --set, the error names the
// key for --set.
#include <string_view>

namespace stepsim::cli {

// "--nodes" -> "/cluster/nodes"; "" for a flag without a key.
[[nodiscard]] std::string_view pointer_of_flag(std::string_view flag);

} // namespace stepsim::cli
