#pragma once
// The keys of an element of the list `files`, in results and in the headers of sweeps.

#include "document/fields/written.hpp"
#include "scenario/file_names.hpp"

namespace stepsim::study::keys {

inline constexpr auto kNamedFile = std::to_array<io::Written<NamedFile>>({
    io::row<&NamedFile::pointer>("Where the scenario names it.").example(R"("/workload/trace")"),
    io::row<&NamedFile::sha256>("SHA-256 of its content, 64 hexadecimal digits.")
        .example(R"("00")"),
});
inline constexpr std::array kOneNamedFile{
    io::rows::object("files", io::kKeysOf<kNamedFile>, "One of them.")};

} // namespace stepsim::study::keys
