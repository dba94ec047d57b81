#pragma once
// Flags that stand for one key of a scenario: `init` takes some of them, and a command that only
// knows --set answers the others with it.
//     --nodes 4   =   --set /cluster/nodes=4
#include <string_view>

namespace stepsim::cli {

// "--nodes" -> "/cluster/nodes"; "" for a flag that stands for no key.
[[nodiscard]] std::string_view pointer_of_flag(std::string_view flag);

} // namespace stepsim::cli
