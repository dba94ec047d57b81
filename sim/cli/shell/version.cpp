// The git hash changes with every commit and is compiled into this file alone.
#include "cli/shell/entry.hpp"

#include "document/reader.hpp"
#include "git_hash.hpp"

namespace stepsim::cli {

std::string_view version() { return STEPSIM_VERSION; }

std::string_view git_hash() { return kGitHash; }

std::string version_text() {
  std::string text = "stepsim ";
  text += version();
  text += " (git ";
  text += git_hash();
  text += ")\nschema version ";
  text += std::to_string(io::kSchemaVersion);
  text += "\nGCC " __VERSION__;
#ifdef NDEBUG
  text += ", release; optional parts: none\n";
#else
  text += ", assertions on; optional parts: none\n";
#endif
  return text;
}

} // namespace stepsim::cli
