#pragma once
// Flags that stand for one key of a scenario. `init` has some of them; a command that only has
// --set names the --set that replaces the flag.
//     --nodes 4   =   --set /cluster/nodes=4
#include <string_view>

namespace stepsim::cli {

// "--nodes" -> "/cluster/nodes"; "" for a flag without a key.
[[nodiscard]] std::string_view pointer_of_flag(std::string_view flag);

} // namespace stepsim::cli
