#pragma once
// A fast parser for one event of a profiler trace in memory, if it has the usual form. Unusual
// events (escapes in names, letters beyond ASCII, numbers with an exponent, a time that is not a
// number, a syntax error) are left to the general parser (kineto_sax.hpp), which also writes all
// errors about a file.
#include "import/kineto/kineto_collect.hpp"

namespace stepsim::io {

// Clears `event`, reads the object that begins with the brace at `begin` into it, and returns the
// end of the object. The texts of `event` are parts of the object. Returns null if the object is
// not complete or not of the usual form; the content of `event` is then unspecified. The text must
// be followed by kTextPadding zero bytes (plain_text.hpp).
[[nodiscard]] const char* scan_event(const char* begin, RawEvent& event);

} // namespace stepsim::io
