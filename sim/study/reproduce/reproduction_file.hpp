#pragma once
// Reads files of kind reproduction (reproduction.hpp). Besides types and ranges, it checks that the
// names of runs, tables and figures are unique, and that references name an existing one.
#include "document/reader.hpp"
#include "study/reproduce/reproduction.hpp"

namespace stepsim::reproduce {

// Throws InputError with all problems found.
[[nodiscard]] Reproduction parse_reproduction(const io::Json& tree);

// Reads the rules that predict measured speeds (speed_rules.hpp) from figures.json.

// Returns the rules in `fields`, the object `predict` of a table, and adds what is wrong to the
// problems of `fields`. The caller sets Scoreboard::rows.
[[nodiscard]] Scoreboard read_scoreboard(io::Fields& fields);

// The members of the object at `key`, as they are or as texts; none where the key is absent.
[[nodiscard]] io::Object members_of(io::Fields& fields, std::string_view key);
[[nodiscard]] Names text_members(io::Fields& fields, std::string_view key);

} // namespace stepsim::reproduce
