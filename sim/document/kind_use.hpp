#pragma once
// The command or key that accepts each kind of file; errors name it when a file of another kind is
// given. Where a file lacks the key `kind`, a key tells it that no other kind has at its top.

#include "document/fields/key.hpp"

namespace stepsim::io {

struct KindUse {
  std::string_view kind;
  std::string_view key; // tells the kind of a file that does not say it; "" where none does
  std::string_view use; // "stepsim plan reads it"

  // "this is a file of kind problem: stepsim plan reads it"
  [[nodiscard]] std::string text() const;
};

// The rows; of a file without the key `kind` the first one whose key it has decides.
[[nodiscard]] std::span<const KindUse> kind_uses();

// The row of a kind, or of the kind of a file; null if there is none.
[[nodiscard]] const KindUse* use_of_kind(std::string_view kind);
[[nodiscard]] const KindUse* use_of_file(const Json& tree);

// Why a file is not of a kind whose keys are those of `own`; "" if it is, or does not say. `own`
// may be null: then only the key `kind` tells.
[[nodiscard]] std::string other_kind(const Json& tree, std::string_view kind, const Key* own);

} // namespace stepsim::io
