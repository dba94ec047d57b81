// The functions of fmt that are no templates, for STEPSIM_LINK_STATIC: with its headers alone they
// are inline, and here they are put out for those who call them in a library.
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*const kVformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

} // namespace
